#include "answer/hand.h"

#include "base/own.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/lineage.h"
#include "tracee/wear.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

USES(geteuid, open_read);

/* Folders behind links, by a hash of their names. */
#define LINKED_N 256
/* Callers whose status stays open: of so many, in each of so many workers. */
#define KEPT_N 8u
#define KEEPERS 8

/* Opening it costs as much as reading it. */
struct kept {
	pid_t tid;
	int fd; /* of /proc/TID/status; -1: none */
};

struct hand {
	struct wear *wear;
	uint32_t linked[LINKED_N];
	int root_fd;
	uid_t own_fsuid;
	struct hand_rules rules;
	bool tree_caps_known;
	uint64_t tree_caps; /* of a root tree that has changed nothing */
	struct caller_creds creds;
	bool creds_seen; /* of this request's caller */
	bool kept_on;    /* the tree's capabilities are left on between calls */
	struct kept kept[KEPT_N];
};

static int read_setting(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[16];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return (int)strtol(text, NULL, 10);
}

static struct hand *hand_new(void)
{
	struct hand *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (h->root_fd < 0 || wear_new(&h->wear) != 0) {
		fd_drop(&h->root_fd);
		free(h);
		return NULL;
	}
	for (unsigned i = 0; i < KEPT_N; i++)
		h->kept[i].fd = -1;
	h->own_fsuid = geteuid();
	h->rules.links = read_setting("/proc/sys/fs/protected_symlinks") != 0;
	h->rules.regular = read_setting("/proc/sys/fs/protected_regular");
	h->rules.fifos = read_setting("/proc/sys/fs/protected_fifos");
	return h;
}

static struct hand *hand_of(struct worker *w)
{
	if (!w->creds_now)
		w->creds_now = hand_new();
	return w->creds_now;
}

void hand_free(struct worker *w)
{
	struct hand *h = w->creds_now;

	if (!h)
		return;
	for (unsigned i = 0; i < KEPT_N; i++)
		fd_drop(&h->kept[i].fd);
	wear_free(h->wear);
	fd_drop(&h->root_fd);
	free(h);
	w->creds_now = NULL;
}

void hand_ready(struct request *r)
{
	struct hand *h = r->worker->creds_now;

	if (h && h->kept_on && atomic_load(&r->sup->creds_changed)) {
		wear_off(h->wear);
		h->kept_on = false;
	}
}

/* The caller's status, by the descriptor that was opened for it before.  Whose number
 * it was first no longer matters: where that one has left nothing can be read. */
static int read_status(struct request *r, struct hand *h)
{
	pid_t tid = r->call->tid;
	struct kept *k = &h->kept[(unsigned)tid % KEPT_N];
	int err = -ERR_GONE;

	if (r->worker->index >= KEEPERS)
		return caller_creds_of(tid, &h->creds, &r->caller.tgid);
	if (k->fd >= 0 && k->tid == tid)
		err = caller_creds_read(k->fd, &h->creds, &r->caller.tgid);
	if (err != -ERR_GONE)
		return err;
	fd_drop(&k->fd);
	k->tid = tid;
	k->fd = caller_status_open(tid);
	return k->fd < 0 ? k->fd : caller_creds_read(k->fd, &h->creds, &r->caller.tgid);
}

int hand_fetch(struct request *r, unsigned need)
{
	struct hand *h = hand_of(r->worker);
	bool mask = (need & HAND_UMASK) && atomic_load(&r->sup->umask_changed);
	bool ids;
	int err;

	if (!h)
		return -ERR_NOMEM;
	h->creds_seen = false;
	h->creds.umask = r->sup->umask_start;
	ids = r->sup->as_root && (atomic_load(&r->sup->creds_changed) || !h->tree_caps_known);
	if (!mask && !ids)
		return 0;
	err = read_status(r, h);
	/* Read for the umask alone, its ids are those that all have. */
	h->creds_seen = err == 0 && ids;
	return err;
}

