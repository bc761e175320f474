#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	int no;
	const char *text;
} rows[] = {
#define ERR(name, no, text) [ERR_##name - ERR_BASE] = {no, text},
#include "base/err.def"
#undef ERR
};

_Static_assert(sizeof rows / sizeof rows[0] == ERR_END - ERR_BASE,
               "err.def has a row for each code");

static int row_of(int err)
{
	int code = err < 0 ? -err : err;

	return code > ERR_BASE && code < ERR_END ? code - ERR_BASE : -1;
}

const char *err_text(int err)
{
	int row = row_of(err);

	return row < 0 ? "unknown error" : rows[row].text;
}

int err_errno(int err)
{
	int row = row_of(err);

	return row < 0 ? EACCES : rows[row].no;
}

_Noreturn void err_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "wary: %s:%d: broken invariant: %s\n", file, line, what);
	abort();
}
