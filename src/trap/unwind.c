#include "trap/unwind.h"

#include "base/own.h"
#include "base/text.h"
#include "trap/symbol.h"
#include "trap/unwinder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_CHARS 120

struct unwind {
	struct unwinder lib;
	unw_addr_space_t space;
	bool (*fixed)(const void *ctx, const char *path);
	const void *ctx;
};

/* One line of maps. */
struct module {
	uint64_t from, to, offset;
	const char *name; /* into the text */
	size_t name_len;
};

struct walk {
	const struct unwind *unwind;
	const char *maps;
	unsigned reads;
};

/* Of this thread's walk: libunwind hands its own argument through, which has no
 * room for ours. */
static _Thread_local struct walk *walking;

static bool module_at(const char *maps, uint64_t ip, struct module *m)
{
	for (const char *line = maps; line && *line;) {
		int at = 0;
		const char *end = strchr(line, '\n');
		size_t len = end ? (size_t)(end - line) : strlen(line);

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &m->from,
		           &m->to, &m->offset, &at) == 3 &&
		    ip >= m->from && ip < m->to && (size_t)at <= len) {
			m->name = line + at;
			m->name_len = len - (size_t)at;
			return true;
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

static bool path_of(const struct module *m, char path[PATH_MAX])
{
	if (m->name_len == 0 || m->name_len >= PATH_MAX || m->name[0] != '/')
		return false;
	memcpy(path, m->name, m->name_len);
	path[m->name_len] = '\0';
	return true;
}

/* Whether libunwind may open and parse the file at @ip. */
static bool is_trusted(const struct walk *w, uint64_t ip)
{
	static const char *const places[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/"};
	struct module m;
	char path[PATH_MAX];
	struct stat st;

	if (!module_at(w->maps, ip, &m) || !path_of(&m, path))
		return false;
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (text_starts(path, places[i]))
			return w->unwind->fixed(w->unwind->ctx, path);
	return false;
}

/* ---- what libunwind calls ---------------------------------------------- */

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *out, int need,
                          void *arg)
{
	if (!is_trusted(walking, ip))
		return -UNW_ENOINFO;
	return walking->unwind->lib._UPT_find_proc_info(space, ip, out, need, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	walking->unwind->lib._UPT_put_unwind_info(space, info, arg);
}

/* Tables that come with code made at run time lie in the child's memory alone. */
static int no_dynamic_list(unw_addr_space_t space, unw_word_t *out, void *arg)
{
	(void)space;
	(void)out;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write,
                      void *arg)
{
	if (write || walking->reads++ >= UNWIND_READS_MAX)
		return -UNW_EINVAL;
	return walking->unwind->lib._UPT_access_mem(space, at, value, 0, arg);
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
                      void *arg)
{
	if (write)
		return -UNW_EREADONLYREG;
	return walking->unwind->lib._UPT_access_reg(space, reg, value, 0, arg);
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
                        void *arg)
{
	if (write)
		return -UNW_EREADONLYREG;
	return walking->unwind->lib._UPT_access_fpreg(space, reg, value, 0, arg);
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
                   unw_word_t *offset, void *arg)
{
	(void)space;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_dynamic_list,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = no_resume,
	.get_proc_name = no_name,
};

/* ---- the walk ---------------------------------------------------------- */

/* "libc.so.6+0x12345 openat" */
static void describe(const struct walk *w, uint64_t ip, struct buf *out)
{
	struct module m;
	char path[PATH_MAX];
	const char *last;
	auto_free char *name = NULL;

	if (!module_at(w->maps, ip, &m)) {
		buf_fmt(out, "0x%" PRIx64, ip);
		return;
	}
	last = memrchr(m.name, '/', m.name_len);
	last = last ? last + 1 : m.name;
	if (m.name_len)
		text_printable(out, last, m.name_len - (size_t)(last - m.name), NAME_MAX_CHARS);
	else
		buf_str(out, "(no file)");
	buf_fmt(out, "+0x%" PRIx64, ip - m.from + m.offset);
	if (!path_of(&m, path))
		return;
	name = symbol_at(path, ip - m.from + m.offset);
	if (name) {
		buf_chr(out, ' ');
		text_printable(out, name, strlen(name), NAME_MAX_CHARS);
	}
}

void unwind_walk(struct unwind *u, pid_t tid, const char *maps, int frames_max, struct buf *out)
{
	struct walk w = {.unwind = u, .maps = maps};
	const struct unwinder *lib = &u->lib;
	void *upt = lib->_UPT_create(tid);
	unw_cursor_t cursor;

	if (!upt)
		return;
	walking = &w;
	if (lib->unw_init_remote(&cursor, u->space, upt) == 0) {
		for (int i = 0; i < frames_max; i++) {
			unw_word_t ip = 0;

			if (lib->unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
				break;
			buf_fmt(out, "#%d  ", i);
			describe(&w, ip, out);
			buf_chr(out, '\n');
			if (lib->unw_step(&cursor) <= 0)
				break;
		}
	}
	lib->unw_flush_cache(u->space, 0, 0);
	walking = NULL;
	lib->_UPT_destroy(upt);
}

int unwind_new(bool (*fixed)(const void *ctx, const char *path), const void *ctx,
               struct unwind **out, const char **why)
{
	struct unwind *u = calloc(1, sizeof *u);
	int err;

	*why = "out of memory";
	if (!u)
		return -ERR_NOMEM;
	u->fixed = fixed;
	u->ctx = ctx;
	err = unwinder_load(&u->lib, why);
	if (!err) {
		u->space = u->lib.unw_create_addr_space(&accessors, 0);
		err = u->space ? 0 : -ERR_NOMEM;
	}
	if (err) {
		free(u);
		return err;
	}
	*out = u;
	return 0;
}

void unwind_free(struct unwind *u)
{
	if (!u)
		return;
	u->lib.unw_destroy_addr_space(u->space);
	free(u);
}
