#include "ask/wording.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM_MAX 40
#define ARG_MAX_CHARS 80
#define LINEAGE_MAX 6

/* What a program does to an object of a class: "may not …", "wants to …". */
static const char *const verbs[CLASS_COUNT] = {
	[CLASS_READ] = "read",
	[CLASS_WRITE] = "write",
	[CLASS_CREATE] = "create",
	[CLASS_DELETE] = "delete",
	[CLASS_ATTR] = "change the attributes of",
	[CLASS_LINK] = "make another name for",
	[CLASS_STAT] = "look at",
	[CLASS_EXEC] = "run",
	[CLASS_CONNECT] = "connect to",
	[CLASS_BIND] = "listen on",
	[CLASS_RESOLVE] = "look up",
	[CLASS_INSTALL] = "install",
	[CLASS_SCRIPT] = "run the install script of",
	[CLASS_SECRET] = "get the secret",
	[CLASS_IPC] = "use",
	[CLASS_SYSCALL] = "call",
};

/* Cuts the middle out of printable text: "/very/lo…/the/end". */
static void cut_middle(struct buf *out, const char *text, size_t max_chars)
{
	size_t len = strlen(text);
	size_t chars = 0;
	size_t head = 0;
	size_t tail = len;

	for (size_t i = 0; i < len; i++)
		chars += ((unsigned char)text[i] & 0xc0) != 0x80;
	if (!max_chars || chars <= max_chars) {
		buf_str(out, text);
		return;
	}
	for (size_t n = max_chars / 2; n && head < len; n--)
		do
			head++;
		while (((unsigned char)text[head] & 0xc0) == 0x80);
	for (size_t n = max_chars - max_chars / 2; n && tail > head; n--)
		do
			tail--;
		while (tail > head && ((unsigned char)text[tail] & 0xc0) == 0x80);
	buf_add(out, text, head);
	buf_str(out, "…");
	buf_str(out, text + tail);
}

void wording_path(struct buf *out, const char *path, const char *home, size_t max_chars)
{
	auto_buf shown = BUF_INIT;
	size_t len = home ? strlen(home) : 0;

	if (len > 1 && strncmp(path, home, len) == 0 && (path[len] == '/' || !path[len])) {
		buf_chr(&shown, '~');
		path += len;
	}
	text_printable(&shown, path, strlen(path), 0);
	cut_middle(out, buf_text(&shown) ? buf_text(&shown) : "(a very long name)", max_chars);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *program_name(const struct facts_program *p)
{
	const char *path = p->script ? p->script : p->path;

	return path ? last_part(path) : "an unknown program";
}

/* The innermost "script:" mark: the package whose install script this is. */
static const char *script_mark(const struct facts *f)
{
	for (const char *const *u = f->under; u && *u; u++)
		if (text_starts(*u, "script:"))
			return *u + strlen("script:");
	return NULL;
}

void wording_who(struct buf *out, const struct facts *f, pid_t pid)
{
	const char *name = program_name(&f->by);
	const char *script = script_mark(f);

	text_printable(out, name, strlen(name), PROGRAM_MAX);
	if (!pid && !script)
		return;
	buf_str(out, " (");
	if (pid)
		buf_fmt(out, "%d", (int)pid);
	if (script) {
		buf_str(out, pid ? ", install script of " : "install script of ");
		text_printable(out, script, strlen(script), PROGRAM_MAX);
	}
	buf_chr(out, ')');
}

static void address(struct buf *out, const struct facts *f)
{
	const char *const *hosts = f->addr.hosts;

	if (hosts && hosts[0]) {
		text_printable(out, hosts[0], strlen(hosts[0]), WORDING_OBJECT_MAX);
		buf_fmt(out, ":%u (", f->addr.port);
		text_printable(out, f->object, strlen(f->object), WORDING_OBJECT_MAX);
		buf_chr(out, ')');
	} else {
		text_printable(out, f->object, strlen(f->object), WORDING_OBJECT_MAX);
	}
}

void wording_object(struct buf *out, const struct facts *f, const char *home)
{
	if (f->class == CLASS_CONNECT || f->class == CLASS_BIND)
		address(out, f);
	else
		wording_path(out, f->object, home, WORDING_OBJECT_MAX);
}

void wording_what(struct buf *out, const struct facts *f, const char *home)
{
	buf_str(out, verbs[f->class]);
	buf_chr(out, ' ');
	wording_object(out, f, home);
	if (f->via_link)
		buf_str(out, " (a link)");
}

void wording_rule(struct buf *out, const struct verdict *v)
{
	const char *file = v->file ? v->file : "built in";

	text_printable(out, file, strlen(file), WORDING_OBJECT_MAX);
	if (v->line)
		buf_fmt(out, ":%u", v->line);
	if (v->text) {
		buf_str(out, v->line ? "  " : ": ");
		text_printable(out, v->text, strlen(v->text), WORDING_OBJECT_MAX);
	}
}

void wording_lineage(struct buf *out, const struct facts *f)
{
	const char *names[LINEAGE_MAX];
	size_t n = 0;

	for (const char *const *u = f->under; u && *u && n < LINEAGE_MAX; u++)
		if (**u == '/')
			names[n++] = last_part(*u);
	if (!f->under_known)
		buf_str(out, "(unknown) → ");
	else if (n == LINEAGE_MAX)
		buf_str(out, "… → ");
	while (n--) {
		text_printable(out, names[n], strlen(names[n]), PROGRAM_MAX);
		buf_str(out, " → ");
	}
	if (f->by.argc)
		wording_command(out, &f->by, 0);
	else
		wording_who(out, f, 0);
}

static bool is_plain(const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789@%+=:,./_-";

	return *arg && strspn(arg, plain) == strlen(arg);
}

void wording_command(struct buf *out, const struct facts_program *p, size_t max_chars)
{
	const char *name = program_name(p);

	text_printable(out, name, strlen(name), PROGRAM_MAX);
	for (size_t i = 1; i < p->argc; i++) {
		const char *arg = p->argv[i];

		if (max_chars && out->len_bytes > max_chars) {
			buf_str(out, " …");
			return;
		}
		buf_str(out, is_plain(arg) ? " " : " \"");
		text_printable(out, arg, strlen(arg), max_chars ? max_chars : ARG_MAX_CHARS);
		if (!is_plain(arg))
			buf_chr(out, '"');
	}
	if (!p->argv_whole && p->argc)
		buf_str(out, " …");
}
