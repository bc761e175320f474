#include "answer/arrivals_read.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "tracee/parcel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names in one folder that was put there whole. */
#define NAMES_MAX 32768

/* Where the reader is: most places are in the folder of the one before. */
struct reader {
	const struct arrivals_from *from;
	struct contents_bounds bounds; /* until the end of a share of the time */
	/* Numbers of places whose share was too short: they come once more, when
	 * all others have been read. */
	size_t *later;
	size_t later_n, later_cap;
	bool last; /* there is no later any more */
	struct touched *set;
	char *site; /* path of the folder that is open, or NULL */
	int site_fd;
	int site_errno; /* why it is not */
	char *root;     /* path of the outermost node_modules, and what its lock file says */
	struct said_lock *lock;
	/* Python: what distributions have, as "SITE/NAME". */
	struct touched had;
};

static void reader_done(struct reader *r)
{
	free(r->site);
	fd_drop(&r->site_fd);
	free(r->root);
	said_lock_free(r->lock);
	touched_free(&r->had);
	free(r->later);
}

/* ---- time ----------------------------------------------------------------- */

/* One huge package must not cost all others their hashes: each may have its
 * part of what is left, which grows by what the others did not need. */
static void give_share(struct reader *r, size_t left)
{
	uint64_t now_ns = clock_mono_ns(), until_ns = r->from->until_ns;

	r->bounds.until_ns = now_ns < until_ns ? now_ns + (until_ns - now_ns) / left : until_ns;
}

/* Whether a package is to be read once more, its share having been too short. */
static bool is_put_off(const struct reader *r, const struct parcel *p)
{
	return !r->last && p->err == -ERR_BOUND && contents_is_late(&r->bounds);
}

static int put_off(struct reader *r, size_t i)
{
	if (r->later_n == r->later_cap) {
		size_t cap = r->later_cap ? 2 * r->later_cap : 64;
		size_t *more = reallocarray(r->later, cap, sizeof *more);

		if (!more)
			return -ERR_NOMEM;
		r->later = more;
		r->later_cap = cap;
	}
	r->later[r->later_n++] = i;
	return 0;
}

/* Those that were put off, with the time that is left. */
static int read_later(struct reader *r, int (*read_one)(struct reader *r, size_t i))
{
	int err = 0;

	r->last = true;
	for (size_t k = 0; !err && k < r->later_n; k++) {
		give_share(r, r->later_n - k);
		err = read_one(r, r->later[k]);
	}
	r->last = false;
	r->later_n = 0;
	return err;
}

/* ---- places --------------------------------------------------------------- */

static bool is_text(const char *text, const char *bytes, size_t len)
{
	return text && strlen(text) == len && memcmp(text, bytes, len) == 0;
}

/* The folder that a place is in; -1 where it cannot be opened. */
static int site_of_place(struct reader *r, const struct touched_place *p)
{
	size_t len = p->site.site_len;

	if (is_text(r->site, p->path, len))
		return r->site_fd;
	free(r->site);
	fd_drop(&r->site_fd);
	r->site = strndup(p->path, len);
	r->site_errno = ENOMEM;
	if (r->site) {
		r->site_fd = parcel_open(r->site);
		r->site_errno = errno;
	}
	return r->site_fd;
}

/* A folder that cannot be opened is not one that is gone. */
static bool is_gone(int no)
{
	return no == ENOENT || no == ENOTDIR;
}

/* What is to be said of a package whose folder's folder is not open. */
static int without_site(const struct reader *r, const char *name, struct parcel *out)
{
	*out = (struct parcel){.state = PARCEL_REMOVED, .name = strdup(name)};
	if (!is_gone(r->site_errno)) {
		out->state = PARCEL_STRAY;
		out->err = r->site_errno == EACCES  ? -ERR_PERM
		           : r->site_errno == ELOOP ? -ERR_RACE
		                                    : -ERR_SYS;
		out->why = r->site_errno == ELOOP ? "the folder that it is in is a link"
		                                  : "the folder that it is in cannot be read";
	}
	return out->name ? 0 : -ERR_NOMEM;
}

/* ---- rows --------------------------------------------------------------- */

#define WORDS_MAX 20

struct words {
	char *items[WORDS_MAX];
	size_t n;
	bool failed;
};

static void words_free(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->items[i]);
}

static void word(struct words *w, const char *key, const char *value)
{
	auto_buf b = BUF_INIT;

	if (!value)
		return;
	buf_fmt(&b, "%s%s%s", key ? key : "", key ? "=" : "", value);
	invariant(w->n < WORDS_MAX);
	w->items[w->n] = buf_take(&b);
	if (w->items[w->n])
		w->n++;
	else
		w->failed = true;
}

static void word_number(struct words *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	word(w, key, text);
}

