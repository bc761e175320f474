/* The parts that decisions are made of: patterns, versions, amounts, links,
 * settings. */
#include "policy/glob.h"
#include "policy/settings.h"
#include "policy/version.h"
#include "policy/words.h"
#include "tests/unit/policy_world.h"

static struct made_world w;

/* --- patterns against all short names ----------------------------------------- */

static const char *const globs[] = {
	"",    "a",  "b",   "*",    "a*",   "*a",  "*b*", "ab",
	"a*b", "**", "\\*", "a\\*", "*a*b", "bb*", "*ab",
};
#define GLOBS (sizeof globs / sizeof globs[0])

/* Matching in the slowest and plainest way. */
static bool slow_match(const char *g, const char *s)
{
	if (!*g)
		return !*s;
	if (*g == '*')
		return slow_match(g + 1, s) || (*s && slow_match(g, s + 1));
	if (*g == '\\')
		g++;
	return *g == *s && slow_match(g + 1, s + 1);
}

/* Calls with every name of up to four letters of a, b and *. */
static void each_name(void (*call)(const char *name, void *ctx), void *ctx)
{
	static const char letters[] = "ab*";

	for (unsigned len = 0; len <= 4; len++) {
		unsigned count = 1;

		for (unsigned i = 0; i < len; i++)
			count *= 3;
		for (unsigned n = 0; n < count; n++) {
			char name[5] = "";

			for (unsigned i = 0, k = n; i < len; i++, k /= 3)
				name[i] = letters[k % 3];
			call(name, ctx);
		}
	}
}

struct pair {
	const char *a, *b;
	bool same, covers, overlaps;
};

static void look_at(const char *name, void *ctx)
{
	struct pair *p = ctx;
	bool a = slow_match(p->a, name);
	bool b = slow_match(p->b, name);

	p->same &= a == glob_match(slice_of(p->a), slice_of(name));
	p->covers &= a || !b;
	p->overlaps |= a && b;
}

static void glob_relations(void)
{
	unsigned wrong = 0;
	unsigned covering = 0;

	for (size_t i = 0; i < GLOBS; i++) {
		for (size_t j = 0; j < GLOBS; j++) {
			struct pair p = {globs[i], globs[j], true, true, false};
			bool covers = glob_covers(slice_of(p.a), slice_of(p.b));

			each_name(look_at, &p);
			/* Covers may be missed, never invented; overlaps is exact. */
			wrong += !p.same || (covers && !p.covers) ||
			         p.overlaps != glob_overlaps(slice_of(p.a), slice_of(p.b));
			covering += covers;
		}
	}
	tap_is_int(wrong, 0, "globs match, cover and overlap as every short name says");
	tap_ok(covering > GLOBS, "and some cover others");
}

static const char *const paths[] = {
	"/",     "/a",    "/a/b",    "/a/*", "/*",  "/**",
	"/a/**", "/**/b", "/a/**/b", "/*/b", "/a*", "/**/a/**",
};
#define PATHS (sizeof paths / sizeof paths[0])

/* Every path of up to three parts of a, b, ab. */
static void path_names(const char **out, size_t *n)
{
	static const char *const parts[] = {"a", "b", "ab"};
	static char text[64][16];

	*n = 0;
	out[(*n)++] = "/";
	for (unsigned i = 0; i < 3; i++) {
		snprintf(text[*n], sizeof text[0], "/%s", parts[i]);
		out[*n] = text[*n];
		(*n)++;
		for (unsigned j = 0; j < 3; j++) {
			snprintf(text[*n], sizeof text[0], "/%s/%s", parts[i], parts[j]);
			out[*n] = text[*n];
			(*n)++;
			for (unsigned k = 0; k < 3; k++) {
				snprintf(text[*n], sizeof text[0], "/%s/%s/%s", parts[i], parts[j],
				         parts[k]);
				out[*n] = text[*n];
				(*n)++;
			}
		}
	}
}

