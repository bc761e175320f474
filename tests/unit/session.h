/* A session of a record, for tests that need one. */
#ifndef WARY_TESTS_UNIT_SESSION_H
#define WARY_TESTS_UNIT_SESSION_H

#include "audit/audit.h"
#include "tests/unit/tap.h"

/** session_open: one of "npm install 'a b'"; that it opens is a check.
 * @db: the store, made where it is missing.
 * Returns NULL where it did not open. */
static inline struct audit *session_open(const char *db)
{
	static const char *const argv[] = {"npm", "install", "a b", NULL};
	static const struct audit_source sources[] = {
		{"default.wary", "/etc/default.wary", "wary 1\n", 7}};
	const struct audit_session s = {
		.argv = argv,
		.argc = 3,
		.cwd = "/home/ana",
		.user = "ana",
		.host = "host",
		.kernel = "6.18",
		.version = "0.1",
		.uid = 1000,
		.sources = sources,
		.sources_n = 1,
	};
	struct audit *a = NULL;
	const char *why = NULL;
	int err = audit_open_begin(db, &a);

	if (!err)
		err = audit_open_finish(a, &s, &why);
	tap_is_int(err, 0, "a session opens");
	if (err)
		tap_note("%s", why ? why : "");
	return err ? NULL : a;
}

#endif
