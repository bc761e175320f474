/* audit/bridge: whatever a tombstone holds, its bridges are written again as the same
 * bytes, or it is refused. */
#include "audit/bridge.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct rows_text from = {(const char *)bytes, len_bytes};
	struct buf again = BUF_INIT;
	struct bridge b;
	bool there = true;

	while (bridge_next(&from, &b, &there) == 0 && there) {
		invariant(b.first && b.count);
		bridge_put(&again, &b);
	}
	invariant(!again.failed && again.len_bytes + from.len_bytes <= len_bytes);
	invariant(!again.len_bytes || memcmp(again.data, bytes, again.len_bytes) == 0);
	buf_free(&again);
	return 0;
}
