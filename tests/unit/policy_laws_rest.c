/* The laws of the policy language from 21 on; laws marked S with the trap that
 * they close. */
#include "policy/settings.h"
#include "tests/unit/policy_world.h"

static struct made_world w;

static struct policy *text(const char *t)
{
	return made_load(&w, t);
}

static struct facts facts_of(enum policy_class class, const char *object)
{
	return (struct facts){.class = class,
	                      .object = object,
	                      .by = {.path = "/usr/bin/cat", .fixed = true},
	                      .under_known = true,
	                      .now_s = 1000};
}

static const char *said(const struct policy *p, const struct facts *f)
{
	static char out[200];
	struct verdict v;

	if (!p)
		return "(no policy)";
	policy_decide(p, f, &v);
	snprintf(out, sizeof out, "%s %s:%u", policy_answer_name(v.answer), v.file, v.line);
	return out;
}

static const char *first_message(const char *t)
{
	static const char *const files[] = {"user.wary", NULL};
	static char out[1200];
	struct policy_report *r;
	struct policy *p = NULL;
	int err;

	made_file_is(&w, "user.wary", t);
	err = policy_check(&w.world, files, &p, &r);
	snprintf(out, sizeof out, "%s", policy_report_count(r) ? made_message(r, 0) : "(clean)");
	if (!err)
		policy_free(p);
	policy_report_free(r);
	return out;
}

/* --- 21 to 23: programs ----------------------------------------------------------- */

static void law_21(void)
{
	static const char *const argv[] = {"/usr/local/bin/gh", "pr", "list"};
	struct policy *p =
		text("wary 1\ndefault deny\nallow read /k by /usr/local/bin/gh\n"
	             "deny read /d by /usr/bin/evil\nallow read /s by /usr/bin/node\n"
	             "allow read /v by /usr/local/bin/gh when argv pr **\n"
	             "allow read /w by /usr/bin/node when argv /usr/local/bin/gh pr **\n");
	struct facts f = facts_of(CLASS_READ, "/k");

	f.by.path = "/usr/local/bin/gh";
	tap_is_str(said(p, &f), "allow user.wary:3", "law_21 the image");
	f.by.fixed = false;
	tap_is_str(said(p, &f), "deny user.wary:2",
	           "law_21 trap: a program that the tree can write");
	f.by = (struct facts_program){.path = "/usr/bin/node",
	                              .script = "/usr/local/bin/gh",
	                              .fixed = true,
	                              .argv = argv,
	                              .argc = 3,
	                              .argv_whole = true};
	tap_is_str(said(p, &f), "allow user.wary:3", "law_21 a script started by #!");
	f.object = "/s";
	tap_is_str(said(p, &f), "allow user.wary:5", "law_21 its interpreter");
	f.object = "/v";
	tap_is_str(said(p, &f), "allow user.wary:6", "law_21 argv counts from after the script");
	f.object = "/w";
	tap_is_str(said(p, &f), "allow user.wary:7", "law_21 or from after the interpreter");
	f.by.fixed = false;
	tap_is_str(said(p, &f), "deny user.wary:2",
	           "law_21 trap: a script that the tree can write");
	f = facts_of(CLASS_READ, "/d");
	f.by.path = "/usr/bin/evil";
	f.by.fixed = false;
	tap_is_str(said(p, &f), "deny user.wary:4", "law_21 a deny holds for any");
	policy_free(p);
	made_refused(&w, "wary 1\nallow edit ${PROJECT}/**\nallow read ~/.k by ${PROJECT}/tool\n",
	             "user.wary:3:17-35: error: an allow for a program that the tree may write: "
	             "/home/ana/proj/tool | name a program that no rule lets the tree write");
	made_refused(&w, "wary 1\nallow delete /opt\nallow read ~/.k by /opt/tool\n",
	             "user.wary:3:17-29: error: an allow for a program that the tree may write: "
	             "/opt/tool | name a program that no rule lets the tree write");
	made_refused(&w, "wary 1\nallow edit ${PROJECT}/**\nallow read ~/.k by **/npm\n",
	             "user.wary:3:17-26: error: an allow for a program that the tree may write: "
	             "/**/npm | name a program that no rule lets the tree write");
	made_refused(&w, "wary 1\nallow edit /opt/**\nsecret A from env:A to /opt/gh as env\n",
	             "user.wary:3:1-38: error: a secret for a program that the tree may write: "
	             "/opt/gh | name a program that no rule lets the tree write");
	made_refused(&w, "wary 1\ndefault allow\nallow read ~/.k by /usr/bin/ssh\n",
	             "user.wary:3:17-32: error: an allow for a program that the tree may write: "
	             "/usr/bin/ssh | name a program that no rule lets the tree write");
	tap_is_str(first_message("wary 1\nallow edit /opt/**\ndeny edit /opt/gh /opt\n"
	                         "secret A from env:A to /opt/gh as env\n"),
	           "user.wary:4:1-38: warning: nobody can receive this: there is no /opt/gh",
	           "law_21 what a later deny keeps is fixed");
	tap_is_str(first_message("wary 1\nallow connect 1.2.3.4:*\ndeny connect 1.2.3.4:22 by "
	                         "/usr/bin/curl\n"),
	           "user.wary:3:1-41: warning: a copy of the program evades this | put a rule "
	           "without that condition before it",
	           "law_21 a deny that a copy evades");
	tap_is_str(first_message("wary 1\nask connect *:*\ndeny connect *:22 by /usr/bin/curl\n"),
	           "(clean)", "law_21 a wider one stands before");
}

