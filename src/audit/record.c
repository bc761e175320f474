#include "audit/record.h"

#include "base/text.h"

#include <string.h>

static const char *const kinds[] = {
	[AUDIT_DECISION] = "decision", [AUDIT_PROCESS] = "process",   [AUDIT_PACKAGE] = "package",
	[AUDIT_GRANT] = "grant",       [AUDIT_QUESTION] = "question", [AUDIT_LIMIT] = "limit",
	[AUDIT_SESSION] = "session",
};

static const char *const classes[] = {
	[CLASS_READ] = "read",       [CLASS_WRITE] = "write",     [CLASS_CREATE] = "create",
	[CLASS_DELETE] = "delete",   [CLASS_ATTR] = "attr",       [CLASS_LINK] = "link",
	[CLASS_STAT] = "stat",       [CLASS_EXEC] = "exec",       [CLASS_CONNECT] = "connect",
	[CLASS_BIND] = "bind",       [CLASS_RESOLVE] = "resolve", [CLASS_INSTALL] = "install",
	[CLASS_SCRIPT] = "script",   [CLASS_SECRET] = "secret",   [CLASS_IPC] = "ipc",
	[CLASS_SYSCALL] = "syscall",
};
/* A new class gets a new bit at the end; old stores keep their meaning. */
_Static_assert(sizeof classes / sizeof classes[0] == CLASS_COUNT && CLASS_SYSCALL == 15,
               "every class has its bit");

static const char *const answers[] = {
	[ANSWER_ALLOW] = "allow",
	[ANSWER_ASK] = "ask",
	[ANSWER_DENY] = "deny",
	[ANSWER_KILL] = "kill",
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static int find(const char *const *table, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i], word) == 0)
			return (int)i;
	return -1;
}

const char *record_kind_name(unsigned kind)
{
	invariant(kind < COUNT(kinds));
	return kinds[kind];
}

const char *record_class_name(unsigned class)
{
	invariant(class < COUNT(classes));
	return classes[class];
}

const char *record_answer_name(unsigned answer)
{
	invariant(answer < COUNT(answers));
	return answers[answer];
}

int record_kind_find(const char *word)
{
	return find(kinds, COUNT(kinds), word);
}

int record_class_find(const char *word)
{
	return find(classes, COUNT(classes), word);
}

int record_answer_find(const char *word)
{
	return find(answers, COUNT(answers), word);
}

const char *record_judge_name(const struct record *r)
{
	const char *file = r->text[RECORD_RULE_FILE];

	if (r->head.bits & RECORD_BY_HUMAN)
		return "human";
	if (file && strcmp(file, "floor") == 0)
		return "floor";
	if (!file || strcmp(file, "default") == 0)
		return "default";
	return "rule";
}

int record_from_event(struct record *out, const struct audit_event *e, const char *argv)
{
	const char *const texts[RECORD_TEXTS] = {
		[RECORD_PROGRAM] = e->program,
		[RECORD_SYSCALL] = e->syscall,
		[RECORD_OBJECT] = e->object,
		[RECORD_OBJECT2] = e->object2,
		[RECORD_CWD] = e->cwd,
		[RECORD_ARGV] = argv,
		[RECORD_RULE_FILE] = e->rule_file,
		[RECORD_RULE_TEXT] = e->rule_text,
		[RECORD_STACK] = e->stack,
	};
	struct record_head *h = &out->head;

	invariant(e->kind < COUNT(kinds) && e->class < CLASS_COUNT && e->answer < COUNT(answers));
	*h = (struct record_head){
		.flags = e->flags,
		.pid = e->pid,
		.tid = e->tid,
		.ppid = e->ppid,
		.uid = e->uid,
		.rule_line = e->rule_line,
		.reason = e->reason,
		.kind = (uint8_t)e->kind,
		.class = (uint8_t)e->class,
		.answer = (uint8_t)e->answer,
		.bits = e->by_human ? RECORD_BY_HUMAN : 0,
	};
	for (unsigned i = 0; i < RECORD_TEXTS; i++) {
		size_t len = texts[i] ? strlen(texts[i]) : RECORD_NO_TEXT;

		if (texts[i] && len > RECORD_TEXT_MAX)
			return -ERR_BOUND;
		out->text[i] = texts[i];
		h->len_bytes[i] = (uint32_t)len;
	}
	if (e->sha256) {
		h->bits |= RECORD_HAS_SHA256;
		memcpy(h->sha256, e->sha256, sizeof h->sha256);
	}
	return 0;
}

