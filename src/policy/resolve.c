#include "policy/resolve.h"

#include "base/text.h"
#include "policy/glob.h"

#include <stdlib.h>

#define LINKS_MAX 40
#define LIST_MAX_NAMES 512
/* So many names of a folder are looked up one by one. */
#define LIST_AFTER 3
#define PATH_MAX_BYTES 8192

void resolver_begin(struct resolver *r, struct arena *a, const struct policy_world *world)
{
	*r = (struct resolver){.world = world, .arena = a};
	*vec_push(a, &r->looked) = (struct looked){0};
	*vec_push(a, &r->listed) = (struct listed){0};
	*vec_push(a, &r->resolved) = (struct resolved){0};
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

/* The folder of a path, with its name's beginning. */
static struct listed *folder_of(struct resolver *r, const char *path, const char **name)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	uint32_t i = text_map_get(&r->folders, path, len);

	*name = path + len + 1;
	if (!i) {
		*vec_push(r->arena, &r->listed) = (struct listed){0};
		i = (uint32_t)(r->listed.n - 1);
		*text_map_at(&r->folders, r->arena, arena_bytes(r->arena, path, len), len) = i;
	}
	return &r->listed.v[i];
}

/* Once several names of a folder have been asked for, all are learned. */
static void list_folder(struct resolver *r, struct listed *f, const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	const char *folder = len ? arena_bytes(r->arena, path, len) : "/";

	if (f->done || !r->world->list || ++f->asked <= LIST_AFTER)
		return;
	f->done = true;
	f->names = arena_adopt(r->arena, r->world->list(r->world->ctx, folder, LIST_MAX_NAMES));
}

static enum policy_kind kind_in_list(const char *names, const char *name)
{
	for (; *names; names += strlen(names) + 1) {
		if (strcmp(names + 1, name) != 0)
			continue;
		return *names == 'l' ? POLICY_LINK : *names == 'd' ? POLICY_FOLDER : POLICY_OTHER;
	}
	return POLICY_ABSENT;
}

/* What is at a path whose folders are no links. */
static struct looked *look(struct resolver *r, const char *path)
{
	uint32_t i = text_map_get(&r->names, path, strlen(path));
	struct looked fresh = {0};
	struct listed *folder;
	const char *name;

	if (i)
		return &r->looked.v[i];
	folder = folder_of(r, path, &name);
	list_folder(r, folder, path);
	if (folder->names)
		fresh.kind = kind_in_list(folder->names, name);
	/* A listing tells that it is a link, and not whereto. */
	if (!folder->names || fresh.kind == POLICY_LINK)
		fresh = ask_world(r, path);
	/* Only then: the array may have moved. */
	i = remember(r, path, fresh);
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

/* The long way, through links. */
struct walk {
	char out[PATH_MAX_BYTES];
	size_t n;
	const char *rest;
	unsigned links;
	bool bottom; /* nothing exists from here on */
};

static void walk_up(struct walk *w)
{
	while (w->n && w->out[w->n - 1] != '/')
		w->n--;
	if (w->n)
		w->n--;
}

/* Whether names below a path are looked up at all. */
static bool is_bottom(const struct looked *l)
{
	return l->kind == POLICY_ABSENT || l->kind == POLICY_OTHER;
}

/* Its links mean something else for everyone. */
static bool is_proc(const char *path)
{
	return strcmp(path, "/proc") == 0;
}

/* One part; false where the path cannot be walked. */
static bool walk_part(struct resolver *r, struct walk *w, struct slice part, struct links *links)
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
	w->bottom |= is_proc(w->out);
	if (w->bottom)
		return true;
	l = look(r, w->out);
	w->bottom = is_bottom(l);
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

static struct resolved walk_path(struct resolver *r, const char *path)
{
	struct resolved out = {.canon = path};
	struct walk w; /* its name is large: not cleared */

	w.n = w.links = 0;
	w.bottom = false;
	w.rest = path;
	for (;;) {
		struct slice part;

		w.rest += strspn(w.rest, "/");
		part.s = w.rest;
		part.n = strcspn(w.rest, "/");
		if (!part.n)
			break;
		w.rest += part.n;
		if (!walk_part(r, &w, part, &out.links))
			return out;
	}
	out.canon = arena_bytes(r->arena, w.out, w.n);
	out.bottom = w.bottom;
	return out;
}

/* The first @len bytes of a path. */
static struct resolved resolve_whole(struct resolver *r, const char *path, size_t len)
{
	struct resolved out = {.canon = ""};
	uint32_t i = text_map_get(&r->paths, path, len);
	const struct looked *l;
	size_t up = len;
	char *kept;

	if (i || !len)
		return i ? r->resolved.v[i] : out;
	while (up && path[up - 1] != '/')
		up--;
	kept = arena_bytes(r->arena, path, len);
	out = resolve_whole(r, path, up ? up - 1 : 0);
	out.canon = arena_cat(r->arena, out.canon, kept + (up ? up - 1 : 0));
	out.bottom |= is_proc(out.canon);
	if (!out.bottom) {
		l = look(r, out.canon);
		out.bottom = is_bottom(l);
		if (l->kind == POLICY_LINK)
			out = walk_path(r, kept);
	}
	*vec_push(r->arena, &r->resolved) = out;
	*text_map_at(&r->paths, r->arena, kept, len) = (uint32_t)(r->resolved.n - 1);
	return out;
}

const char *resolve_path(struct resolver *r, const char *path, bool follow_last,
                         struct links *links)
{
	const char *last = strrchr(path, '/');
	struct resolved out;

	if (!r->world->look)
		return follow_last ? canonical_by_world(r, path, links) : path;
	out = resolve_whole(r, path, follow_last ? strlen(path) : (size_t)(last - path));
	for (size_t i = 0; i < out.links.n; i++)
		*vec_push(r->arena, links) = out.links.v[i];
	if (follow_last)
		return *out.canon ? out.canon : "/";
	return *out.canon || last[1] ? arena_cat(r->arena, out.canon, last) : "/";
}

bool resolve_identity(struct resolver *r, const char *path, uint64_t *dev, uint64_t *ino)
{
	struct looked *l;

	if (!r->world->look)
		return r->world->identity && r->world->identity(r->world->ctx, path, dev, ino);
	if (strcmp(path, "/") == 0 || text_starts(path, "/proc/"))
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
