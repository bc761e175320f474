/* tracee/image: the beginning of any file is a script, an ELF image, or
 * neither; what is kept of it is bounded and ended. */
#include "tracee/image.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

struct file {
	const uint8_t *bytes;
	size_t len_bytes;
};

static ssize_t read_at(void *ctx, void *out, size_t len_bytes, uint64_t at)
{
	const struct file *f = ctx;

	if (at >= f->len_bytes)
		return 0;
	if (len_bytes > f->len_bytes - at)
		len_bytes = f->len_bytes - (size_t)at;
	memcpy(out, f->bytes + at, len_bytes);
	return (ssize_t)len_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct file f = {.bytes = bytes, .len_bytes = len_bytes};
	struct image_source from = {.read_at = read_at, .ctx = &f};
	struct image image;

	memset(&image, 0xff, sizeof image);
	invariant(image_parse(&from, &image) == 0);
	invariant(memchr(image.interp, '\0', sizeof image.interp) || image.kind == IMAGE_UNKNOWN);
	invariant(memchr(image.arg, '\0', sizeof image.arg));
	if (image.kind == IMAGE_SCRIPT) {
		invariant(len_bytes >= 2 && bytes[0] == '#' && bytes[1] == '!');
		invariant(!strpbrk(image.interp, " \t\n"));
	}
	if (image.kind == IMAGE_ELF)
		invariant(memcmp(bytes, "\177ELF", 4) == 0);
	return 0;
}
