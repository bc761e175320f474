/* Policies from any bytes, and from bytes that choose words of the grammar:
 * loading, checking, laying out, deciding and explaining neither crash, hang
 * nor disagree with themselves. */
#include "base/buf.h"
#include "policy/check.h"
#include "policy/explain.h"
#include "policy/settings.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES 65536

/* Bytes not used yet; each choice takes one. */
struct choices {
	const uint8_t *at;
	size_t left;
};

static unsigned choose(struct choices *c, unsigned n)
{
	if (!c->left)
		return 0;
	c->left--;
	return *c->at++ % n;
}

/* --- the grammar --------------------------------------------------------------- */

static const char *const verdicts[] = {"allow", "deny", "ask", "kill"};
static const char *const classes[] = {
	"read",   "write",  "edit",    "file",    "stat",         "exec",    "delete,create",
	"link",   "attr",   "connect", "bind",    "connect,bind", "resolve", "install",
	"script", "secret", "ipc",     "syscall", "raed",
};
static const char *const paths[] = {
	"/",
	"/a",
	"/a/**",
	"/a/*/b",
	"**/sudo",
	"~/.ssh/",
	"${PROJECT}/**",
	"/{a,b}/c{d,e}",
	"/a/\\*b",
	"/a/**/b/**",
	"\"/with blank/x\"",
	"${X}/y",
	"/\\xff\\x01",
	"/a/../b",
	"{/a,/b}/c",
	"/ä/ö",
	"/proc/self/fd",
	"/link/x",
	"/a/",
	"**",
};
static const char *const addresses[] = {
	"*:*",          "github.com:443", "*.a.org:80,90-100",
	"10.0.0.0/8:*", "[::1]:80",       "tcp/1.2.3.4:22",
	"udp/*:53",     "unix:/run/x",    "unix:@x*",
	"unix:/**",     "own:*",          "loopback",
	"private:1",    "metadata",       "delegates",
	"registry:npm", "registry:pip:1", "[::ffff:10.0.0.1]:1",
	"127.1:80",     "0.0.0.0:*",      "localhost:1",
};
static const char *const names[] = {
	"npm:*", "npm:express", "pip:A_b", "*:*", "a.org", "*.b.org", "*", "TOKEN_*", "x",
};
static const char *const conds[] = {
	"by /usr/bin/ssh",
	"by **/npm /bin/x",
	"under /usr/bin/git install:npm",
	"under script:es*",
	"sha256 00",
	"at 10.0.0.0/8 ::1",
	"from registry:npm",
	"version \">=4 <6 || ^2\"",
	"until 2026-12-01",
	"when argv a ** b",
	"when has --force {x,y}",
	"when not new,git",
	"when unpinned",
	"as ENOENT",
	"for 1h30m",
	"each",
	"via phone",
	"through relay",
	"with dependencies",
	"because \"why\"",
	"stack",
	"quiet",
};
static const char *const others[] = {
	"include \"other\"",
	"include \"user\"",
	"let X = /x /y",
	"let Y = env:HOME",
	"default deny",
	"default pass",
	"default ask connect",
	"limit wall 30m memory 2G then stop",
	"limit space 5G in /x then deny",
	"audit count read,stat",
	"audit off read",
	"audit full",
	"audit sync",
	"audit keep 90d",
	"audit max-size 2G",
	"env drop *_TOKEN",
	"env pass HOME",
	"env set X = y",
	"tmp private",
	"tenant a users @b 1-2 use \"other\"",
	"secret A from env:A to /usr/bin/gh as env",
	"secret A from vault:x to /a /b when argv p ** as file ~/t ask for 1m",
	"secret B from command:\"x y\" to /c as fd 3 each",
	"expect deny read /a",
	"expect ask exec /a argv b c",
	"expect allow connect 10.0.0.1:1 named a.org",
	"# a comment",
	"",
	"deny",
	"allow read /x \\\n  /y",
};

#define PICK(c, list) (list)[choose((c), sizeof(list) / sizeof(list)[0])]