static void law_22(void)
{
	static const char *const lineage[] = {"/usr/bin/git", "install:npm", "/usr/bin/npm",
	                                      "install:pip", NULL};
	struct policy *p = text("wary 1\ndefault deny\nallow read /g under /usr/bin/git\n"
	                        "allow read /n under install:npm\nallow read /p under install:pip\n"
	                        "allow read /s under script:es*\ndeny read /x under /usr/bin/npm\n"
	                        "allow read /two under /usr/bin/git under /usr/bin/npm\n");
	struct facts f = facts_of(CLASS_READ, "/g");

	f.under = lineage;
	tap_is_str(said(p, &f), "allow user.wary:3", "law_22 an ancestor");
	f.object = "/n";
	tap_is_str(said(p, &f), "allow user.wary:4", "law_22 the innermost install");
	f.object = "/p";
	tap_is_str(said(p, &f), "deny user.wary:2", "law_22 not the outer one");
	f.object = "/s";
	tap_is_str(said(p, &f), "deny user.wary:2", "law_22 no script");
	f.object = "/two";
	tap_is_str(said(p, &f), "allow user.wary:8", "law_22 both");
	f.by.path = "/usr/bin/curl";
	f.under = NULL;
	f.object = "/g";
	tap_is_str(said(p, &f), "deny user.wary:2", "law_22 no lineage");
	f.by.path = "/usr/bin/git";
	tap_is_str(said(p, &f), "deny user.wary:2", "law_22 the program itself is no ancestor");
	policy_free(p);
	p = text("wary 1\ndefault allow\ndeny read /x under /usr/bin/npm\nask read /y under "
	         "install:npm\n");
	f.object = "/x";
	tap_is_str(said(p, &f), "allow user.wary:2", "law_22 known to have none");
	f.under_known = false;
	tap_is_str(said(p, &f), "deny user.wary:3",
	           "law_22 trap: unknown lineage meets every deny");
	f.object = "/y";
	tap_is_str(said(p, &f), "ask user.wary:4", "law_22 and every ask");
	policy_free(p);
}

