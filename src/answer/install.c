#include "answer/install.h"

#include "answer/fixed.h"
#include "answer/hand.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"
#include "package/list.h"
#include "supervise.h"
#include "tracee/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

USES(open_read);

/* Lock files of large projects have a few megabytes. */
#define FILE_MAX_BYTES ((size_t)16 << 20)

/* ---- the project's files, as the caller sees them --------------------- */

struct looking {
	struct request *r;
	struct place_env env;
};

/* An O_PATH descriptor of a name, or -1. @fixed: set where it is found; NULL. */
static int find(struct looking *l, const char *path, struct stat *st, bool *fixed)
{
	struct place *p = calloc(1, sizeof *p);
	size_t len = strlen(path);
	int fd = -1;

	if (!p)
		return -1;
	place_init(p);
	if (len < sizeof p->text) {
		memcpy(p->text, path, len + 1);
		if (path[0] != '/')
			p->base_fd = fd_open_path(l->r->call->tid, AT_FDCWD);
		if (path[0] == '/' || p->base_fd >= 0)
			place_resolve(p, &l->env, PLACE_FOLLOW, 0);
		if (p->fd >= 0 && !p->error && !p->outside) {
			*st = p->st;
			if (fixed)
				*fixed = fixed_file(l->r->sup, p);
			fd = fd_take(&p->fd);
		}
	}
	place_done(p);
	free(p);
	return fd;
}

static char *read_file(void *ctx, const char *path, size_t *len_bytes)
{
	struct looking *l = ctx;
	struct stat st;
	auto_fd at = find(l, path, &st, NULL);
	auto_fd fd = -1;
	auto_buf text = {.max_bytes = FILE_MAX_BYTES};
	char self[32];

	if (at < 0 || !S_ISREG(st.st_mode))
		return NULL;
	hand_self_path(at, self);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || buf_read_file(&text, fd) != 0)
		return NULL;
	*len_bytes = text.len_bytes;
	return buf_take(&text);
}

static bool exists(void *ctx, const char *path)
{
	struct stat st;
	auto_fd fd = find(ctx, path, &st, NULL);

	return fd >= 0;
}

static bool is_fixed(void *ctx, const char *path)
{
	struct stat st;
	bool fixed = false;
	auto_fd fd = find(ctx, path, &st, &fixed);

	return fd >= 0 && fixed;
}

/* ---- what is installed ------------------------------------------------ */

static void program_of(const struct execution *x, struct package_program *out)
{
	const struct program *p = x->program;

	*out = (struct package_program){
		.image = x->identity.path,
		.script = x->identity.script,
		.invoked = p->filename,
		.argv = x->identity.argv,
		.argc = x->identity.argc,
	};
	if (p->loaded) { /* started by a loader as a program */
		out->image = p->loaded->place.canon;
		out->invoked = p->loaded->place.text;
		out->argv = p->loaded->argv;
		out->argc = p->loaded->argc;
	}
}

int install_fetch_environment(struct request *r, struct execution *x)
{
	uint64_t addr = 0;
	int err;

	if (x->envp_known)
		return 0;
	(void)call_arg(r->call, ROLE_ENVP, &addr);
	err = argv_read(&r->mem, (struct tracee_addr){addr}, &x->envp);
	x->envp_known = err == 0;
	return err;
}

static int recognise(struct request *r, struct execution *x, const struct package_program *program)
{
	struct looking l = {.r = r};
	struct package_world world = {
		.ctx = &l,
		.envp = x->envp.items,
		.read = read_file,
		.exists = exists,
		.fixed = is_fixed,
	};
	int err = hand_on(r);

	if (err)
		return err;
	hand_env(r, &l.env);
	err = package_recognise(program, &world, &x->packages);
	hand_env_done(r, &l.env);
	hand_off(r);
	return err;
}

static void hash_text(crypto_generichash_state *h, const char *text)
{
	static const char none[] = "\377";

	if (!text)
		text = none;
	crypto_generichash_update(h, (const unsigned char *)text, strlen(text) + 1);
}

/* Stands for everything that the questions say. */
static void digest(const struct package_list *l, uint8_t out[LINEAGE_ASKED_BYTES])
{
	crypto_generichash_state h;

	crypto_generichash_init(&h, NULL, 0, LINEAGE_ASKED_BYTES);
	hash_text(&h, l->manager);
	for (size_t i = 0; i < l->n; i++) {
		const struct package *p = &l->items[i];

		hash_text(&h, p->name);
		hash_text(&h, p->version);
		hash_text(&h, p->registry);
	}
	crypto_generichash_final(&h, out, LINEAGE_ASKED_BYTES);
}

