#include "answer/program.h"

#include "answer/fetch.h"
#include "answer/fixed.h"
#include "answer/hand.h"
#include "answer/images.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "supervise.h"
#include "tracee/fd.h"
#include "tracee/ldso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

USES(faccessat2, fcntl_dup, open_read, pread64, readlinkat);

/* How a name is looked up for one exec. */
struct search {
	struct request *r;
	struct place_env env;
	char text[PATH_MAX];         /* the name that the caller gave */
	int base_fd;                 /* the search's: where a relative one begins; or -1 */
	int cwd_fd;                  /* the caller's folder, or a negative errno */
	int dirfd;                   /* the caller's number of it */
	int argv_err;                /* reported after the named file's own */
	struct program_file *failed; /* what it came to an end at; or NULL */
};

/* ---- memory ----------------------------------------------------------- */

static struct program_file *file_new(void)
{
	struct program_file *f = calloc(1, sizeof *f);

	if (f)
		place_init(&f->place);
	return f;
}

static void file_free(struct program_file *f)
{
	if (!f)
		return;
	file_free(f->loader);
	place_done(&f->place);
	free(f->argv);
	free(f);
}

struct program *program_new(void)
{
	return calloc(1, sizeof(struct program));
}

void program_free(void *p)
{
	struct program *program = p;

	if (!program)
		return;
	for (unsigned i = 0; i < program->files_n; i++)
		file_free(program->files[i]);
	file_free(program->loader);
	file_free(program->loaded);
	file_free(program->failed);
	argv_free(&program->argv);
	free(program);
}

/* ---- one file --------------------------------------------------------- */

static int access_errno(int fd, int mode)
{
	return syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0 ? 0 : -errno;
}

static ssize_t read_fd(void *ctx, void *out, size_t len_bytes, uint64_t at)
{
	return pread(*(const int *)ctx, out, len_bytes, (off_t)at);
}

/* Whether this caller, whose credentials are worn, may execute it.  A program
 * that its user may not read makes the process opaque, and wary blind (law 1). */
static int may_execute(const struct program_file *f)
{
	int err = access_errno(f->place.fd, R_OK | X_OK);

	if (err == -EACCES)
		err = access_errno(f->place.fd, X_OK) ? -EACCES : -ERR_PERM;
	return err;
}

/* Whether it was executed before: its loader is then known as well. */
static bool know(const struct search *s, struct program_file *f)
{
	struct program_file *loader = s->r->sup->images ? file_new() : NULL;

	if (!loader)
		return false;
	f->kept = images_find(s->r->sup->images, &f->place, &f->image, &loader->place,
	                      &loader->image);
	if (f->kept && loader->place.canon[0])
		f->loader = loader;
	else
		file_free(loader);
	return f->kept;
}

