/* Asks the questions of policy_cases.txt, whose head says how it is written. */
#include "base/buf.h"
#include "base/own.h"
#include "base/text.h"
#include "policy/policy.h"
#include "tests/unit/tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MAX = 64,
	PARTS_MAX = 8,
	LABELS_MAX = 64,
};

/* One source of a section: its text as loaded. */
struct part {
	char name[32]; /* "user", "machine", "project", "rules", or an included word */
	struct buf text;
	unsigned lines;
};

struct label {
	char name[16];
	const struct part *part;
	unsigned line;
};

struct section {
	char title[160];
	struct part parts[PARTS_MAX];
	size_t parts_n;
	struct label labels[LABELS_MAX];
	size_t labels_n;
	bool loaded;
	struct policy *policy;
	struct policy_report *report;
};

/* --- the world that the head of the table describes ------------------- */

static const struct section *section_of(void *ctx)
{
	return ctx;
}

static int world_read(void *ctx, const char *from_file, const char *word, char **text,
                      size_t *len_bytes, char **path)
{
	const struct section *s = section_of(ctx);

	(void)from_file;
	for (size_t i = 0; i < s->parts_n; i++) {
		const struct part *p = &s->parts[i];

		if (strcmp(p->name, word) != 0)
			continue;
		if (asprintf(path, "%s.wary", p->name) < 0)
			return -ERR_NOMEM;
		*text = strndup(p->text.data ? p->text.data : "", p->text.len_bytes);
		*len_bytes = p->text.len_bytes;
		return *text ? 0 : -ERR_NOMEM;
	}
	return -ERR_NOTFOUND;
}

static const struct {
	const char *path;
	const char *target;
	uint64_t ino;
} things[] = {
	{"/bin", "usr/bin", 1},
	{"/usr", NULL, 2},
	{"/usr/bin", NULL, 3},
	{"/home", NULL, 4},
	{"/home/ana", NULL, 5},
	{"/home/ana/data", "/srv/data", 6},
	{"/home/ana/app", NULL, 7},
	{"/home/ana/app/out", "/srv/out", 8},
	{"/home/ana/app/secret.txt", "", 101},
	{"/home/ana/.ssh", NULL, 9},
	{"/home/ana/.ssh/id_ed25519", "", 100},
	{"/srv", NULL, 10},
	{"/srv/data", NULL, 11},
	{"/srv/out", NULL, 12},
	{"/tmp", NULL, 13},
};

static enum policy_kind world_look(void *ctx, const char *path, char **target, uint64_t *dev,
                                   uint64_t *ino)
{
	(void)ctx;
	for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
		if (strcmp(things[i].path, path) != 0)
			continue;
		*dev = 1;
		*ino = things[i].ino;
		if (!things[i].target)
			return POLICY_FOLDER;
		if (!*things[i].target)
			return POLICY_OTHER;
		*target = strdup(things[i].target);
		return *target ? POLICY_LINK : POLICY_ABSENT;
	}
	return POLICY_ABSENT;
}

static const char *find(const char *const (*pairs)[2], const char *name)
{
	for (; (*pairs)[0]; pairs++)
		if (strcmp((*pairs)[0], name) == 0)
			return (*pairs)[1];
	return NULL;
}

static const char *world_variable(void *ctx, const char *name)
{
	static const char *const pairs[][2] = {
		{"HOME", "/home/ana"},
		{"PROJECT", "/home/ana/app"},
		{"TMPDIR", "/tmp"},
		{"CACHE", "/home/ana/.cache"},
		{"CONFIG", "/home/ana/.config"},
		{"STATE", "/home/ana/.local/state"},
		{"RUNTIME", "/run/user/1000"},
		{"UID", "1000"},
		{NULL, NULL},
	};

	(void)ctx;
	return find(pairs, name);
}

static const char *world_environment(void *ctx, const char *name)
{
	static const char *const pairs[][2] = {
		{"SSH_AUTH_SOCK", "/tmp/ssh-abc/agent.7"},
		{"EMPTY", ""},
		{"RELATIVE", "some/where"},
		{NULL, NULL},
	};

	(void)ctx;
	return find(pairs, name);
}