static const char *exec_said(const struct policy *p, const char *const *argv, size_t argc,
                             bool whole)
{
	struct facts f = facts_of(CLASS_EXEC, argv[0]);

	f.target = (struct facts_program){
		.path = argv[0], .argv = argv, .argc = argc, .argv_whole = whole};
	return said(p, &f);
}

#define EXEC(p, ...)                                       \
	exec_said((p), (const char *const[]){__VA_ARGS__}, \
	          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), true)

static void law_23(void)
{
	static const char *const long_argv[] = {"/g", "status"};
	struct policy *p =
		text("wary 1\ndefault deny\nallow exec /g\nallow exec /a when argv x *.c **\n"
	             "ask exec /g when has push --force\ndeny exec /g when argv gc\n"
	             "allow exec /h when has --dry-run\nallow exec /b when argv {x,y} **\n");

	tap_is_str(EXEC(p, "/a", "x", "m.c"), "allow user.wary:4", "law_23 argv");
	tap_is_str(EXEC(p, "/a", "x", "m.c", "1", "2"), "allow user.wary:4",
	           "law_23 ** is any number");
	tap_is_str(EXEC(p, "/a", "x"), "deny user.wary:2", "law_23 one pattern an argument");
	tap_is_str(EXEC(p, "/a", "z", "x", "m.c"), "deny user.wary:2", "law_23 anchored");
	tap_is_str(EXEC(p, "/b", "y", "1"), "allow user.wary:8", "law_23 alternatives");
	tap_is_str(EXEC(p, "/g", "-C", ".", "push"), "ask user.wary:5",
	           "law_23 trap: has, anywhere");
	tap_is_str(EXEC(p, "/g", "x", "--force"), "ask user.wary:5", "law_23 a long option");
	tap_is_str(EXEC(p, "/g", "x", "--forc"), "ask user.wary:5",
	           "law_23 trap: its abbreviation");
	tap_is_str(EXEC(p, "/g", "x", "--force=now"), "ask user.wary:5",
	           "law_23 trap: with a value");
	tap_is_str(EXEC(p, "/g", "x", "--fo=now"), "ask user.wary:5", "law_23 trap: both");
	tap_is_str(EXEC(p, "/g", "x", "--forced"), "allow user.wary:3",
	           "law_23 a longer one is another");
	tap_is_str(EXEC(p, "/g", "x", "--"), "allow user.wary:3", "law_23 -- abbreviates nothing");
	tap_is_str(EXEC(p, "/h", "--dry-run"), "allow user.wary:7", "law_23 has in an allow");
	tap_is_str(EXEC(p, "/h", "--d"), "deny user.wary:2",
	           "law_23 trap: an abbreviation that may be another option's allows nothing");
	tap_is_str(exec_said(p, long_argv, 2, false), "deny user.wary:6",
	           "law_23 trap: argv beyond the bound meets the deny");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow exec /g when has status\nallow exec /g2 when argv "
	         "**\n");
	tap_is_str(exec_said(p, long_argv, 2, false), "allow user.wary:3",
	           "law_23 what is seen is seen");
	policy_free(p);
}

/* --- 24, 25: installs and secrets ----------------------------------------------------- */

static const char *package_said(const struct policy *p, const char *object, struct facts_package k)
{
	struct facts f = facts_of(CLASS_INSTALL, object);

	k.manager = "npm";
	k.name = object + 4;
	f.package = k;
	return said(p, &f);
}

#define PKG(...)               \
	(struct facts_package) \
	{                      \
		__VA_ARGS__    \
	}

