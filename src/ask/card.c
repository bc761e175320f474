#include "ask/card.h"

#include "ask/wording.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND_MAX 16384

void card_free(struct card *c)
{
	for (size_t i = 0; i < CARD_LINES; i++)
		free(c->line[i]);
	for (size_t i = 0; i < RULE_CHOICES_MAX; i++)
		free(c->allow[i]);
	free(c->deny);
	*c = (struct card){0};
}

/* The parts of a question that are asked about. */
struct parts {
	const struct facts *facts;
	const struct verdict *verdicts;
	size_t n;
	size_t asked; /* how many */
	size_t first;
	bool one_object; /* all have the same: read and write of one file */
	bool one_class;  /* all have the same: a list of packages */
};

static bool is_asked(const struct parts *p, size_t i)
{
	return p->verdicts[i].answer == ANSWER_ASK;
}

static void look_at(struct parts *p)
{
	p->one_object = p->one_class = true;
	for (size_t i = 0; i < p->n; i++) {
		if (!is_asked(p, i))
			continue;
		if (!p->asked++)
			p->first = i;
		if (strcmp(p->facts[i].object, p->facts[p->first].object) != 0)
			p->one_object = false;
		if (p->facts[i].class != p->facts[p->first].class)
			p->one_class = false;
	}
}

/* "read and write ~/x": the verbs of all parts, then the one object. */
static void several_classes(struct buf *out, const struct parts *p, const char *home)
{
	for (size_t i = 0, done = 0; i < p->n; i++) {
		if (!is_asked(p, i))
			continue;
		if (done++)
			buf_str(out, done == p->asked ? " and " : ", ");
		buf_str(out, policy_class_name(p->facts[i].class));
	}
	buf_chr(out, ' ');
	wording_object(out, &p->facts[p->first], home);
}

static void headline(struct buf *out, const struct parts *p, const struct card_context *x)
{
	const struct facts *f = &p->facts[p->first];

	wording_who(out, f, x->pid);
	buf_str(out, " wants to ");
	if (p->asked == 1)
		wording_what(out, f, x->home);
	else if (p->one_object)
		several_classes(out, p, x->home);
	else if (p->one_class && f->class == CLASS_INSTALL)
		buf_fmt(out, "install %zu packages", p->asked);
	else
		buf_fmt(out, "do %zu things", p->asked);
}

static void objects(struct buf *out, const struct parts *p, const char *home, size_t most)
{
	size_t done = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!is_asked(p, i))
			continue;
		if (most && done == most) {
			buf_fmt(out, " and %zu more", p->asked - done);
			return;
		}
		if (done++)
			buf_str(out, most ? ", " : "\n");
		if (p->one_class && most)
			wording_object(out, &p->facts[i], home);
		else
			wording_what(out, &p->facts[i], home);
	}
}

static void more(struct buf *out, const struct parts *p, const struct card_context *x)
{
	const struct facts *f = &p->facts[p->first];

	objects(out, p, x->home, 0);
	if (f->by.path) {
		buf_str(out, "\nprogram  ");
		wording_path(out, f->by.path, x->home, 0);
	}
	if (f->by.script) {
		buf_str(out, "\nscript   ");
		wording_path(out, f->by.script, x->home, 0);
	}
	if (f->by.argc) {
		buf_str(out, "\ncommand  ");
		wording_command(out, &f->by, COMMAND_MAX);
	}
	if (f->class == CLASS_EXEC && f->target.argc) {
		buf_str(out, "\nto run   ");
		wording_command(out, &f->target, COMMAND_MAX);
	}
	if (x->stack) {
		buf_str(out, "\ncall stack\n");
		buf_str(out, x->stack);
	}
}

/* One choice over all parts: a rule for each, one a line. */
static char *rules_of(const struct parts *p, const struct rule_choices *choices, size_t k,
                      bool deny)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < p->n; i++) {
		if (!is_asked(p, i))
			continue;
		if (out.len_bytes)
			buf_chr(&out, '\n');
		buf_str(&out, deny ? choices[i].each[k].deny : choices[i].each[k].text);
	}
	return buf_take(&out);
}

static bool offer(struct card *c, const struct parts *p, const struct rule_choices *choices,
                  const struct card_context *x)
{
	size_t least = RULE_CHOICES_MAX;

	c->may_session = true;
	for (size_t i = 0; i < p->n; i++) {
		if (!is_asked(p, i))
			continue;
		if (p->verdicts[i].each)
			c->may_session = false;
		if (choices[i].n < least)
			least = choices[i].n;
	}
	if (!p->one_object && least > 1)
		least = 1;
	c->may_always = c->may_session && x->answers && least > 0;
	for (size_t k = 0; c->may_always && k < least; k++) {
		c->allow[k] = rules_of(p, choices, k, false);
		if (!c->allow[k])
			return false;
		c->choices_n++;
	}
	if (c->may_always)
		c->deny = rules_of(p, choices, 0, true);
	return !c->may_always || c->deny;
}