static void path_relations(void)
{
	const char *names[64];
	size_t n;
	unsigned wrong = 0;

	path_names(names, &n);
	for (size_t i = 0; i < PATHS; i++) {
		for (size_t j = 0; j < PATHS; j++) {
			bool covers = true;
			bool overlaps = false;

			for (size_t k = 0; k < n; k++) {
				bool a = path_match(paths[i], names[k], false);
				bool b = path_match(paths[j], names[k], false);

				covers &= a || !b;
				overlaps |= a && b;
			}
			wrong += path_covers(paths[i], paths[j]) && !covers;
			wrong += overlaps && !path_overlaps(paths[i], paths[j]);
			wrong += overlaps && path_differs(paths[i], paths[j]);
		}
	}
	tap_is_int(wrong, 0, "paths cover and overlap as every short path says");
	tap_ok(path_covers("/a/**", "/a"), "P/** covers P");
	tap_ok(path_covers("/a/**", "/a/*/b/**"), "P/** covers what is below");
	tap_ok(!path_covers("/a/*", "/a/**"), "* does not cover **");
	tap_ok(path_overlaps("/**/x", "/a/**"), "two ** overlap");
	tap_ok(!path_overlaps("/a/x*", "/a/y*"), "beginnings of names differ");
	tap_ok(!path_overlaps("/**/x.pem", "/a/x.key"), "ends of names differ");
	tap_ok(!path_overlaps("/**/.ssh/id", "/a/.aws/id"), "folders differ, seen from the end");
	tap_ok(path_overlaps("/**/x", "/a/*x"), "a star at the end of what is equal");
	tap_ok(path_overlaps("/a/b\\ c", "/a/b c"), "a byte with and without its backslash");
	tap_ok(path_overlaps("/**/b\\*", "/a/b*"), "a star that is meant itself");
	tap_ok(path_overlaps("/**/c", "/c") && path_overlaps("/**", "/c"), "** for no part");
	tap_ok(path_match("/A/B", "/a/b", true), "case ignored");
	tap_ok(!path_match("/A/B", "/a/b", false), "case kept");
	tap_is_int((long long)path_literal_len("/a/b*/c"), 2, "the literal beginning");
}

/* --- versions -------------------------------------------------------------------- */

static const struct {
	const char *version, *range;
	enum fact_state want;
} versions[] = {
	{"1.2.3", "1.2.3", FACT_YES},
	{"1.2.3", "=1.2.3", FACT_YES},
	{"v1.2.3", "==1.2.3", FACT_YES},
	{"1.2", "1.2.0", FACT_YES},
	{"1.2.4", "1.2.3", FACT_NO},
	{"1.2.4", "!=1.2.3", FACT_YES},
	{"4.18.2", ">=4 <6", FACT_YES},
	{"4.18.2", ">=4, <6", FACT_YES},
	{"6.0.0", ">=4 <6", FACT_NO},
	{"3.9.9", ">=4 <6", FACT_NO},
	{"4.0.0", ">4", FACT_NO},
	{"4.0.1", ">4", FACT_YES},
	{"4.0.0", "<=4", FACT_YES},
	{"1.9.9", "^1.2.3", FACT_YES},
	{"2.0.0", "^1.2.3", FACT_NO},
	{"1.2.2", "^1.2.3", FACT_NO},
	{"0.2.9", "^0.2.3", FACT_YES},
	{"0.3.0", "^0.2.3", FACT_NO},
	{"0.0.4", "^0.0.3", FACT_NO},
	{"0.9.0", "^0", FACT_YES},
	{"1.2.9", "~1.2.3", FACT_YES},
	{"1.3.0", "~1.2.3", FACT_NO},
	{"1.9.0", "~1", FACT_YES},
	{"1.4.5", "~=1.4.2", FACT_YES},
	{"1.5.0", "~=1.4.2", FACT_NO},
	{"1.9", "~=1.4", FACT_YES},
	{"2.7.1", "2.*", FACT_YES},
	{"2.7.1", "==2.*", FACT_YES},
	{"3.0.0", "2.x", FACT_NO},
	{"3.0.0", "!=2.*", FACT_YES},
	{"9.9.9", "*", FACT_YES},
	{"1.0.0", "0.9 || ^1", FACT_YES},
	{"2.0.0", "0.9 || ^1", FACT_NO},
	{"10.0.0", ">9.0.0", FACT_YES},
	/* A pre-release is nobody's who did not name one of that release. */
	{"2.0.0-beta.1", ">=1", FACT_NO},
	{"2.0.0-beta.1", "<2.0.0", FACT_NO},
	{"2.0.0-beta.2", ">=2.0.0-beta.1", FACT_YES},
	{"2.0.0-beta.10", ">2.0.0-beta.9", FACT_YES},
	{"2.0.1-beta.1", ">=2.0.0-beta.1", FACT_NO},
	{"2.0.0", ">=2.0.0-beta.1", FACT_YES},
	{"2.0rc1", ">=2.0", FACT_NO},
	{"2.0rc1", "2.0rc1", FACT_YES},
	{"2.0.post1", ">2.0", FACT_YES},
	{"1.2.3+build", "1.2.3", FACT_YES},
	/* What is no exact version cannot be judged. */
	{"latest", "*", FACT_UNKNOWN},
	{"^1.2", ">=1", FACT_UNKNOWN},
	{"1.x", ">=1", FACT_UNKNOWN},
	{"", ">=1", FACT_UNKNOWN},
	{"1 2", ">=1", FACT_UNKNOWN},
	{"99999999999999999999999.0", ">=1", FACT_YES},
};