static void law_24(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow install npm:express version \">=4 <6\" "
	             "from registry:npm with dependencies\nallow install npm:left-pad\n"
	             "deny install *:* when unpinned,lookalike\nask install npm:pre version ^2.0\n"
	             "allow install pip:My_Package\n");

	tap_is_str(package_said(p, "npm:express",
	                        PKG(.version = "4.18.2", .registry = "registry:npm")),
	           "allow user.wary:3", "law_24 version and origin");
	tap_is_str(package_said(p, "npm:express",
	                        PKG(.version = "4.18.2", .registry = "registry.npmjs.org")),
	           "allow user.wary:3", "law_24 origin by its host");
	tap_is_str(package_said(p, "npm:express",
	                        PKG(.version = "4.18.2", .registry = "evil.example")),
	           "deny user.wary:2", "law_24 another origin");
	tap_is_str(
		package_said(p, "npm:express", PKG(.version = "6.0.0", .registry = "registry:npm")),
		"deny user.wary:2", "law_24 another version");
	tap_is_str(package_said(p, "npm:express", PKG(.registry = "registry:npm")),
	           "deny user.wary:2", "law_24 no version known");
	tap_is_str(package_said(p, "npm:accepts",
	                        PKG(.registry = "registry:npm", .dependency = true,
	                            .root = "express", .root_version = "4.18.2")),
	           "allow user.wary:3", "law_24 a dependency");
	tap_is_str(package_said(p, "npm:accepts",
	                        PKG(.registry = "registry:npm", .dependency = true,
	                            .root = "express", .root_version = "6.1.0")),
	           "deny user.wary:2", "law_24 of another version");
	tap_is_str(package_said(
			   p, "npm:accepts",
			   PKG(.registry = "registry:npm", .dependency = true, .root = "left-pad")),
	           "deny user.wary:2", "law_24 of a package without dependencies");
	tap_is_str(
		package_said(p, "npm:accepts", PKG(.registry = "registry:npm", .dependency = true)),
		"deny user.wary:2", "law_24 trap: of whom is not known");
	tap_is_str(package_said(p, "npm:left-pad", PKG(.unpinned = FACT_YES)), "deny user.wary:5",
	           "law_24 unpinned");
	tap_is_str(package_said(p, "npm:left-pad", PKG(.lookalike = FACT_YES)), "deny user.wary:5",
	           "law_24 either fact");
	tap_is_str(package_said(p, "npm:left-pad", PKG(.git = FACT_YES)), "allow user.wary:4",
	           "law_24 and no other");
	made_is(&w, p, "install pip:my-package", "allow user.wary:7",
	        "law_24 names as pip has them");
	made_is(&w, p, "connect registry:npm", "deny user.wary:2", "law_24 implies no connect");
	policy_free(p);
}

static const char *secret_said(const struct policy *p, const char *name, const char *program,
                               bool fixed)
{
	struct facts f = facts_of(CLASS_SECRET, name);

	f.by.path = program;
	f.by.fixed = fixed;
	return said(p, &f);
}

static void law_25(void)
{
	struct policy *p =
		text("wary 1\nsecret TOKEN from env:A to /usr/bin/gh /usr/bin/hub as env\n"
	             "secret TOKEN from env:B to /usr/bin/gh as env ask for 10m\n"
	             "secret PROD_KEY from env:C to /usr/bin/gh as env\n"
	             "deny secret PROD_*\n");
	struct facts f = facts_of(CLASS_SECRET, "TOKEN");
	struct verdict v;

	tap_is_str(secret_said(p, "TOKEN", "/usr/bin/gh", true), "ask user.wary:3",
	           "law_25 the last");
	tap_is_str(secret_said(p, "TOKEN", "/usr/bin/hub", true), "allow user.wary:2",
	           "law_25 the last that names the program");
	tap_is_str(secret_said(p, "TOKEN", "/usr/bin/curl", true), "deny default:0",
	           "law_25 nobody else");
	tap_is_str(secret_said(p, "TOKEN", "/usr/bin/gh", false), "deny default:0",
	           "law_25 trap: not a program that the tree can write");
	tap_is_str(secret_said(p, "PROD_KEY", "/usr/bin/gh", true), "deny user.wary:5",
	           "law_25 a deny bounds it");
	tap_is_str(secret_said(p, "NONE", "/usr/bin/gh", true), "deny default:0",
	           "law_25 no secret");
	tap_is_int((long long)policy_secret_count(p), 3, "law_25 statements");
	f.by.path = "/usr/bin/gh";
	policy_secret_for(p, 0, &f, &v);
	tap_is_int(v.answer, ANSWER_DENY, "law_25 an earlier statement does not decide");
	policy_secret_for(p, 1, &f, &v);
	tap_is_int(v.answer, ANSWER_ASK, "law_25 the later does");
	tap_is_int(v.for_s, 600, "law_25 for 10m");
	tap_is_str(policy_secret_at(p, 1)->from, "B", "law_25 from");
	tap_is_str(policy_secret_at(p, 1)->as_kind, "env", "law_25 as");
	policy_free(p);
}

