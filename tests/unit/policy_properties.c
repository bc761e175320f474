/* Properties over policies and questions from a seeded generator.
 *
 * The generator's world is small on purpose: few names, so that rules meet. */
#include "base/buf.h"
#include "tests/unit/policy_world.h"

#define POLICIES 400
#define QUESTIONS 40

static struct made_world w;
static unsigned long state = 88172645463325252ul;

static unsigned pick(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 20) % n;
}

#define PICK(list) (list)[pick(sizeof(list) / sizeof(list)[0])]

static const char *const paths[] = {
	"/a",     "/a/", "/a/b", "/a/*",  "/a/b/c", "**/c",          "/a/**/c", "/{a,b}/b",
	"/b/*.x", "/**", "/b",   "/b/**", "~/k",    "${PROJECT}/**", "/a/b*/c", "**/b/**",
};
static const char *const names[] = {
	"/a",     "/a/b", "/a/b/c",      "/a/x/y/c",           "/b", "/b/b",
	"/b/f.x", "/c",   "/home/ana/k", "/home/ana/proj/a/b", "/z", "/",
};
static const char *const addresses[] = {
	"*:*",          "*:443",       "10.0.0.0/8:*",
	"10.1.2.3:443", "a.org:443",   "*.a.org:*",
	"loopback:*",   "private:443", "[2001:db8::1]:443",
	"udp/*:53",     "own:*",       "[2001:db8::]/16:443",
};
static const char *const places[] = {
	"10.1.2.3:443",      "1.2.3.4:443",    "a.org:443",  "x.a.org:80", "127.0.0.1:80",
	"[2001:db8::1]:443", "udp/9.9.9.9:53", "10.9.9.9:1", "own:80",
};
static const char *const packages[] = {"npm:*", "npm:a", "pip:*", "*:*", "npm:@s/*", "pip:a-b"};
static const char *const installs[] = {"npm:a", "npm:b", "pip:a-b", "npm:@s/x"};
static const char *const verdicts[] = {"allow", "deny", "ask", "kill"};
static const char *const file_classes[] = {"read", "write", "edit", "file", "read,exec"};
static const char *const conds[] = {
	"",
	"",
	"",
	"",
	" by /usr/bin/x",
	" under /usr/bin/y",
	" under install:npm",
	" when argv p **",
	" until 2027-01-01",
};

static void a_rule(struct buf *b, bool finals)
{
	const char *verdict = PICK(verdicts);

	buf_fmt(b, "%s%s ", finals && pick(6) == 0 ? "final " : "", verdict);
	switch (pick(4)) {
	case 0:
		buf_fmt(b, "connect %s", PICK(addresses));
		break;
	case 1:
		buf_fmt(b, "install %s%s", PICK(packages), pick(3) ? "" : " when new");
		break;
	default:
		buf_fmt(b, "%s %s", PICK(file_classes), PICK(paths));
		if (pick(4) == 0)
			buf_fmt(b, " %s", PICK(paths));
	}
	buf_fmt(b, "%s\n", PICK(conds));
}

static void a_policy(struct buf *b, unsigned rules, bool finals, const char *head)
{
	buf_reset(b);
	buf_str(b, head);
	for (unsigned i = 0; i < rules; i++)
		a_rule(b, finals);
}

static const char *a_question(void)
{
	static char text[200];
	static const char *const classes[] = {"read", "write", "exec"};

	switch (pick(4)) {
	case 0:
		snprintf(text, sizeof text, "connect %s", PICK(places));
		break;
	case 1:
		snprintf(text, sizeof text, "install %s%s", PICK(installs),
		         pick(2) ? "" : " if new");
		break;
	default:
		snprintf(text, sizeof text, "%s %s%s%s", PICK(classes), PICK(names),
		         pick(3) ? "" : " by /usr/bin/x", pick(3) ? "" : " under /usr/bin/y");
	}
	return text;
}

