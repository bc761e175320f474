/* Row numbers of the table, for the folder's own tables by row. */
#ifndef WARY_CALL_INDEX_H
#define WARY_CALL_INDEX_H

enum call_row_index {
#define PASS(name, ...) ROW_##name,
#define SHUT(name, ...) ROW_##name,
#define GONE(name, ...) ROW_##name,
#define ROW(name, ...) ROW_##name,
#include "call/table.def"
#undef PASS
#undef SHUT
#undef GONE
#undef ROW
	ROW_COUNT
};

#endif