static void write_rule(struct choices *c, struct buf *out)
{
	unsigned objects = choose(c, 4);
	unsigned tails = choose(c, 3);

	if (choose(c, 8) == 0)
		buf_str(out, "final ");
	buf_fmt(out, "%s %s", PICK(c, verdicts), PICK(c, classes));
	for (unsigned i = 0; i < objects; i++) {
		switch (choose(c, 3)) {
		case 0:
			buf_fmt(out, " %s", PICK(c, addresses));
			break;
		case 1:
			buf_fmt(out, " %s", PICK(c, names));
			break;
		default:
			buf_fmt(out, " %s", PICK(c, paths));
		}
	}
	for (unsigned i = 0; i < tails; i++)
		buf_fmt(out, "  %s", PICK(c, conds));
}

static void write_policy(struct choices *c, struct buf *out)
{
	buf_str(out, "wary 1\n");
	while (c->left && out->len_bytes < TEXT_MAX_BYTES) {
		if (choose(c, 4) == 0)
			buf_str(out, PICK(c, others));
		else
			write_rule(c, out);
		buf_chr(out, '\n');
	}
}

/* --- the world -------------------------------------------------------------------- */

struct input {
	const char *text;
	size_t len;
};

static int read_text(void *ctx, const char *from, const char *word, char **text, size_t *len,
                     char **path)
{
	const struct input *in = ctx;
	bool other = strcmp(word, "other") == 0;

	(void)from;
	if (!other && strcmp(word, "user") != 0)
		return -ERR_NOTFOUND;
	*len = other ? strlen("wary 1\ndeny read /o\n") : in->len;
	*text = malloc(*len + 1);
	*path = strdup(word);
	if (!*text || !*path)
		abort();
	memcpy(*text, other ? "wary 1\ndeny read /o\n" : in->text, *len);
	return 0;
}

static enum policy_kind look(void *ctx, const char *path, char **target, uint64_t *dev,
                             uint64_t *ino)
{
	(void)ctx;
	*dev = 1;
	*ino = strlen(path);
	if (strcmp(path, "/link") != 0)
		return path[1] == 'a' ? POLICY_OTHER : POLICY_FOLDER;
	*target = strdup("a/../b");
	return POLICY_LINK;
}

static const char *variable(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "HOME_OF_UID") == 0 ? "/root" : "/home/ana";
}

static const char *const hosts[] = {"registry.npmjs.org:443", "127.0.0.1:4873", NULL};

static const char *const *registry(void *ctx, const char *manager)
{
	(void)ctx;
	return strcmp(manager, "npm") == 0 ? hosts : NULL;
}

static bool user_is(void *ctx, const char *word)
{
	(void)ctx;
	return strcmp(word, "@b") == 0;
}

/* --- what is held ------------------------------------------------------------------- */

static const char *const questions[] = {
	"read /a/x/b",
	"write /link/x",
	"exec /usr/bin/sudo argv a c b",
	"delete /a",
	"connect 10.0.0.1:443 named a.org",
	"connect unix:/run/docker.sock",
	"bind own:80",
	"resolve x.b.org",
	"install npm:express version 4.18.2 if new",
	"secret A by /usr/bin/gh",
	"stat /o",
	"connect metadata",
	"read \"/\\xff\\x01\"",
};

static void hold(bool ok)
{
	if (!ok)
		abort();
}

static void ask(const struct policy *p, const struct policy_world *w, const char *text)
{
	struct policy_question *q = NULL;
	const struct facts *f = NULL;
	struct policy_report *r = NULL;
	struct policy_explanation *e = NULL;
	struct verdict v1;
	struct verdict v2;
	struct facts g;

	if (policy_question_new(p, w, text, &q, &f, &r) == 0) {
		policy_decide(p, f, &v1);
		policy_decide(p, f, &v2);
		hold(v1.answer == v2.answer && v1.line == v2.line && v1.text);
		hold(policy_explain(p, f, &e) == 0);
		hold(policy_explanation_verdict(e)->answer == v1.answer);
		policy_explanation_free(e);
		/* What is not known never loosens. */
		g = *f;
		g.by.path = NULL;
		g.under_known = false;
		g.object_is_dir = true;
		policy_decide(p, &g, &v2);
		hold(v2.answer >= v1.answer || f->class == CLASS_SECRET);
		if (f->class <= CLASS_EXEC) {
			policy_looser_below(p, f->object, "/b/c", &g);
			policy_may_write(p, f->object);
		}
	}
	policy_report_free(r);
	policy_question_free(q);
}

