#include "package/site.h"

#include "package/tools.h"

#include <string.h>

#define NODE "node_modules"
/* A manager's own files in node_modules. */
#define NODE_OWN                                                        \
	".bin .cache .package-lock.json .yarn-integrity .modules.yaml " \
	".yarn-state.yml .pnpm .store .vite"

/* The part of a path between two slashes. */
struct part {
	const char *at;
	size_t len;
};

static struct part part_at(const char *at)
{
	return (struct part){at, strcspn(at, "/")};
}

/* What follows a part; empty at the end of the path. */
static struct part next_of(struct part p)
{
	const char *end = p.at + p.len;

	return part_at(end + strspn(end, "/"));
}

static bool is(struct part p, const char *word)
{
	return p.len == strlen(word) && memcmp(p.at, word, p.len) == 0;
}

bool site_is_dist_info(const char *name, size_t len)
{
	static const char ending[] = ".dist-info";
	size_t n = sizeof ending - 1;

	return len > n && memcmp(name + len - n, ending, n) == 0;
}

static size_t end_of(const char *path, struct part p)
{
	return (size_t)(p.at - path) + p.len;
}

/* "X/ID/node_modules": a manager's store of packages (.pnpm, .store). */
static struct part store_in(struct part name)
{
	struct part inner = next_of(next_of(name));

	return name.at[0] == '.' && is(inner, NODE) ? inner : (struct part){"", 0};
}

static bool node_of(const char *path, struct part modules, struct site *out)
{
	while (modules.len) {
		struct part name = next_of(modules);
		struct part store = store_in(name);

		*out = (struct site){SITE_NODE, end_of(path, modules), end_of(path, modules), true};
		if (store.len) {
			modules = store;
			continue;
		}
		if (!name.len)
			return true;
		if (word_in(NODE_OWN, name.at, name.len))
			return false;
		out->place_len = end_of(path, name);
		if (name.at[0] == '@') {
			name = next_of(name);
			if (!name.len)
				return true;
			out->place_len = end_of(path, name);
		}
		out->whole = false;
		/* Of the package, unless it is one that lies in its own node_modules. */
		modules = next_of(name);
		if (!is(modules, NODE))
			return true;
	}
	return false;
}

static bool python_of(const char *path, size_t site_len, struct part name, struct site *out)
{
	*out = (struct site){SITE_PYTHON, site_len, site_len, true};
	if (name.len) {
		out->place_len = end_of(path, name);
		out->whole = false;
	}
	return true;
}

bool site_of(const char *path, struct site *out)
{
	size_t above = 0;

	for (struct part p = part_at(path + strspn(path, "/")); p.len; p = next_of(p)) {
		if (is(p, NODE))
			return node_of(path, p, out);
		if (is(p, "site-packages") || is(p, "dist-packages"))
			return python_of(path, end_of(path, p), next_of(p), out);
		if (site_is_dist_info(p.at, p.len) && above)
			return python_of(path, above, p, out);
		above = end_of(path, p);
	}
	return false;
}