static const char *const *world_registry(void *ctx, const char *manager)
{
	static const char *const npm[] = {"registry.example:443", "127.0.0.1:4873", NULL};
	static const char *const pip[] = {"pypi.example:443", NULL};
	static const char *const dns[] = {"10.0.0.53:53", NULL};

	(void)ctx;
	if (strcmp(manager, "npm") == 0)
		return npm;
	if (strcmp(manager, "pip") == 0)
		return pip;
	return strcmp(manager, "dns") == 0 ? dns : NULL;
}

static const char *const *world_registry_files(void *ctx, const char *manager)
{
	static const char *const npm[] = {"/home/ana/.npmrc", "/etc/npmrc", NULL};
	static const char *const other[] = {"/etc/settings", NULL};

	(void)ctx;
	return strcmp(manager, "npm") == 0 ? npm : other;
}

/* --- reading the table ------------------------------------------------ */

static struct part *part_of(struct section *s, const char *name)
{
	struct part *p;

	for (size_t i = 0; i < s->parts_n; i++)
		if (strcmp(s->parts[i].name, name) == 0)
			return &s->parts[i];
	if (s->parts_n == PARTS_MAX)
		return NULL;
	p = &s->parts[s->parts_n++];
	snprintf(p->name, sizeof p->name, "%s", name);
	return p;
}

/* A line of policy; "#LABEL" at its end names it. Bytes written as \x07 in a
 * comment are meant as the byte, for what no text file should contain. */
static void add_line(struct section *s, struct part *p, char *line)
{
	char *label = strrchr(line, '#');
	char *bell = strstr(line, "# \\x07");

	p->lines++;
	if (label && label > line && label[-1] == ' ' && label[1] > ' ' &&
	    strcspn(label, " ") == strlen(label) && s->labels_n < LABELS_MAX) {
		struct label *l = &s->labels[s->labels_n++];

		snprintf(l->name, sizeof l->name, "%.15s", label + 1);
		l->part = p;
		l->line = p->lines;
		*label = '\0';
	}
	if (bell)
		memcpy(bell, "# \a   ", 6);
	buf_str(&p->text, line);
	buf_chr(&p->text, '\n');
}

static void section_free(struct section *s)
{
	for (size_t i = 0; i < s->parts_n; i++)
		buf_free(&s->parts[i].text);
	policy_free(s->policy);
	policy_report_free(s->report);
	*s = (struct section){0};
}

static int add_file(const char **files, size_t *n, char *word, size_t size, const char *prefix,
                    struct section *s, const char *name)
{
	for (size_t i = 0; i < s->parts_n; i++) {
		if (strcmp(s->parts[i].name, name) != 0)
			continue;
		snprintf(word, size, "%s%s", prefix,
		         strcmp(name, "rules") == 0 ? s->parts[i].text.data : name);
		files[(*n)++] = word;
		return 1;
	}
	return 0;
}

static int section_load(struct section *s)
{
	struct policy_world world = {
		.ctx = s,
		.read = world_read,
		.look = world_look,
		.variable = world_variable,
		.environment = world_environment,
		.registry = world_registry,
		.registry_files = world_registry_files,
		.floor_paths = (const char *const[]){"/home/ana/.local/state/wary", NULL},
		.floor_read_only =
			(const char *const[]){"/home/ana/.config/wary", "/etc/wary", NULL},
		.now_s = 1700000000,
	};
	char words[4][4096];
	const char *files[5] = {NULL};
	size_t n = 0;

	s->loaded = true;
	add_file(files, &n, words[0], sizeof words[0], "machine:", s, "machine");
	add_file(files, &n, words[1], sizeof words[1], "", s, "user");
	add_file(files, &n, words[2], sizeof words[2], "project:", s, "project");
	add_file(files, &n, words[3], sizeof words[3], "rules:", s, "rules");
	return policy_load(&world, files, &s->policy, &s->report);
}

/* --- questions -------------------------------------------------------- */

struct question {
	char store[4096]; /* the words, taken apart */
	const char *words[WORDS_MAX];
	size_t n;
	struct facts f;
	const char *hosts[2];
	const char *under[WORDS_MAX];
	const char *by_argv[WORDS_MAX];
	const char *to_argv[WORDS_MAX];
	char host[80];
	char package[80];
};