static bool is_below(const struct lineage_entry *e, const char *mark)
{
	for (const char *const *u = e ? e->under : NULL; u && *u; u++)
		if (strcmp(*u, mark) == 0)
			return true;
	return false;
}

static enum fact_state state_of(bool is)
{
	return is ? FACT_YES : FACT_NO;
}

static int ask(struct request *r, struct execution *x, const struct package *p, bool below)
{
	struct buf object = BUF_INIT;
	const char *text;
	struct facts *f;

	buf_fmt(&object, "%s:%s", x->packages.manager, p->name);
	text = list_str(&x->packages, buf_text(&object));
	buf_free(&object);
	f = text ? request_add_fact(r, CLASS_INSTALL, text) : NULL;
	if (!f)
		return -ERR_NOMEM;
	f->package = (struct facts_package){
		.manager = x->packages.manager,
		.name = p->name,
		.version = p->version,
		.registry = p->registry,
		.unpinned = state_of(p->unpinned),
		.is_new = FACT_UNKNOWN,
		.git = state_of(p->git),
		.url = state_of(p->url),
		.path = state_of(p->path),
		.script = p->has_script ? FACT_YES : FACT_UNKNOWN,
		.lookalike = FACT_UNKNOWN,
		.dependency = p->dependency || below,
		.root = p->root,
		.root_version = p->root_version,
	};
	return 0;
}

int install_prepare(struct request *r, struct execution *x)
{
	const struct lineage_entry *before = r->caller.program;
	struct package_program program;
	const char *manager;
	int err;

	program_of(x, &program);
	manager = package_manager_of(&program);
	if (!manager)
		return 0;
	err = install_fetch_environment(r, x);
	if (!err)
		err = recognise(r, x, &program);
	if (!err)
		err = mem_valid(&r->mem);
	if (err || !x->packages.installs)
		return err;
	snprintf(x->mark, sizeof x->mark, "install:%s", manager);
	digest(&x->packages, x->asked);
	x->asked_before = before && before->tgid == r->caller.tgid &&
	                  memcmp(before->asked, x->asked, sizeof x->asked) == 0;
	for (size_t i = 0; !err && i < x->packages.n && !x->asked_before; i++)
		err = ask(r, x, &x->packages.items[i], is_below(before, x->mark));
	return err;
}

int install_note(struct request *r, const struct execution *x)
{
	for (size_t i = 0; i < x->packages.n && !x->asked_before; i++) {
		const struct package *p = &x->packages.items[i];
		struct buf object = BUF_INIT;
		struct audit_event e = {
			.kind = AUDIT_PACKAGE,
			.class = CLASS_INSTALL,
			.answer = ANSWER_ALLOW,
			.pid = r->caller.tgid,
			.tid = r->call->tid,
			.uid = r->worker->fsuid_now,
			.program = x->identity.path,
			.syscall = r->call->row->name,
			.object2 = p->version,
			.reason = p->dependency,
		};
		int err;

		buf_fmt(&object, "%s:%s", x->packages.manager, p->name);
		e.object = buf_text(&object);
		err = audit_note(r->sup->audit, &e, 0);
		buf_free(&object);
		if (err)
			return err;
	}
	return 0;
}

const char *install_registry(const struct execution *x)
{
	const struct package_list *l = &x->packages;
	const char *first = l->n ? l->items[0].registry : NULL;

	for (size_t i = 1; first && i < l->n; i++)
		if (!l->items[i].registry || strcmp(l->items[i].registry, first) != 0)
			first = NULL;
	return first;
}

/* Variables that a manager takes settings from. */
static bool is_setting(const char *entry)
{
	static const char *const prefixes[] = {
		"npm_lifecycle_event=",
		"npm_package_",
		"npm_config_",
		"pip_",
		"uv_",
		"yarn_",
		"bun_",
		"home=",
		"xdg_",
		"virtual_env=",
		"conda_",
		"poetry_",
		"pdm_",
		"pipx_",
		"node_options=",
		"pythonpath=",
	};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncasecmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

bool install_same(const struct execution *x, const struct startup *s)
{
	size_t k = 0;

	if (!x->mark[0])
		return true;
	for (size_t i = 0; i < x->envp.n; i++) {
		if (!is_setting(x->envp.items[i]))
			continue;
		while (k < s->envc && !is_setting(s->envp[k]))
			k++;
		if (k == s->envc || strcmp(x->envp.items[i], s->envp[k]) != 0)
			return false;
		k++;
	}
	while (k < s->envc && !is_setting(s->envp[k]))
		k++;
	return k == s->envc;
}