static void law_25_argv(void)
{
	static const char *const publish[] = {"/usr/bin/npm", "publish", "--tag", "x"};
	static const char *const install[] = {"/usr/bin/npm", "install"};
	struct policy *p =
		text("wary 1\nsecret T from vault:npm to /usr/bin/npm when argv publish ** as "
	             "file ~/.token\n");
	struct facts f = facts_of(CLASS_SECRET, "T");

	f.by = (struct facts_program){.path = "/usr/bin/npm",
	                              .fixed = true,
	                              .argv = publish,
	                              .argc = 4,
	                              .argv_whole = true};
	tap_is_str(said(p, &f), "allow user.wary:2", "law_25 argv");
	f.by.argv = install;
	f.by.argc = 2;
	tap_is_str(said(p, &f), "deny default:0", "law_25 another argv");
	f.by.argv = NULL;
	tap_is_str(said(p, &f), "deny default:0", "law_25 trap: argv not known");
	tap_is_str(policy_secret_at(p, 0)->as, "/home/ana/.token", "law_25 as file");
	tap_is_str(policy_secret_at(p, 0)->from_kind, "vault", "law_25 from vault");
	policy_free(p);
}

/* --- 26 to 33 ------------------------------------------------------------------------- */

static void law_26(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nask read /a for 1h30m via phone stack because \"why\"\n"
	             "allow read /u until 1970-01-01T01:00Z\nask read /e each\n");
	struct facts f = facts_of(CLASS_READ, "/a");
	struct verdict v;

	policy_decide(p, &f, &v);
	tap_is_int(v.for_s, 5400, "law_26 for");
	tap_is_str(v.via, "phone", "law_26 via");
	tap_is_str(v.because, "why", "law_26 because");
	tap_ok(v.stack && !v.each, "law_26 stack");
	f.object = "/e";
	policy_decide(p, &f, &v);
	tap_ok(v.each && v.answer == ANSWER_ASK, "law_26 each");
	f.object = "/u";
	f.now_s = 3599;
	tap_is_str(said(p, &f), "allow user.wary:4", "law_26 until: before");
	f.now_s = 3600;
	tap_is_str(said(p, &f), "deny user.wary:2", "law_26 until: at");
	f.now_s = 0;
	tap_is_str(said(p, &f), "deny user.wary:2", "law_26 trap: no clock");
	policy_free(p);
}