/* Blanks part words, "…" holds one together, \xHH is a byte. */
static void split(struct question *q, const char *text)
{
	char *out = q->store;

	while (*text && q->n < WORDS_MAX) {
		bool quoted = false;

		while (*text == ' ')
			text++;
		if (!*text)
			break;
		q->words[q->n++] = out;
		for (; *text && (quoted || *text != ' '); text++) {
			if (*text == '"') {
				quoted = !quoted;
			} else if (text[0] == '\\' && text[1] == 'x') {
				if (text_unhex(text + 2, 2, out++, 1))
					abort();
				text += 3;
			} else {
				*out++ = *text;
			}
		}
		*out++ = '\0';
	}
}

static bool put_ip(const char *text, struct facts_addr *a)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t none[16];

	if (inet_pton(AF_INET, text, a->ip) == 1) {
		a->family = ADDR_INET;
	} else if (inet_pton(AF_INET6, text, a->ip) == 1) {
		a->family = ADDR_INET6;
		if (memcmp(a->ip, mapped, 12) == 0) {
			memmove(a->ip, a->ip + 12, 4);
			memset(a->ip + 4, 0, 12);
			a->family = ADDR_INET;
		}
	} else {
		return false;
	}
	/* What facts.h calls canonical: unspecified is loopback. */
	if (a->family == ADDR_INET && memcmp(a->ip, none, 4) == 0)
		memcpy(a->ip, "\x7f\0\0\1", 4);
	if (a->family == ADDR_INET6 && memcmp(a->ip, none, 16) == 0)
		a->ip[15] = 1;
	return true;
}

static bool put_address(struct question *q, const char *text)
{
	struct facts_addr *a = &q->f.addr;
	char *colon;

	a->proto = PROTO_TCP;
	if (text_starts(text, "unix:")) {
		a->family = ADDR_UNIX;
		a->proto = PROTO_ANY;
		a->unix_abstract = text[5] == '@';
		a->unix_name = text + (a->unix_abstract ? 6 : 5);
		return true;
	}
	if (text_starts(text, "udp/"))
		a->proto = PROTO_UDP;
	if (text_starts(text, "udp/") || text_starts(text, "tcp/"))
		text += 4;
	snprintf(q->host, sizeof q->host, "%s", *text == '[' ? text + 1 : text);
	colon = strrchr(q->host, ':');
	if (!colon)
		return false;
	a->port = (uint16_t)atoi(colon + 1);
	colon[colon > q->host && colon[-1] == ']' ? -1 : 0] = '\0';
	return put_ip(q->host, a);
}

static bool put_object(struct question *q, const char *class, const char *object)
{
	int found = policy_class_find(class);
	char *colon;

	if (found < 0)
		return false;
	q->f.class = (enum policy_class)found;
	q->f.object = object;
	if (found == CLASS_CONNECT || found == CLASS_BIND)
		return put_address(q, object);
	if (found == CLASS_EXEC)
		q->f.target = (struct facts_program){
			.path = object, .fixed = true, .argv = q->to_argv, .argv_whole = true};
	if (found == CLASS_INSTALL || found == CLASS_SCRIPT) {
		snprintf(q->package, sizeof q->package, "%s", object);
		colon = strchr(q->package, ':');
		if (!colon)
			return false;
		*colon = '\0';
		q->f.package.manager = q->package;
		q->f.package.name = colon + 1;
	}
	return true;
}

static bool put_fact(struct question *q, const char *name, enum fact_state state)
{
	struct facts_package *p = &q->f.package;
	const struct {
		const char *name;
		enum fact_state *where;
	} facts[] = {
		{"unpinned", &p->unpinned},
		{"new", &p->is_new},
		{"git", &p->git},
		{"url", &p->url},
		{"path", &p->path},
		{"script", &p->script},
		{"lookalike", &p->lookalike},
	};

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (strcmp(facts[i].name, name) == 0) {
			*facts[i].where = state;
			return true;
		}
	return false;
}

static void put_program(struct question *q, const char *path, bool fixed)
{
	q->f.by = (struct facts_program){
		.path = path, .fixed = fixed, .argv = q->by_argv, .argv_whole = true};
	q->by_argv[0] = path;
	q->f.by.argc = 1;
}

