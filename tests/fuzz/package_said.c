/* package/said, package/site: any text where a manifest, a lock file, METADATA,
 * RECORD or a path is expected: refused or within its bounds, without a fault. */
#include "package/said.h"
#include "package/touched.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void is_bounded(const char *value)
{
	invariant(!value || (*value && strlen(value) <= SAID_MAX_BYTES));
	for (; value && *value; value++)
		invariant((unsigned char)*value >= 0x20 && *value != 0x7f);
}

static void check(int err, struct said *s)
{
	invariant(err == 0 || err == -ERR_FORMAT);
	is_bounded(s->name);
	is_bounded(s->version);
	is_bounded(s->from);
	is_bounded(s->integrity);
	said_free(s);
}

static void said_all(const char *text, size_t len)
{
	struct said_lock *lock = said_lock_read(text, len);
	struct said s;

	check(said_manifest(text, len, &s), &s);
	check(said_metadata(text, len, &s), &s);
	check(said_direct_url(text, len, &s), &s);
	check(said_lock_of(lock, "node_modules/a", &s), &s);
	check(said_lock_of(lock, "node_modules/@s/b", &s), &s);
	said_lock_free(lock);
}

static void record(const char *text, size_t len)
{
	struct said_names names;
	int err = said_record(text, len, &names);

	invariant(err == 0 || err == -ERR_FORMAT || err == -ERR_BOUND);
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.items[i];

		invariant(*name && !strchr(name, '/') && strcmp(name, "..") && strcmp(name, "."));
		invariant(i == 0 || strcmp(names.items[i - 1], name) < 0);
	}
	said_names_free(&names);
}

/* Every line as a path. */
static void paths(char *text)
{
	struct touched set = {0};
	char form[64];

	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct site site;
		size_t n = set.n;

		if (said_python_name(line, form, sizeof form))
			invariant(strlen(form) <= strlen(line));
		if (!site_of(line, &site))
			continue;
		invariant(site.site_len <= site.place_len && site.place_len <= strlen(line));
		invariant(site.kind != SITE_NONE);
		invariant(touched_add(&set, line) == 0 && touched_add(&set, line) == 0);
		invariant(set.n <= n + 1);
	}
	touched_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	char *text = malloc(len_bytes + 1);

	invariant(text != NULL);
	memcpy(text, bytes, len_bytes);
	text[len_bytes] = '\0';
	said_all(text, len_bytes);
	record(text, len_bytes);
	paths(text);
	free(text);
	return 0;
}
