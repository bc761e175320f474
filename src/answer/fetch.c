#include "answer/fetch.h"

#include "answer/hand.h"
#include "base/own.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/canon.h"
#include "tracee/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

USES(fcntl_dup);

/* No longer than a page, as the kernel's copy_struct_from_user is used. */
#define EXTENSIBLE_MAX_BYTES 4096u

int fetch_result(struct request *r, int err)
{
	if (err >= 0 || err <= -ERR_BASE)
		return err;
	r->reply.value = err;
	return 1;
}

uint64_t fetch_arg(const struct request *r, enum call_role role)
{
	uint64_t v;

	return call_arg(r->call, role, &v) ? v : 0;
}

int fetch_flags(const struct request *r)
{
	return (int)(uint32_t)fetch_arg(r, ROLE_FLAGS);
}

int fetch_text(struct request *r, enum call_role role, char *out, size_t cap_bytes)
{
	struct tracee_addr a = {fetch_arg(r, role)};
	ssize_t n = mem_read_string(&r->mem, a, out, cap_bytes);

	return n < 0 ? (int)n : 0;
}

int fetch_bytes(struct request *r, enum call_role role, void *out, size_t len_bytes)
{
	struct tracee_addr a = {fetch_arg(r, role)};

	return mem_read(&r->mem, a, out, len_bytes);
}

int fetch_extensible(struct request *r, void *out, size_t known_bytes)
{
	uint64_t size = fetch_arg(r, ROLE_SIZE);
	unsigned char bytes[EXTENSIBLE_MAX_BYTES];
	int err;

	if (size < known_bytes)
		return -EINVAL;
	if (size > sizeof bytes)
		return -E2BIG;
	err = fetch_bytes(r, ROLE_HOW, bytes, size);
	if (err != 0)
		return err;
	for (size_t i = known_bytes; i < size; i++)
		if (bytes[i] != 0)
			return -E2BIG;
	memcpy(out, bytes, known_bytes);
	return 0;
}

int fetch_base(struct request *r, unsigned i, enum call_role dirfd, unsigned flags)
{
	struct place *p = &r->target.place[i];
	uint64_t v;
	int fd;

	if (!p->text[0] && !(flags & PLACE_EMPTY))
		return -ENOENT;
	if (p->text[0] == '/' && !(flags & PLACE_IN_ROOT))
		return 0;
	fd = call_arg(r->call, dirfd, &v) ? (int)(uint32_t)v : AT_FDCWD;
	fd = fd_open_path(r->call->tid, fd);
	if (fd < 0)
		return fd;
	p->base_fd = fd;
	return 0;
}

int fetch_name(struct request *r, unsigned i, enum call_role path, enum call_role dirfd,
               unsigned flags)
{
	struct place *p = &r->target.place[i];
	int err = fetch_text(r, path, p->text, sizeof p->text);

	return err != 0 ? err : fetch_base(r, i, dirfd, flags);
}

int fetch_object(struct request *r, enum call_role role)
{
	int fd = fd_get(r->call->tid, (int)(uint32_t)fetch_arg(r, role));

	if (fd < 0)
		return fd;
	fd_drop(&r->target.object_fd);
	r->target.object_fd = fd;
	return 0;
}

int fetch_end(struct request *r, unsigned need)
{
	int err = hand_fetch(r, need);

	return err != 0 ? err : mem_valid(&r->mem);
}

/* What any listing of processes looks at: not worth a line on the terminal. */
static bool is_harmless(const struct place *p)
{
	static const char *const names[] = {"",         "/stat",      "/status", "/statm",
	                                    "/cmdline", "/comm",      "/cgroup", "/loginuid",
	                                    "/wchan",   "/sessionid", "/task",   "/ns"};
	const char *below;

	if (canon_proc_pid(p->canon, &below) == 0)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(below, names[i]) == 0)
			return true;
	return false;
}