static void law_27(void)
{
	static const char *const files[] = {"machine:machine.wary", "user.wary", NULL};
	struct policy *p;

	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\nlimit memory 16G wall 2h\n");
	made_file_is(&w, "user.wary",
	             "wary 1\nlimit memory 8G\nlimit memory 20G then pause\n"
	             "limit wall 30m then stop\nlimit space 5G in ${PROJECT}/** then deny\n"
	             "limit bandwidth 1M/s processes 200\n");
	p = made_load_files(&w, files);
	for (size_t i = 0; p && i < policy_limit_count(p); i++) {
		const struct policy_limit *l = policy_limit_at(p, i);

		if (strcmp(l->name, "memory") == 0)
			tap_is_int((long long)l->amount, 16LL << 30,
			           "law_27 across sources the smaller");
		else if (strcmp(l->name, "wall") == 0)
			tap_is_int((long long)l->amount, 1800, "law_27 the user's is smaller");
		else if (strcmp(l->name, "space") == 0)
			tap_is_str(l->in, "/home/ana/proj/**", "law_27 in");
		else if (strcmp(l->name, "bandwidth") == 0)
			tap_is_int((long long)l->amount, 1 << 20, "law_27 a rate");
		else
			tap_is_int((long long)l->amount, 200, "law_27 %s", l->name);
	}
	tap_is_int(p ? (long long)policy_limit_count(p) : 0, 5, "law_27 each limit once");
	policy_free(p);
	p = text("wary 1\nlimit memory 8G\nlimit memory 20G\n");
	tap_is_int((long long)policy_limit_at(p, 0)->amount, 20LL << 30,
	           "law_27 in one text the later");
	policy_free(p);
}

static void law_28(void)
{
	struct policy *p = text("wary 1\ndefault ask\ndeny read /x/** because \"no\"\n");
	struct facts f = facts_of(CLASS_READ, "/x/\x1b[31m");
	struct verdict v;

	policy_decide(p, &f, &v);
	tap_is_str(v.text, "deny read /x/**", "law_28 the rule, not what was refused");
	tap_is_str(v.because, "no", "law_28 its reason");
	tap_ok(!v.is_default && !v.is_floor, "law_28 a rule's refusal");
	policy_free(p);
}

static void law_29(void)
{
	struct policy *p = text("wary 1\ndeny read,stat /x quiet\n");
	struct facts f = facts_of(CLASS_READ, "/x");
	struct verdict v;

	policy_decide(p, &f, &v);
	tap_ok(v.quiet, "law_29 quiet");
	policy_free(p);
	made_refused(&w, "wary 1\ndeny file /x quiet\n",
	             "user.wary:2:14-19: error: \"quiet\" is only for read and stat");
}

static void law_30(void)
{
	made_refused(
		&w, "wary 1\nalow read /x\n",
		"user.wary:2:1-5: error: unknown statement \"alow\" | did you mean \"allow\"?");
	made_refused(&w, "wary 1\nallow raed /x\n",
	             "user.wary:2:7-11: error: unknown class \"raed\" | did you mean \"read\"?");
	made_refused(
		&w, "wary 1\ndeny install *:* when unpined\n",
		"user.wary:2:23-30: error: unknown fact \"unpined\" | did you mean \"unpinned\"?");
	made_refused(&w, "wary 1\nallow install nmp:x\n",
	             "user.wary:2:15-20: error: unknown package manager \"nmp\" | did you mean "
	             "\"npm\"?");
	made_refused(&w, "wary 1\n# \xe2\x80\xae evil\n",
	             "user.wary:2:3-4: error: the text has an invisible or direction-changing "
	             "character (U+202E) | people would not see what it does");
	made_refused(
		&w, "wary 1\nallow read /x\x1b\n",
		"user.wary:2:14-15: error: the text has a control character (\\x1b) | in a name "
		"write it as \\xHH");
	made_refused(
		&w, "wary 1\nallow read /x byy /usr/bin/ssh\n",
		"user.wary:2:15-18: error: expected a path, a condition or an option | did you "
		"mean \"by\"?");
}

static void law_31(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow read /x by /usr/bin/cat until 2026-12-01\n");
	struct facts f = facts_of(CLASS_READ, "/x");
	char first[200];

	snprintf(first, sizeof first, "%s", said(p, &f));
	for (int i = 0; i < 3; i++)
		tap_is_str(said(p, &f), first, "law_31 the same facts, the same verdict");
	policy_free(p);
}

