#include "package/project.h"

#include "base/text.h"
#include "package/spec.h"

#include <jansson.h>
#include <string.h>

/* ---- package.json ----------------------------------------------------- */

static void add_wanted(struct package_list *l, const json_t *from)
{
	const char *name;
	json_t *wanted;

	json_object_foreach((json_t *)from, name, wanted) if (json_is_string(wanted))
		spec_npm(l, name, json_string_value(wanted));
}

/* Overrides can put another package in the place of one: those that name
 * something else than a version are packages of their own. */
static void add_overrides(struct package_list *l, const json_t *from, unsigned depth)
{
	const char *name;
	json_t *value;

	if (depth > 8) {
		l->incomplete = true;
		return;
	}
	json_object_foreach((json_t *)from, name, value)
	{
		const char *text = json_string_value(value);

		if (json_is_object(value))
			add_overrides(l, value, depth + 1);
		else if (text && text[0] != '$' && strpbrk(text, ":/"))
			spec_npm(l, name, text);
	}
}

bool project_manifest(struct package_list *l, const char *text)
{
	static const char *const lists[] = {"dependencies", "devDependencies",
	                                    "optionalDependencies", "peerDependencies"};
	json_t *root = json_loads(text, 0, NULL);
	bool whole;

	if (!json_is_object(root)) {
		json_decref(root);
		return false;
	}
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		add_wanted(l, json_object_get(root, lists[i]));
	add_overrides(l, json_object_get(root, "overrides"), 0);
	add_overrides(l, json_object_get(root, "resolutions"), 0);
	whole = !json_object_get(root, "workspaces");
	json_decref(root);
	return whole;
}

/* ---- package-lock.json ------------------------------------------------ */

#define FOLDER "node_modules/"

/* The name at the end of "node_modules/a/node_modules/@s/b". */
static const char *last_name(const char *place)
{
	const char *name = NULL;

	for (const char *at = place; (at = strstr(at, FOLDER)); at += sizeof FOLDER - 1)
		name = at + sizeof FOLDER - 1;
	return name;
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* npm fetches what its own registry's address stands for from the configured
 * one. */
static bool is_default_host(const char *host)
{
	return strcmp(host, "registry.npmjs.org") == 0;
}

static void set_resolved(struct package_list *l, struct package *p, const char *resolved)
{
	const char *host;

	if (!resolved)
		return;
	if (text_starts(resolved, "git")) {
		p->git = true;
		p->name = list_str(l, resolved);
	} else if (text_starts(resolved, "file:")) {
		p->path = true;
		p->name = list_str(l, resolved);
	}
	host = spec_host(l, resolved);
	if (host && !is_default_host(host))
		p->registry = host;
}

/* One locked package.  @name: under which it is installed. */
static void add_locked(struct package_list *l, const char *name, const json_t *o, const char *root)
{
	const char *real = text_of(o, "name");
	const char *version = text_of(o, "version");
	struct package *p;

	if (json_is_true(json_object_get(o, "link")))
		return; /* a folder of the project itself */
	p = list_find(l, real ? real : name);
	if (!p || (p->version && !p->unpinned && version && strcmp(p->version, version) != 0)) {
		p = list_add(l);
		p->name = list_str(l, real ? real : name);
		p->dependency = true;
		p->root = root ? list_str(l, root) : NULL;
	}
	if (version) {
		p->version = list_str(l, version);
		p->unpinned = false;
	}
	p->integrity = list_str(l, text_of(o, "integrity"));
	p->has_script = json_is_true(json_object_get(o, "hasInstallScript"));
	set_resolved(l, p, text_of(o, "resolved"));
}

/* Which package asked for pulls each locked one in: breadth first from the
 * project's own, by the rule that node looks names up: in the folder of who
 * asks, then in those above it. */
struct walk {
	const json_t *packages;
	json_t *roots; /* place → name of the root */
	json_t *queue; /* array of places */
};

static const char *look_up(const json_t *packages, const char *from, const char *name, char *out,
                           size_t cap)
{
	size_t len = strlen(from);

	for (;;) {
		int n = snprintf(out, cap, "%.*s%s" FOLDER "%s", (int)len, from, len ? "/" : "",
		                 name);
		const char *up;

		if (n > 0 && (size_t)n < cap && json_object_get(packages, out))
			return out;
		if (!len)
			return NULL;
		/* The folder above the last node_modules. */
		for (up = from + len; up > from && strncmp(up - 1, "/" FOLDER, sizeof FOLDER) != 0;
		     up--)
			;
		len = up > from ? (size_t)(up - 1 - from) : 0;
	}
}

static void visit(struct walk *w, const char *from, const json_t *o, const char *root)
{
	static const char *const lists[] = {"dependencies", "optionalDependencies",
	                                    "peerDependencies", "devDependencies"};
	char place[2048];

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		const json_t *list = json_object_get(o, lists[i]);
		const char *name;
		json_t *wanted;

		json_object_foreach((json_t *)list, name, wanted)
		{
			if (!look_up(w->packages, from, name, place, sizeof place) ||
			    json_object_get(w->roots, place))
				continue;
			json_object_set_new(w->roots, place, json_string(root ? root : name));
			json_array_append_new(w->queue, json_string(place));
		}
	}
}

