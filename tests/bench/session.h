/* The session that benches of the record write into. */
#ifndef WARY_TESTS_BENCH_SESSION_H
#define WARY_TESTS_BENCH_SESSION_H

#include "audit/audit.h"

#include <stdio.h>

/** bench_session: opens the store @db and begins a session in it.
 * Returns it, or NULL; then it has said why. */
static inline struct audit *bench_session(const char *db)
{
	static const char *const argv[] = {"npm", "install", NULL};
	static const char text[] = "wary 1\ndefault allow\n";
	static const struct audit_source source = {"default.wary", "default.wary", text,
	                                           sizeof text - 1};
	const struct audit_session s = {
		.argv = argv, .argc = 2, .cwd = "/", .sources = &source, .sources_n = 1};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) == 0 && audit_open_finish(a, &s, &why) == 0)
		return a;
	fprintf(stderr, "%s: %s\n", db, why ? why : "no session can begin");
	return NULL;
}

#endif