static void law_32(void)
{
	struct policy *p = text("wary 1\nallow read /{a,b}/{c,d}/**/x/** **/y\n");

	made_is(&w, p, "read /b/c/1/2/x/3", "allow user.wary:2", "law_32 two **");
	policy_free(p);
	made_refused(
		&w, "wary 1\nallow read /**/a/**/b/**\n",
		"user.wary:2:12-25: error: more than two ** in a pattern | a / at the end counts "
		"as one");
	made_refused(
		&w, "wary 1\nallow read /{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b}\n",
		"user.wary:2:12-54: error: this stands for more than 256 patterns | write several "
		"rules");
}

static void law_33(void)
{
	struct policy *p;
	struct policy_expect_result x;
	unsigned looks;

	p = text("wary 1\ndefault deny\nallow read ~/a by /usr/bin/ssh\nask exec /usr/bin/git when "
	         "has push each\n"
	         "allow connect git.corp.example:443 at 10.0.0.0/8\ndeny install *:* when new\n"
	         "expect allow read ~/a by /usr/bin/ssh\nexpect deny read ~/a\n"
	         "expect ask exec /usr/bin/git argv -C . push\nexpect deny exec /usr/bin/git argv "
	         "status\n"
	         "expect allow connect 10.3.4.5:443 named git.corp.example\n"
	         "expect deny install npm:x if new,git\nexpect allow read ~/b\n");
	looks = w.looks;
	tap_is_int((long long)policy_expect_count(p), 7, "law_33 expectations");
	for (size_t i = 0; i < policy_expect_count(p); i++) {
		policy_expect_run(p, i, &x);
		tap_ok(x.passed == (i != 6), "law_33 %s", x.text);
	}
	policy_expect_run(p, 6, &x);
	tap_ok(x.got.answer == ANSWER_DENY && x.want == ANSWER_ALLOW && x.line == 13,
	       "law_33 says what came instead");
	tap_is_int(w.looks, looks, "law_33 touches no disk");
	policy_free(p);
	made_file_is(&w, "inner", "wary 1\nexpect deny read /x\n");
	p = text("wary 1\ninclude \"inner\"\nallow read /x\n");
	tap_is_int((long long)policy_expect_count(p), 0,
	           "law_33 an included policy's are not this one's");
	policy_free(p);
}

static void tenants(void)
{
	static const char *const files[] = {"machine:machine.wary", "user.wary", NULL};
	struct policy *p;

	made_file_is(&w, "machine.wary",
	             "wary 1\ndefault pass\ntenant blue users @blue use \"blue\"\n"
	             "deny file /srv/tenants/\nallow file /srv/tenants/${TENANT}/\n");
	made_file_is(&w, "blue", "wary 1\ndefault deny\nallow read /srv/** /x\n");
	made_file_is(&w, "user.wary", "wary 1\ndefault allow\n");
	w.user = "@blue";
	p = made_load_files(&w, files);
	tap_is_str(policy_tenant(p), "blue", "tenant: whose");
	made_is(&w, p, "read /srv/tenants/blue/a", "allow machine.wary:5", "tenant: its own");
	made_is(&w, p, "read /srv/tenants/red/a", "deny machine.wary:4", "tenant: another's");
	made_is(&w, p, "read /y", "deny blue:2", "tenant: decides by itself");
	policy_free(p);
	w.user = NULL;
	p = made_load_files(&w, files);
	tap_ok(policy_tenant(p) == NULL, "tenant: none");
	made_is(&w, p, "read /srv/tenants/blue/a", "deny machine.wary:4", "tenant: nobody's");
	made_is(&w, p, "read /y", "allow user.wary:2", "tenant: no part in it");
	policy_free(p);
}

int main(void)
{
	made_begin(&w);
	law_21();
	law_22();
	law_23();
	law_24();
	law_25();
	law_25_argv();
	law_26();
	law_27();
	law_28();
	law_29();
	law_30();
	law_31();
	law_32();
	law_33();
	tenants();
	return tap_done();
}