static json_t *find_roots(const json_t *packages)
{
	struct walk w = {
		.packages = packages,
		.roots = json_object(),
		.queue = json_array(),
	};

	visit(&w, "", json_object_get(packages, ""), NULL);
	for (size_t i = 0; i < json_array_size(w.queue); i++) {
		const char *place = json_string_value(json_array_get(w.queue, i));
		const char *root =
			place ? json_string_value(json_object_get(w.roots, place)) : NULL;

		if (root)
			visit(&w, place, json_object_get(packages, place), root);
	}
	json_decref(w.queue);
	return w.roots;
}

static void add_packages(struct package_list *l, const json_t *packages)
{
	json_t *roots = find_roots(packages);
	const char *place;
	json_t *o;

	json_object_foreach((json_t *)packages, place, o)
	{
		const char *name = last_name(place);

		if (name && json_is_object(o))
			add_locked(l, name, o, json_string_value(json_object_get(roots, place)));
	}
	json_decref(roots);
}

/* Version 1: nested by who asks. */
static void add_nested(struct package_list *l, const json_t *list, const char *root, unsigned depth)
{
	const char *name;
	json_t *o;

	if (depth > 64) {
		l->incomplete = true;
		return;
	}
	json_object_foreach((json_t *)list, name, o)
	{
		const char *version = text_of(o, "version");

		/* An alias or a place of its own stands where the version does. */
		if (version && strpbrk(version, ":/"))
			spec_npm(l, name, version);
		else
			add_locked(l, name, o, root);
		add_nested(l, json_object_get(o, "dependencies"), root ? root : name, depth + 1);
	}
}

bool project_lock(struct package_list *l, const char *text)
{
	json_t *root = json_loads(text, 0, NULL);
	const json_t *packages = json_object_get(root, "packages");
	const json_t *nested = json_object_get(root, "dependencies");
	bool is = json_is_object(packages) || json_is_object(nested);

	if (json_is_object(packages))
		add_packages(l, packages);
	else if (is)
		add_nested(l, nested, NULL, 0);
	json_decref(root);
	return is;
}

/* ---- requirements ----------------------------------------------------- */

/* Options in a requirements file that matter here. */
static void read_option(struct package_list *l, struct sources *s, char *line,
                        void (*read_more)(void *ctx, const char *path), void *ctx)
{
	bool is_long = line[1] == '-';
	char *name = line + (is_long ? 2 : 1);
	size_t len = is_long ? strcspn(name, "= \t") : 1;
	char *value = name + len + strspn(name + len, "= \t");

	value[strcspn(value, " \t")] = '\0';
	if (word_in("r requirement", name, len))
		read_more(ctx, value);
	else if (word_in("e editable", name, len))
		spec_parse(l, SPEC_PYTHON, value);
	else
		source_set(s, name, len, value);
}

void project_requirements(struct package_list *l, struct sources *s, const char *text,
                          void (*read_more)(void *ctx, const char *path), void *ctx)
{
	char line[4096];
	size_t n = 0;

	for (;; text++) {
		if (text[0] == '\\' && (text[1] == '\n' || (text[1] == '\r' && text[2] == '\n'))) {
			text += text[1] == '\r' ? 2 : 1;
			continue;
		}
		if (*text && *text != '\n') {
			if (n < sizeof line - 1)
				line[n++] = *text;
			continue;
		}
		while (n && strchr(" \t\r", line[n - 1]))
			n--;
		line[n] = '\0';
		n = strspn(line, " \t");
		if (strstr(line + n, " #"))
			*strstr(line + n, " #") = '\0';
		if (line[n] == '-') {
			read_option(l, s, line + n, read_more, ctx);
		} else if (line[n] && line[n] != '#') {
			/* Options of one requirement stand behind it. */
			if (strstr(line + n, " --"))
				*strstr(line + n, " --") = '\0';
			spec_parse(l, SPEC_PYTHON, line + n);
		}
		n = 0;
		if (!*text)
			return;
	}
}
