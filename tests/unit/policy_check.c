/* The checker's warnings, the layout of fmt, and explaining. */
#include "base/buf.h"
#include "tests/unit/policy_world.h"

static struct made_world w;

/* All messages of a check, one a line. */
static const char *checked(const char *text)
{
	static const char *const files[] = {"user.wary", NULL};
	static char out[4000];
	struct policy_report *r;
	struct policy *p = NULL;
	size_t n = 0;
	int err;

	made_file_is(&w, "user.wary", text);
	err = policy_check(&w.world, files, &p, &r);
	out[0] = '\0';
	for (size_t i = 0; i < policy_report_count(r); i++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? "\n" : "",
		                      made_message(r, i));
	if (!err)
		policy_free(p);
	policy_report_free(r);
	return out;
}

static const struct {
	const char *text, *want;
} warnings[] = {
	{"wary 1\ndeny read ~/.ssh/**\nallow read ~/**\n",
         "user.wary:3:1-16: warning: this opens what line 2 refuses (deny read ~/.ssh/**), since "
         "the "
         "last match decides"},
	{"wary 1\ndeny read ~/.ssh/** ~/.aws/**\nallow read ~/**\n",
         "user.wary:3:1-16: warning: this opens what line 2 refuses (deny read ~/.ssh/**), since "
         "the "
         "last match decides | and 1 more like it"},
	{"wary 1\nallow read ~/**\ndeny read ~/.ssh/**\n", ""},
	{"wary 1\ndeny read ~/.ssh/**\nallow read ~/.ssh/known_hosts by /usr/bin/ssh\n", ""},
	{"wary 1\nallow read /a/b\nask read /a/**\n",
         "user.wary:2:12-16: warning: this can never decide: the later rule user.wary:3 stands for "
         "all "
         "of it (ask read /a/**)"},
	{"wary 1\nallow read /a\nallow read /a\n",
         "user.wary:2:12-14: warning: this can never decide: the later rule user.wary:3 stands for "
         "all "
         "of it (allow read /a)"},
	{"wary 1\nfinal deny read /a/**\nallow read /a/b /c\n",
         "user.wary:3:12-16: warning: this can never decide: the final rule user.wary:2 stands for "
         "all "
         "of it (final deny read /a/**)"},
	{"wary 1\nallow read /a/b\nask read /a/** by /usr/bin/x\n",
         "user.wary:3:1-29: warning: a copy of the program evades this | put a rule without that "
         "condition before it"},
	{"wary 1\nallow read /a/b\nask read /a/** under /usr/bin/x\n", ""},
	{"wary 1\nallow read,write /a/b\nask read /a/**\n", ""},
	{"wary 1\nallow read /{a,b}/c\nask read /a/**\n", ""},
	{"wary 1\nallow connect a.org:443\nask connect *:443\n",
         "user.wary:2:15-24: warning: this can never decide: the later rule user.wary:3 stands for "
         "all "
         "of it (ask connect *:443)"},
	{"wary 1\nallow connect 10.1.2.3:443\nask connect 10.0.0.0/8:400-500\n",
         "user.wary:2:15-27: warning: this can never decide: the later rule user.wary:3 stands for "
         "all "
         "of it (ask connect 10.0.0.0/8:400-500)"},
	{"wary 1\nallow connect 10.1.2.3:22\nask connect 10.0.0.0/8:443\n", ""},
	{"wary 1\nallow install npm:express\nask install npm:*\n",
         "user.wary:2:15-26: warning: this can never decide: the later rule user.wary:3 stands for "
         "all "
         "of it (ask install npm:*)"},
	{"wary 1\nallow read **\n",
         "user.wary:2:12-14: warning: this allows it for every file on the disk"},
	{"wary 1\nallow edit /\n",
         "user.wary:2:12-13: warning: this allows it for every file on the disk"},
	{"wary 1\nallow exec\n",
         "user.wary:2:1-11: warning: this allows it for every file on the disk"},
	{"wary 1\nallow connect *:*\n",
         "user.wary:2:15-18: warning: this allows connections to every address"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as env\nsecret A from env:B to /usr/bin/gh as "
         "env\n",
         "user.wary:2:1-42: warning: nobody can receive this: user.wary:3 decides for its programs "
         "(secret A from env:B to /usr/bin/gh as env)"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as env\ndeny secret A\n",
         "user.wary:2:1-42: warning: nobody can receive this: user.wary:3 refuses it (deny secret "
         "A)"},
	{"wary 1\nsecret A from env:A to /usr/bin/nope as env\n",
         "user.wary:2:1-44: warning: nobody can receive this: there is no /usr/bin/nope"},
	{"wary 1\ndeny file ~/.aws/\n", "user.wary:2:1-18: note: this rule has every stat call "
                                        "decided, which costs some microseconds "
                                        "each"},
	{"wary 1\nallow connect registry:pip\n", "user.wary:2:1-27: note: nothing matches this: "
                                                 "the package manager is not configured here"},
	{"wary 1\nallow edit ${PROJECT}/**\nallow edit ${PROJECT}/out/x/**\n",
         "user.wary:3:12-31: warning: this goes through the link /home/ana/proj/out, which the "
         "policy "
         "lets the tree replace, and so allows nothing behind it | allow what the link leads to by "
         "its "
         "own name"},
	{"wary 1\nallow exec /usr/bin/**\ndeny exec /usr/bin/git when has push\n",
         "user.wary:3:1-37: warning: a copy of the program evades this | put a rule without that "
         "condition before it"},
};

