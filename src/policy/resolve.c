#include "policy/resolve.h"

#include "base/text.h"
#include "policy/glob.h"

#include <stdlib.h>

#define LINKS_MAX 40
#define LIST_MAX_NAMES 512
#define PATH_MAX_BYTES 8192

void resolver_begin(struct resolver *r, struct arena *a, const struct policy_world *world)
{
	static const char *const names[] = {"HOME", "CONFIG", "CACHE", "PROJECT"};

	*r = (struct resolver){.world = world, .arena = a};
	*vec_push(a, &r->looked) = (struct looked){0};
	if (!world->list || !world->variable)
		return;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		r->folders[i] = world->variable(world->ctx, names[i]);
}

static uint32_t remember(struct resolver *r, const char *path, struct looked l)
{
	char *kept = arena_str(r->arena, path);

	*vec_push(r->arena, &r->looked) = l;
	*text_map_at(&r->names, r->arena, kept, strlen(kept)) = (uint32_t)(r->looked.n - 1);
	return (uint32_t)(r->looked.n - 1);
}

static struct looked ask_world(struct resolver *r, const char *path)
{
	struct looked l = {.kind = POLICY_ABSENT};
	char *target = NULL;

	if (!r->world->look)
		return l;
	l.kind = r->world->look(r->world->ctx, path, &target, &l.dev, &l.ino);
	l.target = arena_adopt(r->arena, target);
	l.has_identity = l.kind != POLICY_ABSENT;
	if (l.kind == POLICY_LINK && (!l.target || !*l.target || text_starts(l.target, "/proc/")))
		l.kind = POLICY_OTHER;
	return l;
}

/* Learns all names of a folder that is worth it. */
static void list_folder(struct resolver *r, const char *folder)
{
	static const char marks[] = {'l', 'd', 'o'};
	static const enum policy_kind kinds[] = {POLICY_LINK, POLICY_FOLDER, POLICY_OTHER};
	char *all = arena_adopt(r->arena, r->world->list(r->world->ctx, folder, LIST_MAX_NAMES));
	uint32_t *known;

	known = text_map_at(&r->listed, r->arena, arena_str(r->arena, folder), strlen(folder));
	*known = all ? 2 : 1;
	for (const char *s = all; s && *s; s += strlen(s) + 1) {
		char *path = arena_fmt(r->arena, "%s/%s", folder, s + 1);

		for (size_t i = 0; i < sizeof marks; i++)
			if (*s == marks[i] && !text_map_get(&r->names, path, strlen(path)))
				remember(r, path, (struct looked){.kind = kinds[i]});
	}
}

/* Whether the folder of a path is one that was listed whole. */
static bool is_listed(struct resolver *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = (size_t)(slash - path);
	uint32_t known;

	for (size_t i = 0; i < sizeof r->folders / sizeof r->folders[0]; i++) {
		const char *f = r->folders[i];

		if (!f || strlen(f) != len || memcmp(f, path, len) != 0)
			continue;
		known = text_map_get(&r->listed, path, len);
		if (!known) {
			list_folder(r, f);
			known = text_map_get(&r->listed, path, len);
		}
		return known == 2;
	}
	return false;
}

/* What is at a path whose folders are no links. */
static struct looked *look(struct resolver *r, const char *path)
{
	bool listed = is_listed(r, path);
	uint32_t i = text_map_get(&r->names, path, strlen(path));

	if (!i && listed)
		i = remember(r, path, (struct looked){.kind = POLICY_ABSENT});
	else if (!i)
		i = remember(r, path, ask_world(r, path));
	/* A listing tells that it is a link, and not whereto. */
	if (r->looked.v[i].kind == POLICY_LINK && !r->looked.v[i].target)
		r->looked.v[i] = ask_world(r, path);
	return &r->looked.v[i];
}

/* The canonical form by the world's own function, where it has no look(). */
static const char *canonical_by_world(struct resolver *r, const char *path, struct links *links)
{
	char *canon;

	if (!r->world->canonical)
		return path;
	canon = arena_adopt(r->arena, r->world->canonical(r->world->ctx, path));
	if (!canon || strcmp(canon, path) == 0)
		return path;
	/* Which links it went through cannot be told: any folder may be one. */
	for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/'))
		*vec_push(r->arena, links) = arena_bytes(r->arena, path, (size_t)(s - path));
	*vec_push(r->arena, links) = arena_str(r->arena, path);
	return canon;
}

struct walk {
	char out[PATH_MAX_BYTES];
	size_t n;
	const char *rest;
	unsigned links;
	bool absent; /* nothing exists from here on */
};

static void walk_up(struct walk *w)
{
	while (w->n && w->out[w->n - 1] != '/')
		w->n--;
	if (w->n)
		w->n--;
}

/* One part; false where the path cannot be walked. */
static bool walk_part(struct resolver *r, struct walk *w, struct slice part, bool follow,
                      struct links *links)
{
	struct looked *l;

	if (part.n == 1 && part.s[0] == '.')
		return true;
	if (part.n == 2 && part.s[0] == '.' && part.s[1] == '.') {
		walk_up(w);
		return true;
	}
	if (w->n + part.n + 2 > sizeof w->out)
		return false;
	w->out[w->n] = '/';
	memcpy(w->out + w->n + 1, part.s, part.n);
	w->n += part.n + 1;
	w->out[w->n] = '\0';
	if (w->absent || !follow || strcmp(w->out, "/proc") == 0) {
		w->absent |= follow;
		return true;
	}
	l = look(r, w->out);
	w->absent = l->kind == POLICY_ABSENT;
	if (l->kind != POLICY_LINK)
		return true;
	if (++w->links > LINKS_MAX)
		return false;
	*vec_push(r->arena, links) = arena_str(r->arena, w->out);
	w->rest = arena_fmt(r->arena, "%s/%s", l->target, w->rest);
	if (l->target[0] == '/')
		w->n = 0;
	else
		walk_up(w);
	return true;
}

const char *resolve_path(struct resolver *r, const char *path, bool follow_last,
                         struct links *links)
{
	struct walk w = {.rest = path};

	if (!r->world->look)
		return follow_last ? canonical_by_world(r, path, links) : path;
	for (;;) {
		struct slice part;
		bool last;

		w.rest += strspn(w.rest, "/");
		part.s = w.rest;
		part.n = strcspn(w.rest, "/");
		if (!part.n)
			break;
		w.rest += part.n;
		last = w.rest[strspn(w.rest, "/")] == '\0';
		if (!walk_part(r, &w, part, follow_last || !last, links))
			return path;
	}
	return w.n ? arena_bytes(r->arena, w.out, w.n) : "/";
}

bool resolve_identity(struct resolver *r, const char *path, uint64_t *dev, uint64_t *ino)
{
	struct looked *l;

	if (!r->world->look)
		return r->world->identity && r->world->identity(r->world->ctx, path, dev, ino);
	if (strcmp(path, "/") == 0)
		return false;
	l = look(r, path);
	if (l->kind == POLICY_ABSENT || l->kind == POLICY_FOLDER)
		return false;
	if (!l->has_identity)
		*l = ask_world(r, path);
	*dev = l->dev;
	*ino = l->ino;
	return l->has_identity && l->kind != POLICY_FOLDER;
}