/* Processes outside the tree are as good as not there: what only lists them
 * hears that they have gone, whatever would look into them is refused. */
static int refuse_outside(struct place *p)
{
	if (!p->outside)
		return 0;
	p->error = -ENOENT;
	return is_harmless(p) ? -ENOENT : -ERR_PERM;
}

/* The memory of another process is nobody's business, also within the tree:
 * one of them may hold a secret that was meant for it alone. */
static int refuse_memory(struct place *p, dev_t proc_dev)
{
	static const char *const names[] = {"/mem", "/pagemap", "/map_files"};
	const char *below;

	if (p->proc_own || p->proc_pid == 0 || p->st.st_dev != proc_dev)
		return 0;
	if (canon_proc_pid(p->canon, &below) == 0)
		return 0;
	if (strncmp(below, "/task/", 6) == 0)
		below = strchrnul(below + 6, '/');
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(below, names[i], strlen(names[i])) == 0)
			return -ERR_PERM;
	return 0;
}

static int refuse_proc(struct request *r, struct place *p)
{
	int err = refuse_outside(p);

	if (err == 0 && p->fd >= 0)
		err = refuse_memory(p, r->sup->proc_dev);
	if (err != 0) /* for the record: what was refused */
		(void)state(r, CLASS_READ, p);
	return err;
}

int fetch_resolve(struct request *r, unsigned i, unsigned flags, uint64_t resolve)
{
	struct place *p = &r->target.place[i];
	struct place_env env;
	int err = hand_on(r);

	if (err != 0)
		return err;
	hand_env(r, &env);
	place_resolve(p, &env, flags, resolve);
	hand_off(r);
	hand_env_done(r, &env);
	return refuse_proc(r, p);
}

int fetch_one(struct request *r, unsigned flags, unsigned need)
{
	int err = fetch_name(r, 0, ROLE_PATH, ROLE_DIRFD, flags);

	if (err == 0)
		err = fetch_end(r, need);
	return err != 0 ? err : fetch_resolve(r, 0, flags, 0);
}

int fetch_place_of_object(struct request *r)
{
	struct place *p = &r->target.place[0];
	struct place_env env;
	int fd = fcntl(r->target.object_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -ERR_NOFD;
	hand_env(r, &env);
	place_of_fd(p, &env, fd);
	hand_env_done(r, &env);
	/* A descriptor of the caller's: whose object it is was decided then. */
	p->outside = false;
	return 0;
}

struct facts *state(struct request *r, enum policy_class class, const struct place *p)
{
	struct facts *f = request_add_fact(r, class, p->canon);

	invariant(f != NULL);
	if (p->fd >= 0 && !p->unnamed) {
		f->object_is_dir = S_ISDIR(p->st.st_mode);
		f->dev = p->st.st_dev;
		f->ino = p->st.st_ino;
	}
	return f;
}

int state_links(struct request *r, enum policy_class class, const struct place *p)
{
	for (unsigned i = 0; i < p->links_n; i++) {
		struct facts *f = request_add_fact(r, class, p->links[i]);
		struct verdict v;

		if (!f)
			return -ERR_BOUND;
		f->via_link = true;
		lineage_facts(r->caller.program, f);
		policy_decide(r->sup->policy, f, &v);
		if (v.answer == ANSWER_ALLOW || v.is_default)
			r->facts_n--; /* nothing speaks of it: no question */
	}
	return 0;
}

int state_failed(struct request *r, const struct place *p)
{
	(void)state(r, CLASS_STAT, p);
	return state_links(r, CLASS_STAT, p);
}

void state_call(struct request *r)
{
	invariant(request_add_fact(r, CLASS_SYSCALL, r->call->row->name) != NULL);
}

void fetch_last_name(const struct place *p, char out[PLACE_NAME_MAX + 1])
{
	bool add = p->slash && strcmp(p->name, "/") != 0;

	snprintf(out, PLACE_NAME_MAX + 1, "%s%s", p->name, add ? "/" : "");
}
