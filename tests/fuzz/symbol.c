/* trap/symbol: any file has names or none; what is given is a text of bounded
 * length.  The first eight bytes are the place that is asked for. */
#include "trap/symbol.h"

#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	uint64_t offset = 0;
	char *name;
	int fd = memfd_create("symbol", MFD_CLOEXEC);

	if (len_bytes > sizeof offset) {
		memcpy(&offset, bytes, sizeof offset);
		bytes += sizeof offset;
		len_bytes -= sizeof offset;
	}
	invariant(fd >= 0 && write(fd, bytes, len_bytes) == (ssize_t)len_bytes);
	name = symbol_in(fd, offset);
	invariant(!name || strlen(name) <= 256);
	free(name);
	close(fd);
	return 0;
}