static void each_prefix(void *ctx, const char *prefix, bool below, unsigned bits)
{
	(void)below;
	hold(prefix[0] == '/' && bits);
	++*(unsigned *)ctx;
}

static void use(const struct policy *p, const struct policy_world *w)
{
	struct policy_expect_result x;
	struct policy_rule rule;
	unsigned prefixes = 0;

	for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
		ask(p, w, questions[i]);
	for (size_t i = 0; i < policy_expect_count(p); i++)
		policy_expect_run(p, i, &x);
	for (size_t i = 0; i < policy_rule_count(p); i++)
		policy_rule_at(p, i, &rule);
	policy_prefixes(p, each_prefix, &prefixes);
}

static void lay_out(const struct input *in)
{
	auto_buf once = BUF_INIT;
	auto_buf twice = BUF_INIT;
	struct policy_report *r = NULL;
	int err = policy_fmt("fuzz", in->text, in->len, &once, &r);

	hold((err == -ERR_POLICY) == (policy_report_errors(r) != 0));
	policy_report_free(r);
	if (err)
		return;
	hold(policy_fmt("fuzz", once.data ? once.data : "", once.len_bytes, &twice, &r) == 0);
	policy_report_free(r);
	hold(once.len_bytes == twice.len_bytes &&
	     (!once.len_bytes || memcmp(once.data, twice.data, once.len_bytes) == 0));
}

/* The text without the lines that messages are about. */
static bool drop_lines(struct buf *text, const struct policy_report *r)
{
	auto_buf kept = BUF_INIT;
	const char *s = buf_text(text);
	bool dropped = false;

	for (unsigned line = 1; *s; line++) {
		size_t n = strcspn(s, "\n");
		bool wrong = false;

		for (size_t i = 0; i < policy_report_count(r); i++) {
			const struct policy_message *m = policy_report_at(r, i);

			wrong |= m->kind == POLICY_ERROR && m->line == line && line > 1 &&
			         strcmp(m->file, "user") == 0;
		}
		if (!wrong)
			buf_add(&kept, s, n + (s[n] == '\n'));
		dropped |= wrong;
		s += n + (s[n] == '\n');
	}
	buf_reset(text);
	buf_str(text, buf_text(&kept));
	return dropped;
}

/* Loads from one set of sources; lines that are refused are left out, so that
 * much of what the grammar makes is used. */
static void load_from(struct buf *text, const char *const *files)
{
	struct input in;
	struct policy_world w = {.ctx = &in,
	                         .read = read_text,
	                         .look = look,
	                         .variable = variable,
	                         .environment = variable,
	                         .registry = registry,
	                         .user_is = user_is,
	                         .now_s = 1000};

	for (unsigned round = 0; round < 16; round++) {
		struct policy_report *r = NULL;
		struct policy *p = NULL;
		bool again = false;
		int err;

		in = (struct input){buf_text(text), text->len_bytes};
		err = policy_check(&w, files, &p, &r);
		hold((err == -ERR_POLICY) == (policy_report_errors(r) != 0));
		hold(!err || err == -ERR_POLICY);
		if (err)
			again = drop_lines(text, r);
		else
			use(p, &w);
		if (!err)
			policy_free(p);
		policy_report_free(r);
		if (!again)
			return;
	}
}

static void load(const struct buf *text)
{
	static const char *const sources[][3] = {
		{"user", NULL},
		{"machine:user", "other", NULL},
		{"other", "project:user", NULL},
	};

	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
		auto_buf copy = BUF_INIT;

		buf_add(&copy, text->data ? text->data : "", text->len_bytes);
		load_from(&copy, sources[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct choices c = {bytes, len_bytes};
	auto_buf text = BUF_INIT;
	struct input in;

	/* A first byte beyond ASCII: words of the grammar; else the text. */
	if (len_bytes && bytes[0] >= 0x80)
		write_policy(&c, &text);
	else
		buf_add(&text, bytes, len_bytes);
	in = (struct input){text.data ? text.data : "", text.len_bytes};
	lay_out(&in);
	load(&text);
	return 0;
}