/* Makes some facts unknown. */
static void blur(struct facts *f)
{
	if (pick(4) == 0)
		f->by.path = NULL;
	if (pick(4) == 0)
		f->under_known = false;
	if (pick(4) == 0)
		f->package.is_new = FACT_UNKNOWN;
	if (pick(4) == 0)
		f->target.argv_whole = false;
	if (pick(4) == 0)
		f->by.fixed = false;
	if (pick(8) == 0)
		f->now_s = 0;
}

/* A policy of random text that loads, or NULL (an allow for a program that
 * the tree may write is an error, and random rules make some). */
static struct policy *try_load(const char *const *files)
{
	struct policy_report *r = NULL;
	struct policy *p = NULL;
	int err = policy_load(&w.world, files, &p, &r);

	policy_report_free(r);
	return err ? NULL : p;
}

static struct policy *try_text(struct buf *b)
{
	static const char *const files[] = {"user.wary", NULL};

	made_file_is(&w, "user.wary", buf_text(b));
	return try_load(files);
}

struct asked {
	struct policy_question *q;
	struct facts facts;
};

static bool ask(const struct policy *p, struct asked *a, const char *question)
{
	const struct facts *f;
	struct policy_report *r = NULL;
	int err = policy_question_new(p, &w.world, question, &a->q, &f, &r);

	policy_report_free(r);
	if (err)
		return false;
	a->facts = *f;
	return true;
}

static int failures;

static void expect_same(bool same, const char *what, const char *question, const char *text)
{
	if (same)
		return;
	if (failures++ < 3)
		tap_ok(false, "%s: %s in\n# %s", what, question, text);
}

/* --- the properties ------------------------------------------------------------------ */

/* What explain finds by looking at every rule is what decide finds by its
 * indexes. */
static void explain_agrees(const struct policy *p, struct asked *a, const char *question,
                           const char *text)
{
	struct policy_explanation *e = NULL;
	struct verdict v;
	unsigned decided = 0;
	bool same = true;

	policy_decide(p, &a->facts, &v);
	if (policy_explain(p, &a->facts, &e))
		return;
	for (size_t i = 0; i < policy_explanation_count(e); i++) {
		const struct policy_match *m = policy_explanation_at(e, i);

		if (m->why != WHY_DECIDED || strcmp(m->source, "policy") != 0)
			continue;
		decided++;
		same &= v.is_floor || (m->line == v.line && m->answer == v.answer);
	}
	same &= decided == (v.is_default || v.is_floor ? 0u : 1u) || v.is_floor;
	expect_same(same, "explain and decide agree", question, text);
	policy_explanation_free(e);
}

/* The verdict by the laws, from the list of all rules that explain gives:
 * first certain final, else last; what is unknown may decide too. */
static void laws_agree(const struct policy *p, struct asked *a, const char *question,
                       const char *text)
{
	struct policy_explanation *e = NULL;
	struct verdict v;
	int strictest = -1;
	bool final_sure = false;
	bool sure = false;

	policy_decide(p, &a->facts, &v);
	if (v.is_floor || policy_explain(p, &a->facts, &e))
		return;
	for (size_t i = 0; i < policy_explanation_count(e) && !final_sure; i++) {
		const struct policy_match *m = policy_explanation_at(e, i);
		bool maybe = m->why == WHY_UNKNOWN;
		bool yes = m->why == WHY_DECIDED || m->why == WHY_LATER || m->why == WHY_FINAL ||
		           m->why == WHY_STRICTER;

		if (!m->is_final || strcmp(m->source, "policy") != 0 || (!maybe && !yes))
			continue;
		/* The one that decided may be one whose condition is unknown. */
		final_sure = yes && !m->condition;
		if ((int)m->answer > strictest)
			strictest = (int)m->answer;
	}
	for (size_t i = policy_explanation_count(e); i-- > 0 && !final_sure && !sure;) {
		const struct policy_match *m = policy_explanation_at(e, i);
		bool yes = m->why == WHY_DECIDED || m->why == WHY_LATER || m->why == WHY_STRICTER;

		if (m->is_final || strcmp(m->source, "policy") != 0 ||
		    (!yes && m->why != WHY_UNKNOWN))
			continue;
		sure = yes && !m->condition;
		if ((int)m->answer > strictest)
			strictest = (int)m->answer;
	}
	if (!final_sure && !sure && strictest < ANSWER_ASK)
		strictest = ANSWER_ASK; /* the default */
	expect_same((int)v.answer == strictest, "the verdict is the laws'", question, text);
	policy_explanation_free(e);
}