static bool take_line(struct card *c, enum card_line line, struct buf *b)
{
	bool empty = !b->failed && !b->len_bytes;

	c->line[line] = empty ? NULL : buf_take(b);
	buf_free(b);
	return empty || c->line[line];
}

static bool lines(struct card *c, const struct parts *p, const struct card_context *x)
{
	const struct facts *f = &p->facts[p->first];
	const struct verdict *v = &p->verdicts[p->first];
	struct buf b = {.max_bytes = CARD_MAX_BYTES / 4};
	bool ok;

	headline(&b, p, x);
	ok = take_line(c, CARD_HEADLINE, &b);
	if (p->asked > 1 && !p->one_object)
		objects(&b, p, x->home, CARD_LIST_SHOWN);
	ok = ok && take_line(c, CARD_OBJECTS, &b);
	wording_lineage(&b, f);
	ok = ok && take_line(c, CARD_STARTED, &b);
	wording_rule(&b, v);
	ok = ok && take_line(c, CARD_BECAUSE, &b);
	if (v->because)
		text_printable(&b, v->because, strlen(v->because), WORDING_OBJECT_MAX);
	ok = ok && take_line(c, CARD_REASON, &b);
	if (x->seen)
		buf_str(&b, x->seen);
	ok = ok && take_line(c, CARD_SEEN, &b);
	if (!f->by.fixed)
		buf_str(&b, "the tree can change this program: a yes is for whatever it does");
	ok = ok && take_line(c, CARD_NOTE, &b);
	more(&b, p, x);
	ok = ok && take_line(c, CARD_MORE, &b);
	if (f->class == CLASS_READ || f->class == CLASS_EXEC)
		buf_str(&b, f->object);
	return ok && take_line(c, CARD_FILE, &b);
}

int card_make(const struct facts *facts, const struct verdict *verdicts, size_t n,
              const struct rule_choices *choices, const struct card_context *context,
              struct card *out)
{
	struct parts p = {.facts = facts, .verdicts = verdicts, .n = n};

	*out = (struct card){0};
	look_at(&p);
	if (!p.asked)
		return -ERR_BOUND;
	if (lines(out, &p, context) && offer(out, &p, choices, context))
		return 0;
	card_free(out);
	return -ERR_NOMEM;
}

/* Bytes: id u64, guardian u32, flags u8, choices u8, then every string as u32
 * length + 1 (0: none) and its bytes: lines, choices, deny. */
#define FLAG_SESSION 1
#define FLAG_ALWAYS 2

static void put_string(struct buf *out, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	buf_u32(out, s ? (uint32_t)len + 1 : 0);
	buf_add(out, s ? s : "", len);
}

void card_encode(struct buf *out, const struct card *c)
{
	buf_u64(out, c->id);
	buf_u32(out, (uint32_t)c->guardian_pid);
	buf_u8(out,
	       (uint8_t)((c->may_session ? FLAG_SESSION : 0) | (c->may_always ? FLAG_ALWAYS : 0)));
	buf_u8(out, (uint8_t)c->choices_n);
	for (size_t i = 0; i < CARD_LINES; i++)
		put_string(out, c->line[i]);
	for (size_t i = 0; i < RULE_CHOICES_MAX; i++)
		put_string(out, c->allow[i]);
	put_string(out, c->deny);
}

struct reader {
	const unsigned char *at, *end;
	bool failed;
};

static uint64_t get_number(struct reader *r, size_t bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->failed = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)r->at[i] << (8 * i);
	r->at += bytes;
	return v;
}

static char *get_string(struct reader *r)
{
	size_t len = get_number(r, 4);
	char *s;

	if (r->failed || !len)
		return NULL;
	len--;
	if ((size_t)(r->end - r->at) < len || memchr(r->at, 0, len)) {
		r->failed = true;
		return NULL;
	}
	s = strndup((const char *)r->at, len);
	r->failed = r->failed || !s;
	r->at += len;
	return s;
}

int card_decode(const void *bytes, size_t len_bytes, struct card *out)
{
	struct reader r = {.at = bytes, .end = (const unsigned char *)bytes + len_bytes};
	struct card c = {0};
	unsigned flags;

	c.id = get_number(&r, 8);
	c.guardian_pid = (pid_t)get_number(&r, 4);
	flags = (unsigned)get_number(&r, 1);
	c.may_session = flags & FLAG_SESSION;
	c.may_always = flags & FLAG_ALWAYS;
	c.choices_n = get_number(&r, 1);
	for (size_t i = 0; i < CARD_LINES; i++)
		c.line[i] = get_string(&r);
	for (size_t i = 0; i < RULE_CHOICES_MAX; i++)
		c.allow[i] = get_string(&r);
	c.deny = get_string(&r);
	if (c.choices_n > RULE_CHOICES_MAX || !c.line[CARD_HEADLINE] || r.at != r.end)
		r.failed = true;
	for (size_t i = 0; i < c.choices_n && i < RULE_CHOICES_MAX; i++)
		r.failed = r.failed || !c.allow[i];
	if (r.failed) {
		card_free(&c);
		return -ERR_FORMAT;
	}
	*out = c;
	return 0;
}