int hand_on(struct request *r)
{
	struct hand *h = hand_of(r->worker);

	if (!h)
		return -ERR_NOMEM;
	wear_umask(h->wear, h->creds.umask);
	if (!r->sup->as_root)
		return 0;
	if (h->creds_seen && !h->tree_caps_known) {
		h->tree_caps = h->creds.cap_effective;
		/* Only while no caller has changed any: then they are everybody's. */
		h->tree_caps_known = !atomic_load(&r->sup->creds_changed);
	}
	if (h->creds_seen) {
		r->worker->fsuid_now = h->creds.fsuid;
		r->worker->fsgid_now = h->creds.fsgid;
		return wear_on(h->wear, &h->creds);
	}
	return wear_caps(h->wear, h->tree_caps);
}

bool hand_begin(struct request *r, int error)
{
	r->reply.value = error;
	if (error == 0 && hand_on(r) != 0)
		r->reply.value = -EIO;
	return r->reply.value == 0;
}

int hand_on_named(struct request *r)
{
	struct hand *h = hand_of(r->worker);
	int err = hand_on(r);

	return err || !r->sup->as_root || !h->creds_seen ? err : wear_names(h->wear, &h->creds);
}

int hand_on_real(struct request *r)
{
	struct hand *h = hand_of(r->worker);
	struct caller_creds real;

	if (!h)
		return -ERR_NOMEM;
	if (!r->sup->as_root || !h->creds_seen)
		return hand_on(r);
	real = h->creds;
	real.fsuid = h->creds.ruid;
	real.fsgid = h->creds.rgid;
	/* The kernel gives a real user 0 its permitted set, and others none. */
	real.cap_effective = real.ruid == 0 ? h->creds.cap_permitted : 0;
	return wear_on(h->wear, &real);
}

pid_t hand_tgid(struct request *r)
{
	if (r->caller.tgid == 0)
		r->caller.tgid = caller_tgid(r->call->tid);
	return r->caller.tgid;
}

void hand_off(struct request *r)
{
	struct hand *h = hand_of(r->worker);

	if (!h || !r->sup->as_root)
		return;
	/* Taking capabilities off and on again costs more than most calls.  While
	 * no caller has changed its own, the tree's are left on: what wary does
	 * for itself between calls (reading callers, their descriptors) asks for
	 * no more than the callers have (ptrace(2), access mode checking). */
	h->kept_on = h->tree_caps_known && !h->creds_seen && !atomic_load(&r->sup->creds_changed);
	if (!h->kept_on)
		wear_off(h->wear);
}

static bool in_tree(void *ctx, pid_t pid)
{
	const struct supervisor *s = ctx;

	return lineage_in_tree(s->lineage, pid, s->guardian_pid);
}

void hand_env(struct request *r, struct place_env *env)
{
	const struct hand *h = hand_of(r->worker);

	invariant(h != NULL);
	*env = (struct place_env){
		.tid = r->call->tid,
		.tgid = r->caller.tgid,
		.fsuid = h->creds_seen ? h->creds.fsuid : h->own_fsuid,
		.root_fd = h->root_fd,
		.self_fd_dir = r->worker->proc_self_fd_dir,
		.proc_dev = r->sup->proc_dev,
		.protected_links = h->rules.links,
		.in_tree = in_tree,
		.ctx = r->sup,
	};
}

void hand_env_done(struct request *r, const struct place_env *env)
{
	if (env->tgid > 0)
		r->caller.tgid = env->tgid;
}

const struct hand_rules *hand_rules(struct request *r)
{
	return &hand_of(r->worker)->rules;
}

/* FNV-1a of the folder's name; never 0. */
static uint32_t folder_hash(const char *name)
{
	const char *end = strrchr(name, '/');
	uint32_t h = 2166136261u;

	for (const char *s = name; s < end; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ? h : 1;
}

bool hand_is_linked(struct request *r, const char *name)
{
	const struct hand *h = hand_of(r->worker);
	uint32_t hash = folder_hash(name);

	return h && h->linked[hash % LINKED_N] == hash;
}

void hand_note_linked(struct request *r, const char *name)
{
	struct hand *h = hand_of(r->worker);
	uint32_t hash = folder_hash(name);

	if (h)
		h->linked[hash % LINKED_N] = hash;
}

void hand_self_path(int fd, char out[32])
{
	snprintf(out, 32, "/proc/self/fd/%d", fd);
}