static void decisions(void)
{
	unsigned asked = 0;
	auto_buf b = BUF_INIT;

	failures = 0;
	for (unsigned i = 0; i < POLICIES; i++) {
		struct policy *p;

		a_policy(&b, 1 + pick(12), true, "wary 1\n");
		p = try_text(&b);
		for (unsigned k = 0; p && k < QUESTIONS; k++) {
			struct asked a;
			const char *question = a_question();

			if (!ask(p, &a, question))
				continue;
			blur(&a.facts);
			explain_agrees(p, &a, question, buf_text(&b));
			laws_agree(p, &a, question, buf_text(&b));
			policy_question_free(a.q);
			asked++;
		}
		policy_free(p);
	}
	tap_ok(!failures, "explain, decide and the laws agree (%u questions)", asked);
	tap_ok(asked > POLICIES, "and enough was asked");
}

/* A machine's policy never widens. */
static void machine_never_widens(void)
{
	static const char *const both[] = {"machine:machine.wary", "user.wary", NULL};
	static const char *const alone[] = {"user.wary", NULL};
	auto_buf user = BUF_INIT;
	auto_buf machine = BUF_INIT;
	unsigned asked = 0;

	failures = 0;
	for (unsigned i = 0; i < POLICIES; i++) {
		struct policy *p1;
		struct policy *p2;

		a_policy(&user, 1 + pick(8), true, "wary 1\ndefault deny\n");
		a_policy(&machine, 1 + pick(8), true, "wary 1\ndefault pass\n");
		made_file_is(&w, "user.wary", buf_text(&user));
		made_file_is(&w, "machine.wary", buf_text(&machine));
		p1 = try_load(alone);
		p2 = try_load(both);
		for (unsigned k = 0; p1 && p2 && k < QUESTIONS; k++) {
			struct asked a;
			const char *question = a_question();
			struct verdict v1;
			struct verdict v2;

			if (!ask(p1, &a, question))
				continue;
			blur(&a.facts);
			policy_decide(p1, &a.facts, &v1);
			policy_decide(p2, &a.facts, &v2);
			expect_same(v1.is_floor || v2.answer >= v1.answer,
			            "the machine never widens", question, buf_text(&machine));
			policy_question_free(a.q);
			asked++;
		}
		policy_free(p1);
		policy_free(p2);
	}
	tap_ok(!failures && asked > POLICIES, "a machine's policy never widens (%u questions)",
	       asked);
}

/* Nothing after a final rule that matches changes a verdict. */
static void nothing_after_final(void)
{
	auto_buf b = BUF_INIT;
	auto_buf more = BUF_INIT;
	unsigned asked = 0;

	failures = 0;
	for (unsigned i = 0; i < POLICIES; i++) {
		const char *verdict = PICK(verdicts);
		struct policy *p1;
		struct policy *p2;

		a_policy(&b, pick(4), false, "wary 1\n");
		buf_fmt(&b, "final %s read,write,exec /a/**\n", verdict);
		p1 = try_text(&b);
		buf_reset(&more);
		buf_str(&more, buf_text(&b));
		for (unsigned k = 0; k < 5; k++)
			a_rule(&more, true);
		p2 = try_text(&more);
		for (unsigned k = 0; p1 && p2 && k < QUESTIONS; k++) {
			struct asked a;
			const char *question = a_question();
			struct verdict v1;
			struct verdict v2;

			if (!ask(p1, &a, question))
				continue;
			policy_decide(p1, &a.facts, &v1);
			policy_decide(p2, &a.facts, &v2);
			if (strncmp(a.facts.object, "/a", 2) == 0)
				expect_same(v1.line == v2.line && v1.answer == v2.answer,
				            "after a final", question, buf_text(&more));
			asked++;
			policy_question_free(a.q);
		}
		policy_free(p1);
		policy_free(p2);
	}
	tap_ok(!failures && asked > POLICIES, "nothing after a final changes a verdict (%u)",
	       asked);
}