static void words_of(const struct reader *r, const struct parcel *p, struct words *w)
{
	static const char *const states[] = {
		[PARCEL_INSTALLED] = "installed",
		[PARCEL_LINK] = "link",
		[PARCEL_STRAY] = "stray",
		[PARCEL_REMOVED] = "removed",
	};
	const char *own = p->own.name;

	word(w, NULL, states[p->state]);
	if (p->state != PARCEL_REMOVED && !p->err) {
		word_number(w, "files", p->entries);
		word_number(w, "bytes", p->bytes);
	}
	if (p->state != PARCEL_REMOVED && !p->err && p->has_compiled) {
		auto_buf hex = BUF_INIT;

		text_hex(&hex, p->plain, sizeof p->plain);
		word(w, "plain", buf_text(&hex));
	}
	word(w, "why", p->err ? p->why ? p->why : err_text(p->err) : NULL);
	word(w, "link", p->link);
	word(w, "own-name", own && strcmp(own, p->name) != 0 ? own : NULL);
	word(w, "claimed-name", p->claimed.name);
	word(w, "claimed-version", p->claimed.version);
	word(w, "claimed-from", p->claimed.from);
	word(w, "claimed-integrity", p->claimed.integrity);
	word(w, "registry", p->state == PARCEL_REMOVED ? NULL : r->from->registry);
}

static int put_row(const struct reader *r, const struct touched_place *place,
                   const struct parcel *p)
{
	const char *manager = r->from->manager;
	bool hashed = p->state != PARCEL_REMOVED && !p->err;
	struct words w = {0};
	auto_buf object = BUF_INIT;
	struct audit_event e = {
		.kind = AUDIT_PACKAGE,
		.class = CLASS_INSTALL,
		.answer = ANSWER_ALLOW,
		.pid = r->from->pid,
		.tid = r->from->pid,
		.uid = r->from->uid,
		.program = r->from->program,
		.object2 = p->own.version,
		.cwd = place->path,
		.sha256 = hashed ? p->sha256 : NULL,
		.reason = (int)p->state,
	};
	int err = -ERR_NOMEM;

	if (!manager)
		manager = place->site.kind == SITE_NODE ? "npm" : "pip";
	buf_fmt(&object, "%s:%s", manager, p->name);
	e.object = buf_text(&object);
	words_of(r, p, &w);
	e.argv = (const char *const *)w.items;
	e.argc = w.n;
	if (!w.failed && e.object)
		err = audit_note(r->from->audit, &e, p->err ? -err_errno(p->err) : 0);
	words_free(&w);
	return err;
}

/* ---- npm ---------------------------------------------------------------- */

/* What the lock file in the outermost node_modules says of a place. */
static int claim(struct reader *r, const struct touched_place *place, struct said *out)
{
	struct contents_bounds bounds = r->bounds;
	const char *modules = strstr(place->path, "/node_modules/");
	size_t len = modules ? (size_t)(modules - place->path) + strlen("/node_modules") : 0;
	int err;

	*out = (struct said){0};
	bounds.until_ns = r->from->until_ns; /* it is read once, for all */
	if (!modules)
		return 0;
	if (!is_text(r->root, place->path, len)) {
		free(r->root);
		said_lock_free(r->lock);
		r->lock = NULL;
		r->root = strndup(place->path, len);
		if (r->root)
			r->lock = parcel_lock(r->root, &bounds);
	}
	err = said_lock_of(r->lock, modules + 1, out);
	return err == -ERR_NOMEM ? err : 0;
}

/* A folder that was moved here whole has brought its own node_modules. */
static int add_inner(struct reader *r, const char *place)
{
	auto_buf inner = BUF_INIT;
	auto_fd fd = -1;
	int err;

	buf_fmt(&inner, "%s/node_modules", place);
	if (!buf_text(&inner))
		return -ERR_NOMEM;
	fd = parcel_open(buf_text(&inner));
	if (fd < 0 && !is_gone(errno) && errno != ELOOP)
		r->set->more = true;
	err = fd < 0 ? 0 : touched_add(r->set, buf_text(&inner));
	return err == -ERR_BOUND ? 0 : err; /* is said in the set */
}

/* A manager's own name for what it moves out of the way. */
static bool is_passing(const struct touched_place *p)
{
	const char *name = p->path + p->site.site_len + 1;
	const char *inner = name[0] == '@' ? strchr(name, '/') : NULL;
	char first = inner ? inner[1] : name[0];

	return first == '.' || first == '~';
}

static int read_node(struct reader *r, size_t i)
{
	const struct touched_place place = r->set->items[i];
	int site_fd = site_of_place(r, &place);
	const char *name = place.path + place.site.site_len + 1;
	struct parcel p;
	int err = site_fd >= 0 ? parcel_node(site_fd, name, &r->bounds, &p)
	                       : without_site(r, name, &p);

	if (!err && is_put_off(r, &p)) {
		parcel_free(&p);
		return put_off(r, i);
	}
	if (!err && p.state != PARCEL_REMOVED)
		err = claim(r, &place, &p.claimed);
	if (!err && (p.state != PARCEL_REMOVED || !is_passing(&place)))
		err = put_row(r, &place, &p);
	if (!err && place.itself && p.state != PARCEL_REMOVED)
		err = add_inner(r, place.path);
	parcel_free(&p);
	return err;
}

/* ---- Python -------------------------------------------------------------- */

