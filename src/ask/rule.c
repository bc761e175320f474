#include "ask/rule.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* @suffix: a pattern that follows, not escaped: "" or the one for all below. */
static void word(struct buf *out, const char *object, const char *suffix)
{
	static const char special[] = "\"\\*?[]{}$#";
	const unsigned char *s = (const unsigned char *)object;
	size_t len = strlen(object);
	bool quoted = !len || strpbrk(object, " =,") != NULL;

	if (quoted)
		buf_chr(out, '"');
	for (size_t i = 0; i < len;) {
		unsigned code = 0;
		size_t n = text_utf8_next(s + i, len - i, &code);
		bool plain =
			n && !text_is_hidden(code) && (code >= 0x80 || !strchr(special, (int)code));

		n = n ? n : 1;
		if (plain)
			buf_add(out, s + i, n);
		for (size_t k = 0; !plain && k < n; k++)
			buf_fmt(out, "\\x%02x", s[i + k]);
		i += n;
	}
	buf_str(out, suffix);
	if (quoted)
		buf_chr(out, '"');
}

void rule_word(struct buf *out, const char *object)
{
	/* "/" as a pattern is the whole disk. */
	if (strcmp(object, "/") == 0)
		buf_str(out, "/.");
	else
		word(out, object, "");
}

void rule_object(struct buf *out, const struct facts *f)
{
	const char *const *hosts = f->addr.hosts;

	if ((f->class == CLASS_CONNECT || f->class == CLASS_BIND) && hosts && hosts[0]) {
		rule_word(out, hosts[0]);
		buf_fmt(out, ":%u", f->addr.port);
	} else if (f->addr.family == ADDR_INET6) {
		buf_str(out, f->object); /* wary's own form: [::1]:80 */
	} else {
		rule_word(out, f->object);
	}
}

static const char *program_of(const struct facts *f)
{
	return f->by.script ? f->by.script : f->by.path;
}

static bool is_path_class(enum policy_class class)
{
	return class <= CLASS_STAT;
}

/* The folder of a path, where it is narrow enough to be offered whole: at
 * least two levels below the root. NULL: it is not. Memory (free(3)). */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	unsigned levels = 0;

	if (*path != '/' || !slash || slash == path)
		return NULL;
	for (const char *p = path; p < slash; p++)
		levels += *p == '/';
	return levels >= 3 ? strndup(path, (size_t)(slash - path)) : NULL;
}

static bool add_choice(struct rule_choices *out, const struct facts *f, const char *object,
                       bool below, bool by)
{
	struct rule_choice *c = &out->each[out->n];
	const char *class = policy_class_name(f->class);
	auto_buf what = BUF_INIT;
	struct buf text = BUF_INIT;
	struct buf deny = BUF_INIT;

	if (below)
		word(&what, object, "/**");
	else
		rule_object(&what, f);
	if (!buf_text(&what))
		return false;
	buf_fmt(&text, "allow %s %s", class, buf_text(&what));
	buf_fmt(&deny, "deny %s %s", class, buf_text(&what));
	if (by) {
		buf_str(&text, " by ");
		rule_word(&text, program_of(f));
	}
	c->text = buf_take(&text);
	c->deny = buf_take(&deny);
	c->object = strdup(object);
	c->below = below;
	c->by = by;
	out->n++;
	return c->text && c->deny && c->object;
}

int rule_choices_make(const struct facts *f, struct rule_choices *out)
{
	bool by = f->by.nameable && f->by.path;
	char *folder = is_path_class(f->class) ? folder_of(f->object) : NULL;
	bool ok = true;

	*out = (struct rule_choices){0};
	if (by)
		ok = add_choice(out, f, f->object, false, true);
	ok = ok && add_choice(out, f, f->object, false, false);
	if (folder && by)
		ok = ok && add_choice(out, f, folder, true, true);
	if (folder)
		ok = ok && add_choice(out, f, folder, true, false);
	free(folder);
	if (ok)
		return 0;
	rule_choices_free(out);
	return -ERR_NOMEM;
}

void rule_choices_free(struct rule_choices *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->each[i].text);
		free(c->each[i].deny);
		free(c->each[i].object);
	}
	*c = (struct rule_choices){0};
}
