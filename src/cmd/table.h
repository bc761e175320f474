/* Columns of text on stdout: as wide as they must be, two blanks apart. */
#ifndef WARY_CMD_TABLE_H
#define WARY_CMD_TABLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct table;

/* One column; a list of them ends in a NULL title. */
struct table_column {
	const char *title;
	bool right; /* numbers: to the right */
	bool hidden;
	size_t max_chars; /* longer cells are cut; 0: not */
};

/** table_new: never NULL. @columns: stays as long as the table. */
struct table *table_new(const struct table_column *columns);

/** table_cell: the next cell of the row under way, from the left, hidden ones
 * too. @text: printable already; copied. */
void table_cell(struct table *t, const char *text);

/** table_cell_buf: the same of a buffer, which is then empty; "?" without memory. */
void table_cell_buf(struct table *t, struct buf *b);

/** table_flush: prints what there is, the titles before the first rows. */
void table_flush(struct table *t);

/** table_free: flushes and frees. */
void table_free(struct table *t);

#endif