static bool is_dist(const struct touched_place *p)
{
	return p->site.kind == SITE_PYTHON && !p->site.whole &&
	       site_is_dist_info(p->path, p->site.place_len);
}

static int note_had(struct reader *r, const struct said_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		auto_buf path = BUF_INIT;
		int err;

		if (strcmp(names->items[i], "__pycache__") == 0)
			continue; /* shared, and in no distribution's hash */
		buf_fmt(&path, "%s/%s", r->site, names->items[i]);
		err = buf_text(&path) ? touched_add(&r->had, buf_text(&path)) : -ERR_NOMEM;
		if (err == -ERR_NOMEM)
			return err;
	}
	return 0;
}

/* "1.0" of "name-1.0.dist-info", for one that is gone. */
static char *version_in(const char *dist_info)
{
	const char *dash = strchr(dist_info, '-');

	return dash ? strndup(dash + 1, strlen(dash + 1) - strlen(".dist-info")) : NULL;
}

static int read_dist(struct reader *r, size_t i)
{
	const struct touched_place place = r->set->items[i];
	int site_fd = site_of_place(r, &place);
	const char *name = place.path + place.site.site_len + 1;
	struct parcel p;
	int err;

	if (site_fd < 0 && is_gone(r->site_errno))
		return 0; /* with all that was in it */
	err = site_fd >= 0 ? parcel_python(site_fd, name, &r->bounds, &p)
	                   : without_site(r, name, &p);
	if (!err && is_put_off(r, &p)) {
		parcel_free(&p);
		return put_off(r, i);
	}
	if (!err && p.state == PARCEL_REMOVED)
		p.own.version = version_in(name);
	if (!err && (p.state != PARCEL_REMOVED || !is_passing(&place)))
		err = put_row(r, &place, &p);
	if (!err)
		err = note_had(r, &p.names);
	parcel_free(&p);
	return err;
}

static int read_stray(struct reader *r, size_t i)
{
	const struct touched_place place = r->set->items[i];
	int site_fd = site_of_place(r, &place);
	const char *name = place.path + place.site.site_len + 1;
	struct parcel p;
	int err = site_fd >= 0 ? parcel_stray(site_fd, name, &r->bounds, &p)
	                       : without_site(r, name, &p);

	if (!err && is_put_off(r, &p)) {
		parcel_free(&p);
		return put_off(r, i);
	}
	if (!err && p.state != PARCEL_REMOVED)
		err = put_row(r, &place, &p);
	parcel_free(&p);
	return err;
}

static int read_rest(struct reader *r, size_t i)
{
	size_t had = r->had.n;
	int err = touched_add(&r->had, r->set->items[i].path);

	if (err == -ERR_NOMEM)
		return err;
	/* A distribution's; where there is no room to know, a row. */
	return !err && r->had.n == had ? 0 : read_stray(r, i);
}

/* ---- all ----------------------------------------------------------------- */

/* Every package of a folder. */
static int expand(struct reader *r, size_t i)
{
	const struct touched_place place = r->set->items[i];
	struct contents_names names;
	auto_fd fd = parcel_open(place.path);
	int err = fd < 0 ? 0 : contents_names(fd, NAMES_MAX, &names);

	if (fd < 0 && !is_gone(errno) && errno != ELOOP)
		r->set->more = true;
	if (fd < 0)
		return 0;
	if (err)
		r->set->more = true;
	if (err)
		return err == -ERR_NOMEM ? err : 0;
	for (size_t k = 0; !err && k < names.n; k++) {
		auto_buf path = BUF_INIT;

		buf_fmt(&path, "%s/%s", place.path, names.items[k]);
		err = buf_text(&path) ? touched_add(r->set, buf_text(&path)) : -ERR_NOMEM;
		err = err == -ERR_BOUND ? 0 : err; /* is said in the set */
	}
	contents_names_free(&names);
	return err;
}

static int one(struct reader *r, size_t i)
{
	const struct touched_place *p = &r->set->items[i];

	if (p->site.whole)
		return expand(r, i);
	if (p->site.kind == SITE_NODE)
		return read_node(r, i);
	return is_dist(p) ? read_dist(r, i) : 0;
}

static bool is_rest(const struct touched_place *p)
{
	return p->site.kind == SITE_PYTHON && !p->site.whole && !is_dist(p);
}

int arrivals_read(const struct arrivals_from *from, struct touched *set)
{
	struct reader r = {
		.from = from,
		.bounds = {PARCEL_ENTRIES_MAX, PARCEL_BYTES_MAX, from->until_ns},
		.set = set,
		.site_fd = -1,
	};
	int err = 0;

	/* The set may grow meanwhile. */
	for (size_t i = 0; !err && i < set->n; i++) {
		give_share(&r, set->n - i);
		err = one(&r, i);
	}
	if (!err)
		err = read_later(&r, one);
	/* What Python's distributions have is known only now. */
	for (size_t i = 0; !err && i < set->n; i++) {
		give_share(&r, set->n - i);
		if (is_rest(&set->items[i]))
			err = read_rest(&r, i);
	}
	if (!err)
		err = read_later(&r, read_stray);
	reader_done(&r);
	return err;
}