static void machine_default(void)
{
	static const char *const files[] = {"machine:machine.wary", "user.wary", NULL};
	struct policy_report *r;
	struct policy *p = NULL;

	made_file_is(&w, "machine.wary", "wary 1\ndeny read /x\n");
	made_file_is(&w, "user.wary", "wary 1\n");
	tap_is_int(policy_check(&w.world, files, &p, &r), 0, "a machine's policy without default");
	tap_is_str(
		made_message(r, 0),
		"machine.wary:2:1-13: warning: a machine's policy without a default asks about all "
		"that it does not name | default pass",
		"and its message");
	tap_is_int((long long)policy_report_warnings(r), 1, "counted as a warning");
	policy_free(p);
	policy_report_free(r);
}

/* --- fmt ------------------------------------------------------------------------- */

static const struct {
	const char *text, *want;
} layouts[] = {
	{"wary   1\n", "wary 1\n"},
	{"\n\nwary 1\n\n\n\nallow read /x\n\n", "wary 1\n\nallow read /x\n"},
	{"wary 1\n\n  # why  \nallow read /x   # because\ndeny exec,read **/sudo   ~/y by /a   for "
         "10m\n",
         "wary 1\n\n# why\nallow read      /x  # because\ndeny  exec,read **/sudo ~/y  by /a  for "
         "10m\n"},
	{"wary 1\nfinal deny read /x\nallow read /y\n",
         "wary 1\nfinal deny read /x\nallow      read /y\n"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh when argv \"pr\" ** as env for 10m\n",
         "wary 1\nsecret A from env:A  to /usr/bin/gh  when argv \"pr\" **  as env  for 10m\n"},
	{"wary 1\nexpect deny read /x\nexpect allow exec /y by /z argv a b\n",
         "wary 1\nexpect deny  read /x\nexpect allow exec /y  by /z  argv a b\n"},
	{"wary 1\nallow read \\\n  /a \\\n /b\n", "wary 1\nallow read /a /b\n"},
	{"wary 1\nlimit space 5G in /x then deny\n", "wary 1\nlimit space 5G  in /x  then deny\n"},
	{"wary 1\nallow read /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
         "/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb "
         "/cccccccccccccccccccc /d\n",
         "wary 1\nallow read /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
         "/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb \\\n"
         "        /cccccccccccccccccccc /d\n"},
	{"# head\nwary 1 # v\n", "# head\nwary 1  # v\n"},
};

static char *laid_out(const char *text)
{
	struct buf b = BUF_INIT;
	struct policy_report *r = NULL;
	int err = policy_fmt("x.wary", text, strlen(text), &b, &r);
	char *out = err ? strdup(made_message(r, 0)) : buf_take(&b);

	policy_report_free(r);
	buf_free(&b);
	return out ? out : strdup("");
}

static void formatting(void)
{
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
		char *once = laid_out(layouts[i].text);
		char *twice = laid_out(once);

		tap_is_str(once, layouts[i].want, "fmt %zu", i);
		tap_is_str(twice, once, "fmt %zu again changes nothing", i);
		free(once);
		free(twice);
	}
	{
		char *out = laid_out("wary 1\nallow read \"/x\n");

		tap_is_str(out, "x.wary:2:12-13: error: the quote is not closed on its line",
		           "fmt of what cannot be split");
		free(out);
	}
}

/* --- explain ------------------------------------------------------------------------ */

static void explain_is(const struct policy *p, const char *question, const char *want)
{
	struct policy_question *q = NULL;
	const struct facts *f = NULL;
	struct policy_report *r = NULL;
	struct policy_explanation *e = NULL;
	char out[2000] = "";
	size_t n = 0;

	if (policy_question_new(p, &w.world, question, &q, &f, &r) || policy_explain(p, f, &e)) {
		tap_ok(false, "explains %s", question);
		policy_report_free(r);
		return;
	}
	for (size_t i = 0; i < policy_explanation_count(e); i++) {
		const struct policy_match *m = policy_explanation_at(e, i);

		n += (size_t)snprintf(out + n, sizeof out - n, "%s%u %s%s%s%s", i ? "; " : "",
		                      m->line, policy_why_text(m->why), m->condition ? ": " : "",
		                      m->condition ? m->condition : "",
		                      m->asks_more ? " (more)" : "");
	}
	tap_is_str(out, want, "explain %s", question);
	policy_explanation_free(e);
	policy_report_free(r);
	policy_question_free(q);
}