/* Rules that cannot overlap may stand in any order. */
static void disjoint_order(void)
{
	static const char *const rules[] = {
		"allow read /a/**",     "deny read /b/**",    "ask write /a/**",
		"kill exec /c",         "deny read /d/*",     "allow connect *:443",
		"ask install npm:*",    "deny install pip:*", "ask connect *:80",
		"allow read /e/f/**/g",
	};
	enum { N = sizeof rules / sizeof rules[0] };
	static const char *const questions[] = {
		"read /a/x",       "read /b/x",           "write /a/x",    "exec /c",
		"read /d/y",       "connect 1.1.1.1:443", "install npm:x", "install pip:y",
		"read /e/f/1/2/g", "connect 1.1.1.1:80",
	};
	char first[N][100];
	auto_buf b = BUF_INIT;

	failures = 0;
	for (unsigned i = 0; i < 200; i++) {
		unsigned order[N];
		struct policy *p;

		for (unsigned k = 0; k < N; k++)
			order[k] = k;
		for (unsigned k = N; i && k > 1; k--) {
			unsigned j = pick(k);
			unsigned kept = order[k - 1];

			order[k - 1] = order[j];
			order[j] = kept;
		}
		buf_reset(&b);
		buf_str(&b, "wary 1\n");
		for (unsigned k = 0; k < N; k++)
			buf_fmt(&b, "%s\n", rules[order[k]]);
		p = try_text(&b);
		for (unsigned k = 0; p && k < N; k++) {
			struct asked a;
			struct verdict v;

			if (!ask(p, &a, questions[k]))
				continue;
			policy_decide(p, &a.facts, &v);
			if (!i)
				snprintf(first[k], sizeof first[k], "%s", v.text);
			expect_same(strcmp(first[k], v.text) == 0, "order", questions[k],
			            buf_text(&b));
			policy_question_free(a.q);
		}
		policy_free(p);
	}
	tap_ok(!failures, "rules that cannot overlap may stand in any order");
}

/* fmt keeps meaning, and doing it twice changes nothing. */
static void fmt_keeps_meaning(void)
{
	auto_buf b = BUF_INIT;
	unsigned asked = 0;

	failures = 0;
	for (unsigned i = 0; i < POLICIES; i++) {
		struct policy *p1;
		struct policy *p2;
		struct policy_report *r = NULL;
		auto_buf laid = BUF_INIT;
		auto_buf again = BUF_INIT;

		a_policy(&b, 1 + pick(10), true, "wary 1\n# a comment\n\n");
		p1 = try_text(&b);
		expect_same(policy_fmt("x", b.data, b.len_bytes, &laid, &r) == 0, "fmt", "",
		            buf_text(&b));
		policy_report_free(r);
		expect_same(policy_fmt("x", laid.data, laid.len_bytes, &again, &r) == 0, "fmt", "",
		            buf_text(&laid));
		policy_report_free(r);
		expect_same(strcmp(buf_text(&laid), buf_text(&again)) == 0, "fmt twice", "",
		            buf_text(&laid));
		p2 = try_text(&laid);
		expect_same(!p1 == !p2, "fmt loads", "", buf_text(&laid));
		for (unsigned k = 0; p1 && p2 && k < QUESTIONS; k++) {
			struct asked a;
			const char *question = a_question();
			struct verdict v1;
			struct verdict v2;

			if (!ask(p1, &a, question))
				continue;
			policy_decide(p1, &a.facts, &v1);
			policy_decide(p2, &a.facts, &v2);
			expect_same(v1.answer == v2.answer && strcmp(v1.text, v2.text) == 0,
			            "fmt keeps meaning", question, buf_text(&laid));
			asked++;
			policy_question_free(a.q);
		}
		policy_free(p1);
		policy_free(p2);
	}
	tap_ok(!failures && asked > POLICIES, "fmt keeps meaning (%u questions)", asked);
}