size_t record_size(const struct record *r)
{
	size_t size = sizeof r->head;

	for (unsigned i = 0; i < RECORD_TEXTS; i++)
		if (r->text[i])
			size += (size_t)r->head.len_bytes[i] + 1;
	return size;
}

void record_encode(const struct record *r, void *out)
{
	uint8_t *at = out;

	memcpy(at, &r->head, sizeof r->head);
	at += sizeof r->head;
	for (unsigned i = 0; i < RECORD_TEXTS; i++) {
		size_t len = (size_t)r->head.len_bytes[i] + 1;

		if (!r->text[i])
			continue;
		memcpy(at, r->text[i], len);
		at += len;
	}
}

static void put_text(struct buf *out, const struct rows_text *t)
{
	invariant(t->len_bytes <= UINT32_MAX);
	buf_u32(out, (uint32_t)t->len_bytes);
	buf_add(out, t->bytes, t->len_bytes);
}

void record_opening_encode(struct buf *out, const struct record_opening *o)
{
	const struct rows_text *const texts[] = {&o->argv, &o->cwd,    &o->user,
	                                         &o->host, &o->kernel, &o->version};

	buf_u64(out, o->opened_us);
	buf_u64(out, o->mono_us);
	buf_u32(out, o->uid);
	buf_u32(out, o->sources_n);
	for (size_t i = 0; i < COUNT(texts); i++)
		put_text(out, texts[i]);
	for (uint32_t i = 0; i < o->sources_n; i++) {
		put_text(out, &o->source[i].name);
		put_text(out, &o->source[i].path);
		put_text(out, &o->source[i].text);
	}
}

/* One argument of printable text that no shell would change. */
static bool is_plain(unsigned code)
{
	static const char marks[] = "@%+=:,./_-";

	return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
	       (code >= 'a' && code <= 'z') || (code < 0x80 && code && strchr(marks, (int)code)) ||
	       (code >= 0xa0 && !text_is_hidden(code));
}

enum quoting { QUOTE_NONE, QUOTE_SINGLE, QUOTE_ESCAPES };

static enum quoting quoting_of(const char *bytes, size_t len_bytes)
{
	enum quoting need = len_bytes ? QUOTE_NONE : QUOTE_SINGLE;

	for (size_t i = 0; i < len_bytes;) {
		unsigned code = 0;
		size_t n = text_utf8_next((const unsigned char *)bytes + i, len_bytes - i, &code);

		if (!n || text_is_hidden(code) || code == '\'' || code == '\\')
			return QUOTE_ESCAPES;
		if (!is_plain(code))
			need = QUOTE_SINGLE;
		i += n;
	}
	return need;
}

static const char escape_letters[] = {['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r'};

static void quote_escaped(struct buf *out, const char *bytes, size_t len_bytes)
{
	buf_str(out, "$'");
	for (size_t i = 0; i < len_bytes;) {
		unsigned code = 0;
		unsigned char byte = (unsigned char)bytes[i];
		size_t n = text_utf8_next((const unsigned char *)bytes + i, len_bytes - i, &code);

		if (byte == '\'' || byte == '\\') {
			buf_chr(out, '\\');
			buf_chr(out, bytes[i]);
			n = 1;
		} else if (byte < sizeof escape_letters && escape_letters[byte]) {
			buf_chr(out, '\\');
			buf_chr(out, escape_letters[byte]);
		} else if (!n || text_is_hidden(code)) {
			buf_fmt(out, "\\x%02x", byte);
			n = 1;
		} else {
			buf_add(out, bytes + i, n);
		}
		i += n;
	}
	buf_chr(out, '\'');
}

void record_quote(struct buf *out, const char *bytes, size_t len_bytes)
{
	enum quoting need = quoting_of(bytes, len_bytes);

	if (need == QUOTE_ESCAPES) {
		quote_escaped(out, bytes, len_bytes);
		return;
	}
	if (need == QUOTE_SINGLE)
		buf_chr(out, '\'');
	buf_add(out, bytes, len_bytes);
	if (need == QUOTE_SINGLE)
		buf_chr(out, '\'');
}
