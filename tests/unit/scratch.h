/* The folder that a test has made for itself. */
#ifndef WARY_TESTS_UNIT_SCRATCH_H
#define WARY_TESTS_UNIT_SCRATCH_H

#include <ftw.h>
#include <stdio.h>

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

/** scratch_remove: removes it with all that is in it; no link is followed.
 * Returns 0, or not where something is left. */
static inline int scratch_remove(const char *folder)
{
	return nftw(folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