static const char *const bad_ranges[] = {
	"", "latest", ">=", "1..2", "^", "a.b", "1 || ", "|| 1", ">1.*", "~=1", "1 | 2", ">= x y",
};

static void version_ranges(void)
{
	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
		tap_is_int(version_in_range(versions[i].version, versions[i].range),
		           versions[i].want, "version %s in %s", versions[i].version,
		           versions[i].range);
	for (size_t i = 0; i < sizeof bad_ranges / sizeof bad_ranges[0]; i++)
		tap_ok(!version_range_is_valid(bad_ranges[i]), "no range: \"%s\"", bad_ranges[i]);
}

/* --- amounts ---------------------------------------------------------------------- */

static void amounts(void)
{
	uint32_t s = 0;
	uint64_t n = 0;

	tap_ok(!words_duration("90s", &s) && s == 90, "90s");
	tap_ok(!words_duration("1h30m", &s) && s == 5400, "1h30m");
	tap_ok(!words_duration("2w1d", &s) && s == 15 * 86400, "2w1d");
	tap_ok(words_duration("90", &s) && words_duration("", &s) && words_duration("0s", &s) &&
	               words_duration("m", &s) && words_duration("1y", &s),
	       "no durations");
	tap_is_int(words_duration("99999999999999999999s", &s), -ERR_BOUND, "too long");
	tap_is_int(words_duration("9999999w", &s), -ERR_BOUND, "too long in seconds");
	tap_ok(!words_amount("2G", &n) && n == 2ull << 30, "2G");
	tap_ok(!words_amount("512K", &n) && n == 512 << 10, "512K");
	tap_ok(!words_amount("7", &n) && n == 7, "7");
	tap_ok(words_amount("2X", &n) && words_amount("G", &n) && words_amount("2GB", &n),
	       "no amounts");
	tap_is_int(words_amount("99999999999T", &n), -ERR_BOUND, "too much");
	tap_ok(!words_time("1970-01-02", &n) && n == 86400, "a date");
	tap_ok(!words_time("2000-03-01T00:00Z", &n) && n == 951868800, "a leap year");
	tap_ok(!words_time("2026-12-01T12:30:05Z", &n) && n == 1796128205, "a time");
	tap_ok(words_time("2025-02-29", &n) && words_time("2026-13-01", &n) &&
	               words_time("2026-12-01T25:00Z", &n) && words_time("2026-12-01T12:30", &n) &&
	               words_time("1969-12-31", &n) && words_time("2026-1-1", &n),
	       "no times");
}

/* --- links by the world's own function ---------------------------------------------- */

static char *canonical(void *ctx, const char *path)
{
	(void)ctx;
	return strdup(strncmp(path, "/l", 2) == 0 ? "/real" : path);
}

static bool identity(void *ctx, const char *path, uint64_t *dev, uint64_t *ino)
{
	(void)ctx;
	*dev = 1;
	*ino = 7;
	return strcmp(path, "/real") == 0;
}