static struct facts some_facts(enum policy_class class, const char *object)
{
	struct facts f = {.class = class, .object = object, .under_known = true, .now_s = 1000};

	f.by.path = pick(2) ? "/usr/bin/x" : "/bin/q";
	f.by.fixed = true;
	return f;
}

static void compare_names(const struct policy *p, enum policy_class class, const char *from,
                          const char *to, const char *tail, const char *text)
{
	char old_name[64];
	char new_name[64];
	struct facts f = some_facts(class, old_name);
	struct verdict v1;
	struct verdict v2;

	snprintf(old_name, sizeof old_name, "%s%s", from, tail);
	snprintf(new_name, sizeof new_name, "%s%s", to, tail);
	policy_decide(p, &f, &v1);
	f.object = new_name;
	policy_decide(p, &f, &v2);
	expect_same(v2.answer >= v1.answer, old_name, new_name, text);
}

/* Law 12: where a rename may run, nothing at or below the new name is looser
 * than at or below the old. */
static void renames_never_loosen(void)
{
	static const char *const roots[] = {"/a", "/a/b", "/b", "/a/x", "/b/f.x", "/z", "/a/b/c"};
	static const char *const below[] = {"", "/a", "/b", "/c", "/b/c", "/x/c", "/f.x", "/b/b/c"};
	static const enum policy_class classes[] = {CLASS_READ, CLASS_WRITE, CLASS_EXEC,
	                                            CLASS_DELETE};
	auto_buf b = BUF_INIT;
	unsigned ran = 0;
	unsigned refused = 0;

	failures = 0;
	for (unsigned i = 0; i < 4 * POLICIES; i++) {
		struct policy *p;
		const char *from = PICK(roots);
		const char *to = PICK(roots);
		struct facts who = {.object = from, .object_is_dir = pick(2)};

		a_policy(&b, 1 + pick(8), true, pick(2) ? "wary 1\n" : "wary 1\ndefault deny\n");
		p = try_text(&b);
		if (!p)
			continue;
		if (policy_looser_below(p, from, to, &who)) {
			refused++;
			policy_free(p);
			continue;
		}
		ran++;
		for (unsigned k = 0; k < 32; k++)
			compare_names(p, classes[k / 8], from, to,
			              who.object_is_dir ? below[k % 8] : "", buf_text(&b));
		policy_free(p);
	}
	tap_ok(!failures, "a rename that may run never loosens (%u ran, %u refused)", ran, refused);
	tap_ok(ran > 200 && refused > 200, "and both were met");
}

/* What policy_may_write says cannot be written is allowed to nobody. */
static void may_write_is_wide(void)
{
	auto_buf b = BUF_INIT;
	unsigned fixed = 0;

	failures = 0;
	for (unsigned i = 0; i < 2 * POLICIES; i++) {
		struct policy *p;
		const char *name = PICK(names);

		a_policy(&b, 1 + pick(8), true, "wary 1\ndefault deny\n");
		p = try_text(&b);
		if (p && !policy_may_write(p, name)) {
			struct facts f = some_facts(CLASS_WRITE, name);
			struct verdict v;

			policy_decide(p, &f, &v);
			expect_same(v.answer != ANSWER_ALLOW, "may_write", name, buf_text(&b));
			fixed++;
		}
		policy_free(p);
	}
	tap_ok(!failures && fixed > 50, "what cannot be written is allowed to nobody (%u)", fixed);
}

int main(void)
{
	made_begin(&w);
	decisions();
	renames_never_loosen();
	may_write_is_wide();
	machine_never_widens();
	nothing_after_final();
	disjoint_order();
	fmt_keeps_meaning();
	return tap_done();
}