/* Whether the kernel would execute it, and what it is. */
static int examine(const struct search *s, struct program_file *f)
{
	char path[32];
	auto_fd fd = -1;
	const struct image_source from = {.read_at = read_fd, .ctx = &fd};
	int err;

	if (f->place.outside)
		return -ERR_PERM;
	if (S_ISLNK(f->place.st.st_mode))
		return -ELOOP;
	if (!S_ISREG(f->place.st.st_mode))
		return -EACCES;
	err = may_execute(f);
	if (err)
		return err;
	if (know(s, f))
		return 0;
	hand_self_path(f->place.fd, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == EWOULDBLOCK ? -ERR_BUSY : -ERR_PERM;
	return image_parse(&from, &f->image);
}

/* Resolves and examines @text.  @base_fd: taken; -1 where it is not needed. */
static int find(struct search *s, const char *text, int base_fd, unsigned flags,
                struct program_file **out)
{
	struct program_file *f = file_new();
	size_t len = strlen(text);
	int err;

	if (!f || len >= sizeof f->place.text) {
		fd_drop(&base_fd);
		file_free(f);
		return f ? -ENAMETOOLONG : -ERR_NOMEM;
	}
	memcpy(f->place.text, text, len + 1);
	f->place.base_fd = base_fd;
	place_resolve(&f->place, &s->env, flags, 0);
	err = f->place.error ? f->place.error : examine(s, f);
	if (err)
		s->failed = f; /* the first error is the last */
	else
		*out = f;
	return err;
}

/* A name that is relative to the caller's folder. */
static int find_here(struct search *s, const char *text, struct program_file **out)
{
	int base_fd = -1;

	if (text[0] != '/') {
		if (s->cwd_fd < 0)
			return s->cwd_fd;
		base_fd = fcntl(s->cwd_fd, F_DUPFD_CLOEXEC, 0);
		if (base_fd < 0)
			return -ERR_NOFD;
	}
	return find(s, text, base_fd, PLACE_FOLLOW, out);
}

/* ---- arguments -------------------------------------------------------- */

static const char **list_new(size_t n)
{
	return calloc(n + 1, sizeof(const char *));
}

/* What the named file is started with.  An empty list gets one empty string,
 * as the kernel has it. */
static int arguments_first(struct program *p)
{
	struct program_file *f = p->files[0];
	size_t n = p->argv.n ? p->argv.n : 1;

	f->argv = list_new(n);
	if (!f->argv)
		return -ERR_NOMEM;
	f->argv[0] = "";
	for (size_t i = 0; i < p->argv.n; i++)
		f->argv[i] = p->argv.items[i];
	f->argc = n;
	return 0;
}

/* What the interpreter of a script is started with: its name, the one argument
 * of the #! line, the script's name in place of the first argument, the rest. */
static int arguments_next(const struct program_file *script, const char *script_name,
                          struct program_file *interp)
{
	const struct image *line = &script->image;
	const char **to = list_new(script->argc + 2);

	if (!to)
		return -ERR_NOMEM;
	interp->argv = to;
	*to++ = line->interp;
	if (line->has_arg)
		*to++ = line->arg;
	*to++ = script_name;
	for (size_t i = 1; i < script->argc; i++)
		*to++ = script->argv[i];
	interp->argc = (size_t)(to - interp->argv);
	return 0;
}

/* The arguments of @from, from the one at @at on. */
static int arguments_copy(const struct program_file *from, size_t at, struct program_file *to)
{
	to->argv = list_new(from->argc - at);
	if (!to->argv)
		return -ERR_NOMEM;
	to->argc = from->argc - at;
	memcpy(to->argv, from->argv + at, to->argc * sizeof *from->argv);
	return 0;
}

/* ---- the chain -------------------------------------------------------- */

static int follow_scripts(struct search *s, struct program *p)
{
	const char *name = p->filename;

	while (program_image(p)->image.kind == IMAGE_SCRIPT) {
		const struct program_file *script = program_image(p);
		int err;

		if (p->files_n == PROGRAM_FILES_MAX)
			return -ELOOP;
		err = find_here(s, script->image.interp, &p->files[p->files_n]);
		if (err)
			return err;
		p->files_n++;
		err = arguments_next(script, name, p->files[p->files_n - 1]);
		if (err)
			return err;
		name = script->image.interp;
	}
	/* What a script was started as is gone: its interpreter gets the name that
	 * the kernel opened, and so does whoever compares (goes_on). */
	if (p->files_n > 1)
		p->files[0]->argv[0] = p->filename;
	return program_image(p)->image.kind == IMAGE_ELF ? 0 : -ENOEXEC;
}

/* What a loader that is itself the program will run. */
static int follow_loader(struct search *s, struct program *p)
{
	const struct program_file *f = program_image(p);
	size_t at;
	int err = ldso_target(f->argv, f->argc, &at);

	if (err || at == 0)
		return err;
	/* Without a slash it searches library folders: not to be foretold. */
	if (!strchr(f->argv[at], '/'))
		return -ERR_PERM;
	err = find_here(s, f->argv[at], &p->loaded);
	return err ? err : arguments_copy(f, at, p->loaded);
}

static int follow_elf(struct search *s, struct program *p)
{
	struct program_file *f = p->files[p->files_n - 1];
	int err;

	if (f->image.is_loader)
		return follow_loader(s, p);
	if (!f->image.interp[0])
		return 0;
	p->loader = f->loader;
	f->loader = NULL;
	err = p->loader ? 0 : find_here(s, f->image.interp, &p->loader);
	return err ? err : arguments_copy(f, 0, p->loader);
}

/* ---- the call --------------------------------------------------------- */

/* The name by which the kernel hands a script to its interpreter. */
static void name_script(struct program *p, const char *text, int dirfd)
{
	if (dirfd == AT_FDCWD || text[0] == '/')
		snprintf(p->filename, sizeof p->filename, "%s", text);
	else if (!text[0])
		snprintf(p->filename, sizeof p->filename, "/dev/fd/%d", dirfd);
	else
		snprintf(p->filename, sizeof p->filename, "/dev/fd/%d/%s", dirfd, text);
}

static int fetch_file_name(struct request *r, char text[PATH_MAX])
{
	uint64_t addr = 0;
	ssize_t n;

	(void)call_arg(r->call, ROLE_PATH, &addr);
	n = mem_read_string(&r->mem, (struct tracee_addr){addr}, text, PATH_MAX);
	return n < 0 ? (int)n : 0;
}

static int fetch_named(struct search *s)
{
	struct request *r = s->r;
	uint64_t dirfd;
	int err = fetch_file_name(r, s->text);

	if (err)
		return err;
	if (!call_arg(r->call, ROLE_DIRFD, &dirfd))
		dirfd = (uint64_t)AT_FDCWD;
	s->dirfd = (int)dirfd;
	if (!s->text[0] && !(r->flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (s->text[0] == '/')
		return 0;
	s->base_fd = fd_open_path(r->call->tid, s->dirfd);
	return s->base_fd < 0 ? s->base_fd : 0;
}

static int find_named(struct search *s, struct program *p)
{
	unsigned flags = s->r->flags & AT_SYMLINK_NOFOLLOW ? 0 : PLACE_FOLLOW;
	int base_fd = s->base_fd;
	int err;

	s->base_fd = -1;
	name_script(p, s->text, s->dirfd);
	err = find(s, s->text, base_fd, s->text[0] ? flags : flags | PLACE_EMPTY, &p->files[0]);
	if (!err)
		p->files_n = 1;
	return err;
}

static void fetch_cwd(struct request *r, struct program *p)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/cwd", r->call->tid);
	n = readlinkat(AT_FDCWD, path, p->cwd, sizeof p->cwd - 1);
	p->cwd[n > 0 ? n : 0] = '\0';
	r->cwd = p->cwd;
}

static int fetch_argv(struct request *r, struct program *p)
{
	uint64_t addr = 0;

	(void)call_arg(r->call, ROLE_ARGV, &addr);
	return argv_read(&r->mem, (struct tracee_addr){addr}, &p->argv);
}

/* In the order in which the kernel finds faults: the named file, the argument
 * list, then what the file leads to. */
static int find_all(struct search *s, struct program *p)
{
	int err = find_named(s, p);

	if (!err)
		err = s->argv_err;
	if (!err)
		err = arguments_first(p);
	if (!err)
		err = follow_scripts(s, p);
	if (!err)
		err = follow_elf(s, p);
	return err;
}

static void judge_fixed(struct request *r, struct program *p)
{
	const struct program_file *image = program_image(p);

	for (unsigned i = 0; i < p->files_n; i++)
		p->files[i]->fixed = fixed_file(r->sup, &p->files[i]->place);
	if (p->loader)
		p->loader->fixed = fixed_file(r->sup, &p->loader->place);
	/* The usual: a system's loader, which only does what the image is for. */
	p->loader_plain = p->loader && p->loader->fixed && p->loader->image.is_loader;
	if (r->sup->images && !image->kept)
		images_keep(r->sup->images, &image->place, &image->image,
		            p->loader ? &p->loader->place : NULL,
		            p->loader ? &p->loader->image : NULL);
}

/* A script's bytes can change after they were hashed, until its interpreter
 * reads them: only a fixed one has a hash.  An image's are compared once more
 * when it is loaded, since nobody can write to it then. */
static void hash(struct request *r, struct program_file *f)
{
	char path[32];
	auto_fd fd = -1;

	if (!f || f->place.fd < 0 || !r->sup->images ||
	    (f->image.kind == IMAGE_SCRIPT && !f->fixed))
		return;
	hand_self_path(f->place.fd, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	f->hashed = fd >= 0 && images_sha256(r->sup->images, &f->place, fd, f->sha256);
}

static void hash_all(struct request *r, struct program *p)
{
	for (unsigned i = 0; i < p->files_n; i++)
		hash(r, p->files[i]);
	hash(r, p->loaded);
}

int program_resolve(struct request *r, struct program *p)
{
	struct search s = {.r = r, .base_fd = -1};
	int err = hand_fetch(r, HAND_IDS);

	if (err)
		return err;
	hand_env(r, &s.env);
	fetch_cwd(r, p);
	/* All that lies in the caller is read before its ids are worn: with those
	 * wary may not read one that has given up root. */
	err = fetch_named(&s);
	if (err)
		return mem_valid(&r->mem) != 0 ? -ERR_GONE : err;
	s.argv_err = fetch_argv(r, p);
	s.cwd_fd = fd_open_path(r->call->tid, AT_FDCWD);
	err = hand_on(r);
	if (!err) {
		err = find_all(&s, p);
		p->failed = s.failed;
		hand_off(r);
	}
	fd_drop(&s.base_fd);
	fd_drop(&s.cwd_fd);
	hand_env_done(r, &s.env);
	if (mem_valid(&r->mem) != 0)
		return -ERR_GONE;
	if (!err) {
		judge_fixed(r, p);
		hash_all(r, p);
	}
	return err;
}

/* ---- questions -------------------------------------------------------- */

/* One name by which a file is started, with what the rules may look at. */
static struct facts *ask_name(struct request *r, const char *name, const struct program_file *f,
                              const struct program_file *image)
{
	struct facts *q = request_add_fact(r, CLASS_EXEC, name);

	if (q)
		q->target = (struct facts_program){
			.path = image->place.canon,
			.script = f == image ? NULL : f->place.canon,
			.fixed = f->fixed && image->fixed,
			.sha256 = f->hashed ? f->sha256 : NULL,
			.argv = f->argv,
			.argc = f->argc,
			.argv_whole = true,
		};
	return q;
}

/* @image: what is loaded for it: itself, or for a script the interpreter. */
static int ask_file(struct request *r, const struct program_file *f,
                    const struct program_file *image)
{
	struct facts *q = ask_name(r, f->place.canon, f, image);

	if (!q)
		return -ERR_NOMEM;
	q->dev = f->place.st.st_dev;
	q->ino = f->place.st.st_ino;
	for (unsigned i = 0; i < f->place.links_n; i++) {
		q = ask_name(r, f->place.links[i], f, image);
		if (!q)
			return -ERR_NOMEM;
		q->via_link = true;
	}
	return 0;
}

int program_failed(struct request *r, struct program *p, int err)
{
	const struct program_file *image = p->files_n ? program_image(p) : NULL;
	const struct program_file *last = p->failed ? p->failed : image;
	const struct program_file *first = p->files_n ? p->files[0] : last;
	int over;

	if (!last || err == -ERR_GONE || !last->place.canon[0])
		return err;
	if (err <= -ERR_BASE) {
		(void)state(r, CLASS_EXEC, &last->place); /* for the record: what was refused */
		return err;
	}
	p->error = err;
	(void)state(r, CLASS_STAT, &first->place);
	if (last != first)
		(void)state(r, CLASS_STAT, &last->place);
	/* What lies between as well: that it led further tells that it is there. */
	for (unsigned i = 1; i < p->files_n; i++)
		if (p->files[i] != last)
			(void)state(r, CLASS_STAT, &p->files[i]->place);
	over = state_links(r, CLASS_STAT, &last->place);
	for (unsigned i = 0; !over && i < p->files_n; i++)
		if (p->files[i] != last)
			over = state_links(r, CLASS_STAT, &p->files[i]->place);
	return over;
}

int program_facts(struct request *r, const struct program *p)
{
	int err = 0;

	for (unsigned i = 0; !err && i < p->files_n; i++)
		err = ask_file(r, p->files[i], program_image(p));
	if (!err && p->loader && !p->loader_plain)
		err = ask_file(r, p->loader, p->loader);
	if (!err && p->loaded)
		err = ask_file(r, p->loaded, p->loaded);
	return err;
}

/* ---- identity --------------------------------------------------------- */

/* Programs that start a script's interpreter by a search of PATH; the name is
 * that of the image, which can be one for many commands. */
static bool is_env(const char *path)
{
	static const char *const names[] = {"/env", "/coreutils", "/busybox"};
	const char *name = path ? strrchr(path, '/') : NULL;

	for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Whether @f is started as "interpreter [options] SCRIPT args" for the script
 * that env was started for, with the very same arguments. */
static bool goes_on(const struct program_file *f, const struct facts_program *env)
{
	size_t skip;

	if (!env->script || !is_env(env->path) || !env->argv_whole || f->argc <= env->argc)
		return false;
	skip = f->argc - env->argc;
	for (size_t i = 0; i < env->argc; i++)
		if (strcmp(f->argv[skip + i], env->argv[i]) != 0)
			return false;
	return true;
}

void program_identity(const struct supervisor *sup, const struct program *p,
                      const struct lineage_entry *before, struct facts_program *out)
{
	const struct program_file *image = program_image(p);
	const struct program_file *first = p->files[0];

	*out = (struct facts_program){
		.path = image->place.canon,
		.fixed = p->loader ? p->loader->fixed : true,
		.sha256 = first->hashed ? first->sha256 : NULL,
		.argv = first->argv,
		.argc = first->argc,
		.argv_whole = true,
	};
	for (unsigned i = 0; i < p->files_n; i++)
		out->fixed = out->fixed && p->files[i]->fixed;
	if (first != image) {
		out->script = first->place.canon;
		out->fixed = out->fixed && fixed_way(sup, &first->place);
	} else if (before && goes_on(image, &before->program)) {
		out->script = before->program.script;
		out->sha256 = before->program.sha256;
		out->argv = before->program.argv;
		out->argc = before->program.argc;
		out->fixed = out->fixed && before->program.fixed;
	}
	out->nameable = out->fixed && !policy_may_write(sup->policy, out->path) &&
	                (!out->script || !policy_may_write(sup->policy, out->script));
}