static void other_world(void)
{
	struct policy *p;

	w.world.look = NULL;
	w.world.canonical = canonical;
	w.world.identity = identity;
	p = made_load(&w, "wary 1\ndefault deny\nallow read /l/** /plain\ndeny write /l\n");
	made_is(&w, p, "read /real/x", "allow user.wary:3", "canonical: a link");
	made_is(&w, p, "read /plain", "allow user.wary:3", "canonical: no link");
	made_is(&w, p, "write /real", "deny user.wary:4", "canonical: a deny");
	tap_ok(policy_inode_denied(p, 1, 7), "identity: of what a deny names");
	policy_free(p);
	p = made_load(&w, "wary 1\ndefault deny\nallow edit /l/** /l\n");
	made_is(&w, p, "write /real/x", "deny user.wary:2",
	        "canonical: any folder on the way may be a link that the tree replaces");
	policy_free(p);
	made_begin(&w);
}

/* Many names of one folder are learned at once. */
static char *list_home(void *ctx, const char *path, size_t max)
{
	static const char names[] = "l.aws\0d.ssh\0o.netrc\0";
	struct made_world *world = ctx;
	char *out;

	(void)max;
	world->lists++;
	if (strcmp(path, "/home/ana") != 0)
		return NULL;
	out = malloc(sizeof names);
	memcpy(out, names, sizeof names);
	return out;
}

static void listing(void)
{
	static const struct made_node nodes[] = {
		{"/home", POLICY_FOLDER, NULL, 1},
		{"/home/ana", POLICY_FOLDER, NULL, 2},
		{"/home/ana/.aws", POLICY_LINK, "dot", 3},
		{"/home/ana/dot", POLICY_FOLDER, NULL, 4},
		{"/home/ana/.netrc", POLICY_OTHER, NULL, 5},
		{"/home/ana/.ssh", POLICY_FOLDER, NULL, 6},
	};
	struct policy *p;
	struct facts f = {.class = CLASS_READ, .object = "/home/ana/hard", .dev = 1, .ino = 5};
	struct verdict v;

	memcpy(w.nodes, nodes, sizeof nodes);
	w.world.list = list_home;
	p = made_load(&w,
	              "wary 1\ndefault allow\ndeny read ~/.a ~/.b ~/.c ~/.d ~/.e ~/.f ~/.g ~/.h\n"
	              "deny read ~/.aws/x ~/.netrc ~/.ssh/**\n");
	tap_is_int(w.lists, 1, "listing: the home, once");
	tap_ok(w.looks < 12, "listing: few are looked at (%u)", w.looks);
	made_is(&w, p, "read /home/ana/dot/x", "deny user.wary:4", "listing: a link is followed");
	policy_decide(p, &f, &v);
	tap_is_int(v.answer, ANSWER_DENY, "listing: a file is known by its inode");
	policy_free(p);
	made_begin(&w);
}

/* --- settings ------------------------------------------------------------------------- */

static void settings(void)
{
	struct policy *p = made_load(
		&w,
		"wary 1\ndefault deny\naudit count read,stat\naudit off write\naudit count write\n"
		"env drop *_TOKEN\nenv pass MY_TOKEN\nenv set LANG = C\ntmp private\nallow read "
		"/a/{b,c}\n"
		"final deny exec because \"none\"\nallow connect a.org:1\n");
	struct policy_rule r;
	const struct policy_audit *a = policy_audit_of(p);
	size_t n = policy_rule_count(p);

	tap_ok(a->count == (CLASS_BIT(CLASS_READ) | CLASS_BIT(CLASS_STAT) |
	                    CLASS_BIT(CLASS_WRITE)) &&
	               !a->off && !a->sync,
	       "audit: the later replaces");
	tap_ok(!policy_env_keeps(p, "A_TOKEN") && policy_env_keeps(p, "MY_TOKEN") &&
	               policy_env_keeps(p, "HOME"),
	       "env: the last decides");
	tap_is_int((long long)policy_env_set_count(p), 1, "env set");
	tap_is_str(policy_env_set_at(p, 0)->value, "C", "env set: value");
	tap_ok(policy_tmp_private(p), "tmp private");
	tap_is_int(policy_default_of(p, CLASS_READ), ANSWER_DENY, "default");
	tap_is_int(policy_default_of(p, CLASS_STAT), -1, "no default");
	policy_rule_at(p, n - 4, &r);
	tap_is_str(r.text, "allow read /a/{b,c}", "rule: text");
	tap_is_str(policy_rule_object(p, n - 4, 1), "/a/c", "rule: object");
	tap_ok(!policy_rule_object(p, n - 4, 2), "rule: no more");
	policy_rule_at(p, n - 3, &r);
	tap_ok(r.is_final && strcmp(r.because, "none") == 0 && r.classes == CLASS_BIT(CLASS_EXEC),
	       "rule: final");
	policy_rule_at(p, n - 1, &r);
	tap_ok(r.is_derived && r.classes == CLASS_BIT(CLASS_RESOLVE), "rule: derived");
	tap_is_int((long long)policy_source_count(p), 1, "source");
	tap_is_str(policy_source_at(p, 0)->name, "user.wary", "source: name");
	policy_free(p);
}