/* argv to the program that it is of: the started one, else the acting one. */
static void put_argv(struct question *q, size_t at, bool whole)
{
	bool exec = q->f.class == CLASS_EXEC;
	struct facts_program *p = exec ? &q->f.target : &q->f.by;
	const char **argv = exec ? q->to_argv : q->by_argv;

	argv[0] = exec ? q->f.object : p->script ? p->script : p->path;
	p->argc = 1;
	for (; at < q->n; at++)
		argv[p->argc++] = q->words[at];
	p->argv_whole = whole;
}

/* The word that says one fact by itself. */
static bool put_single(struct question *q, const char *word)
{
	if (strcmp(word, "own") == 0)
		q->f.addr.own = true;
	else if (strcmp(word, "via") == 0)
		q->f.via_link = true;
	else if (strcmp(word, "dir") == 0)
		q->f.object_is_dir = true;
	else
		return false;
	return true;
}

static bool put_pair(struct question *q, const char *word, const char *value)
{
	if (strcmp(word, "by") == 0 || strcmp(word, "by?") == 0) {
		put_program(q, value, !word[2]);
	} else if (strcmp(word, "script") == 0) {
		q->f.by.script = value;
	} else if (strcmp(word, "named") == 0) {
		q->hosts[0] = value;
		q->f.addr.hosts = q->hosts;
	} else if (strcmp(word, "ino") == 0) {
		q->f.dev = 1;
		q->f.ino = strtoull(value, NULL, 10);
	} else if (strcmp(word, "dep") == 0) {
		q->f.package.dependency = true;
		q->f.package.root = value;
	} else if (strcmp(word, "from") == 0) {
		q->f.package.registry = value;
	} else if (strcmp(word, "version") == 0) {
		q->f.package.version = value;
	} else if (strcmp(word, "at") == 0) {
		q->f.now_s = strtoull(value, NULL, 10);
	} else if (strcmp(word, "if") == 0 || strcmp(word, "unknown") == 0) {
		return put_fact(q, value, *word == 'i' ? FACT_YES : FACT_UNKNOWN);
	} else {
		return false;
	}
	return true;
}

static size_t put_under(struct question *q, size_t at)
{
	size_t n = 0;

	for (; at < q->n && (q->words[at][0] == '/' || strchr(q->words[at], ':')); at++)
		q->under[n++] = q->words[at];
	q->f.under = q->under;
	if (at < q->n && strcmp(q->words[at], "?") == 0) {
		q->f.under_known = false;
		at++;
	}
	return at;
}

static bool parse(struct question *q, const char *text)
{
	size_t at = 2;

	split(q, text);
	q->f.under_known = true;
	q->f.now_s = 1700000000;
	if (q->n < 2 || !put_object(q, q->words[0], q->words[1]))
		return false;
	if (q->f.class == CLASS_EXEC)
		put_argv(q, q->n, true);
	while (at < q->n) {
		const char *word = q->words[at++];

		if (strcmp(word, "argv") == 0 || strcmp(word, "argv~") == 0) {
			put_argv(q, at, !word[4]);
			return true;
		}
		if (strcmp(word, "under") == 0)
			at = put_under(q, at);
		else if (!put_single(q, word) && (at == q->n || !put_pair(q, word, q->words[at++])))
			return false;
	}
	return true;
}

/* --- answers ---------------------------------------------------------- */

static const struct label *label_of(const struct section *s, const char *name)
{
	for (size_t i = 0; i < s->labels_n; i++)
		if (strcmp(s->labels[i].name, name) == 0)
			return &s->labels[i];
	return NULL;
}

static bool is_one(const struct section *s, const struct verdict *v, const char *name)
{
	const struct label *l = label_of(s, name);
	const char *base = v->file ? v->file : "";
	char file[40];

	if (strcmp(name, "default") == 0)
		return v->is_default;
	if (strcmp(name, "floor") == 0)
		return v->is_floor;
	if (*name >= '1' && *name <= '9')
		return v->line == (unsigned)atoi(name) && !v->is_default;
	if (!l || v->is_default || v->is_floor || v->line != l->line)
		return false;
	snprintf(file, sizeof file, "%s.wary", l->part->name);
	return strcmp(l->part->name, "rules") == 0 || strcmp(base, file) == 0;
}

/* One label, or several with | between them. */
static bool is_rule(const struct section *s, const struct verdict *v, const char *names)
{
	auto_free char *list = strdup(names);
	char *rest = NULL;

	for (char *n = strtok_r(list, "|", &rest); n; n = strtok_r(NULL, "|", &rest))
		if (is_one(s, v, n))
			return true;
	return false;
}