static void explaining(void)
{
	struct policy *p;

	p = made_load(&w, "wary 1\ndefault deny\nask connect *:*\nallow connect github.com:443\n"
	                  "allow connect github.com:22 by /usr/bin/ssh under /usr/bin/git\n"
	                  "final deny read /f\nallow read /f\nallow connect unix:/**\n"
	                  "allow connect a.org:*\n");
	explain_is(p, "connect github.com:22 by /usr/bin/ssh",
	           "3 decided; 5 a condition does not hold: under /usr/bin/git (more)");
	explain_is(p, "connect github.com:443", "3 a later rule decided; 4 decided");
	explain_is(p, "read /f", "6 decided; 7 an earlier final rule decided");
	explain_is(p, "connect unix:/run/docker.sock",
	           "8 no pattern with a wildcard opens this socket (more)");
	explain_is(p, "connect 10.0.0.1:5 named a.org",
	           "3 decided; 9 a name that leads to a private address needs \"at\" (more)");
	explain_is(p, "connect metadata", "0 decided; 3 decided");
	policy_free(p);
}

static void explaining_secrets(void)
{
	struct policy *p =
		made_load(&w, "wary 1\nsecret T from env:A to /usr/bin/gh as env\n"
	                      "secret T from env:B to /usr/bin/gh when argv pr ** as env\n"
	                      "secret T from env:C to /usr/bin/hub as env\n"
	                      "deny secret P_*\nsecret P_X from env:D to /usr/bin/gh as env\n");

	explain_is(p, "secret T by /usr/bin/gh",
	           "2 decided; 3 a condition does not hold: when argv pr **; 4 a condition does "
	           "not hold");
	explain_is(p, "secret T by /usr/bin/gh argv pr list",
	           "2 a later rule decided; 3 decided; 4 a condition does not hold");
	explain_is(p, "secret P_X by /usr/bin/gh", "6 decided; 5 decided");
	policy_free(p);
}

/* Another name of a file that a rule names. */
static void explaining_inodes(void)
{
	struct policy *p = made_load(&w, "wary 1\ndefault allow\ndeny read /usr/bin/gh\n");
	struct facts f = {.class = CLASS_READ, .object = "/x", .dev = 1, .ino = 7, .now_s = 1};
	struct policy_explanation *e = NULL;

	tap_is_int(policy_explain(p, &f, &e), 0, "explains a file of two names");
	tap_is_str(policy_explanation_at(e, 0)->other_name, "/usr/bin/gh", "by the other name");
	tap_is_int(policy_explanation_verdict(e)->answer, ANSWER_DENY, "and its verdict");
	policy_explanation_free(e);
	policy_free(p);
}

static void opinions(void)
{
	static const char *const files[] = {"machine:machine.wary", "user.wary",
	                                    "answers:answers.wary", NULL};
	struct policy *p;
	struct facts f = {.class = CLASS_READ, .object = "/x", .under_known = true, .now_s = 1};
	struct policy_explanation *e = NULL;

	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\n");
	made_file_is(&w, "user.wary", "wary 1\ndefault ask\n");
	made_file_is(&w, "answers.wary", "wary 1\nallow read /x\n");
	p = made_load_files(&w, files);
	tap_is_int(policy_explain(p, &f, &e), 0, "explains");
	tap_ok(policy_explanation_opinion(e, 0)->present &&
	               !policy_explanation_opinion(e, 0)->has_opinion,
	       "the floor has no opinion");
	tap_ok(policy_explanation_opinion(e, 1)->present &&
	               !policy_explanation_opinion(e, 1)->has_opinion,
	       "the machine passes");
	tap_ok(!policy_explanation_opinion(e, 2)->present, "there is no tenant");
	tap_is_int(policy_explanation_opinion(e, 3)->verdict.answer, ANSWER_ASK, "the policy asks");
	tap_ok(policy_explanation_opinion(e, 4)->consulted, "answers were consulted");
	tap_is_int(policy_explanation_verdict(e)->answer, ANSWER_ALLOW, "and satisfied it");
	policy_explanation_free(e);
	policy_free(p);
}

int main(void)
{
	static const struct made_node nodes[] = {
		{"/home", POLICY_FOLDER, NULL, 1},
		{"/home/ana", POLICY_FOLDER, NULL, 2},
		{"/home/ana/proj", POLICY_FOLDER, NULL, 3},
		{"/home/ana/proj/out", POLICY_LINK, "/srv/out", 4},
		{"/usr", POLICY_FOLDER, NULL, 5},
		{"/usr/bin", POLICY_FOLDER, NULL, 6},
		{"/usr/bin/gh", POLICY_OTHER, NULL, 7},
	};

	made_begin(&w);
	memcpy(w.nodes, nodes, sizeof nodes);
	for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++)
		tap_is_str(checked(warnings[i].text), warnings[i].want, "check %zu", i);
	machine_default();
	formatting();
	explaining();
	explaining_secrets();
	explaining_inodes();
	opinions();
	return tap_done();
}