/* --- prefixes ---------------------------------------------------------------------------- */

static char found[400];

static bool only_named_so(void *ctx, const char *path)
{
	(void)ctx;
	return strcmp(path, "user.wary") == 0 || strcmp(path, "etc.wary") == 0;
}

static bool loads(const char *const *files)
{
	struct policy_report *r = NULL;
	struct policy *p = NULL;
	int err = policy_load(&w.world, files, &p, &r);

	if (!err)
		policy_free(p);
	policy_report_free(r);
	return !err;
}

/* How long sessions are kept. */
static void retention(void)
{
	static const char *const both[] = {"machine:etc.wary", "user.wary", NULL};
	static const char *const project[] = {"user.wary", "project:project.wary", NULL};
	static const char *const line[] = {"user.wary", "rules:audit keep 1d\n", NULL};
	static const char *const user[] = {"user.wary", NULL};
	struct policy *p;
	const struct policy_audit *a;

	made_begin(&w);
	w.world.lasting = only_named_so;
	made_file_is(&w, "etc.wary", "wary 1\ndefault pass\naudit keep 52w\naudit max-size 1G\n");
	made_file_is(&w, "user.wary",
	             "wary 1\naudit keep 400d\naudit keep 30d # later\naudit max-size 2G\n");
	made_file_is(&w, "project.wary", "wary 1\naudit keep 1d\n");
	made_file_is(&w, "else.wary", "wary 1\naudit keep 1d\n");
	p = made_load_files(&w, both);
	a = policy_audit_of(p);
	tap_ok(a->keep.amount == 52 * 7 * 86400ull && a->keep.line == 3 &&
	               strcmp(a->keep.file, "etc.wary") == 0,
	       "retention: the machine's longer span stays");
	tap_is_str(a->keep.text, "audit keep 52w", "retention: as written");
	tap_ok(a->max_size.amount == 2ull << 30 && strcmp(a->max_size.file, "user.wary") == 0,
	       "retention: the user's larger size");
	policy_free(p);
	p = made_load_files(&w, user);
	a = policy_audit_of(p);
	tap_ok(a->keep.amount == 30 * 86400ull && a->keep.line == 3,
	       "retention: in one text the later");
	policy_free(p);
	tap_ok(!loads(project), "retention: not a project's");
	tap_ok(!loads(line), "retention: not the command line's");
	made_file_is(&w, "user.wary", "wary 1\ninclude \"else.wary\"\n");
	tap_ok(!loads(user), "retention: not what is included from elsewhere");
	made_file_is(&w, "else.wary", "wary 1\n");
	tap_ok(loads(user), "retention: which without it is no error");
	made_begin(&w);
}

static void note_prefix(void *ctx, const char *prefix, bool below, unsigned classes)
{
	size_t n = strlen(found);

	(void)ctx;
	snprintf(found + n, sizeof found - n, "%s%s%s:%x", n ? " " : "", prefix, below ? "+" : "",
	         classes);
}

static void prefixes(void)
{
	struct policy *p =
		made_load(&w, "wary 1\ndefault deny\nallow read /a/b/** /c /d*/e\ndeny read /x\n"
	                      "ask exec **/f\nallow connect *:*\n");

	policy_prefixes(p, note_prefix, NULL);
	tap_is_str(found, "/+:e040 /a/b+:1 /c:1 /+:1 /+:80", "prefixes");
	policy_free(p);
}

int main(void)
{
	made_begin(&w);
	glob_relations();
	path_relations();
	version_ranges();
	amounts();
	other_world();
	listing();
	settings();
	retention();
	prefixes();
	return tap_done();
}