static void show_report(const struct section *s)
{
	for (size_t i = 0; s->report && i < policy_report_count(s->report); i++) {
		const struct policy_message *m = policy_report_at(s->report, i);

		tap_note("%s:%u:%u: %s (%s)", m->file, m->line, m->column, m->text,
		         m->hint ? m->hint : "");
	}
}

static void ask(struct section *s, char *line)
{
	struct question q = {.n = 0};
	char *arrow = strstr(line, " => ");
	char want[16];
	char rule[16];
	struct verdict v = {0};

	if (!s->loaded && section_load(s))
		show_report(s);
	if (!arrow || sscanf(arrow, " => %15s %15s", want, rule) != 2) {
		tap_ok(false, "%s: cannot read: %s", s->title, line);
		return;
	}
	*arrow = '\0';
	if (!s->policy || !parse(&q, line)) {
		tap_ok(false, "%s: %s: %s", s->title, s->policy ? "cannot read" : "not loaded",
		       line);
		return;
	}
	policy_decide(s->policy, &q.f, &v);
	if (strcmp(policy_answer_name(v.answer), want) != 0 || !is_rule(s, &v, rule))
		tap_note("got %s %s:%u %s%s%s", policy_answer_name(v.answer),
		         v.file ? v.file : "(none)", v.line, v.text ? v.text : "",
		         v.is_default ? " (default)" : "", v.is_floor ? " (floor)" : "");
	tap_ok(strcmp(policy_answer_name(v.answer), want) == 0 && is_rule(s, &v, rule),
	       "%s: %s => %s %s", s->title, line, want, rule);
}

static bool says(const struct policy_message *m, char *any)
{
	char *rest = NULL;

	for (char *t = strtok_r(any, "|", &rest); t; t = strtok_r(NULL, "|", &rest))
		if (strcasestr(m->text, t) || (m->hint && strcasestr(m->hint, t)))
			return true;
	return false;
}

/* The error that a policy must be refused with. */
static void expect_error(struct section *s, char *line)
{
	char name[16] = "";
	int skip = 0;
	const struct label *l;
	unsigned want;
	bool found = false;

	if (!s->loaded && !section_load(s))
		tap_note("loaded without an error");
	sscanf(line, "%15s %n", name, &skip);
	l = label_of(s, name);
	want = l ? l->line : (unsigned)atoi(name);
	for (size_t i = 0; s->report && i < policy_report_count(s->report); i++) {
		const struct policy_message *m = policy_report_at(s->report, i);
		auto_free char *any = strdup(line + skip);

		if (any && m->kind == POLICY_ERROR && m->line == want && says(m, any))
			found = true;
	}
	if (!found)
		show_report(s);
	tap_ok(found && !s->policy, "%s: error on line %u: %s", s->title, want, line + skip);
}

static void directive(struct section *s, struct part **part, const char *line)
{
	char name[32] = "";

	if (sscanf(line, "@file %31s", name) == 1)
		*part = part_of(s, name);
	else if (strcmp(line, "@final") == 0)
		*part = NULL;
	else
		*part = part_of(s, line + 1);
}

static void run(FILE *table)
{
	static struct section s; /* large; one at a time */
	struct part *part = NULL;
	auto_free char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, table)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (text_starts(line, "== ")) {
			section_free(&s);
			snprintf(s.title, sizeof s.title, "%s", line + 3);
			part = part_of(&s, "user");
		} else if (!s.title[0]) {
			continue;
		} else if (*line == '@') {
			directive(&s, &part, line);
		} else if (text_starts(line, "? ")) {
			ask(&s, line + 2);
		} else if (text_starts(line, "! ")) {
			expect_error(&s, line + 2);
		} else if (part && !s.loaded) {
			add_line(&s, part, line);
		}
	}
	section_free(&s);
}

int main(void)
{
	const char *src = getenv("SRC");
	char path[4096];
	auto_file table = NULL;

	snprintf(path, sizeof path, "%s/tests/unit/policy_cases.txt", src ? src : ".");
	table = fopen(path, "re");
	tap_ok(table != NULL, "the table can be read");
	if (table)
		run(table);
	return tap_done();
}
