/* The laws of the policy language, each by its number; laws marked S with the
 * trap that they close. */
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

static void law_01(void)
{
	struct policy *p = text("wary 1\n"
	                        "allow read /a/**\n"
	                        "deny read /a/b/**\n"
	                        "final deny read /a/c\n"
	                        "final allow read /a/c\n"
	                        "allow read /a/c\n");

	made_is(&w, p, "read /a/x", "allow user.wary:2", "law_01 the only match");
	made_is(&w, p, "read /a/b/x", "deny user.wary:3", "law_01 the last match");
	made_is(&w, p, "read /a/c", "deny user.wary:4", "law_01 the first final, whatever follows");
	made_is(&w, p, "read /z", "ask default:0", "law_01 ask where nothing is said");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow read /a\n");
	made_is(&w, p, "read /z", "deny user.wary:2", "law_01 the default");
	policy_free(p);
	p = text("wary 1\ndefault deny connect\nallow read /a\n");
	made_is(&w, p, "connect 1.2.3.4:1", "deny user.wary:2", "law_01 a class's default");
	made_is(&w, p, "read /z", "ask default:0", "law_01 and the other classes'");
	policy_free(p);
}

static void law_02(void)
{
	struct policy *p = text("wary 1\n"
	                        "allow connect 1.2.3.4:80\n"
	                        "deny connect 1.2.3.4:80 by /usr/bin/curl\n"
	                        "deny connect 5.6.7.8:80\n"
	                        "allow connect 5.6.7.8:80 under /usr/bin/git\n"
	                        "deny install *:* when new\n"
	                        "allow install npm:x when not new\n");
	struct facts f = facts_of(CLASS_CONNECT, "1.2.3.4:80");

	f.addr = (struct facts_addr){
		.family = ADDR_INET, .ip = {1, 2, 3, 4}, .port = 80, .proto = PROTO_TCP};
	tap_is_str(said(p, &f), "allow user.wary:2", "law_02 known program");
	f.by.path = NULL;
	tap_is_str(said(p, &f), "deny user.wary:3", "law_02 trap: unknown program meets the deny");
	f = facts_of(CLASS_CONNECT, "5.6.7.8:80");
	f.addr = (struct facts_addr){
		.family = ADDR_INET, .ip = {5, 6, 7, 8}, .port = 80, .proto = PROTO_TCP};
	f.under_known = false;
	tap_is_str(said(p, &f), "deny user.wary:4", "law_02 trap: unknown lineage opens nothing");
	f = facts_of(CLASS_INSTALL, "npm:x");
	f.package = (struct facts_package){.manager = "npm", .name = "x", .is_new = FACT_UNKNOWN};
	tap_is_str(said(p, &f), "deny user.wary:6", "law_02 trap: unknown age of a package");
	f.package.is_new = FACT_NO;
	tap_is_str(said(p, &f), "allow user.wary:7", "law_02 known age");
	policy_free(p);
}

/* Of rules that may hold the latest counts, wherever one stands that does. */
static void law_02_order(void)
{
	struct policy *p = text("wary 1\n"
	                        "deny install npm:a when new\n"
	                        "allow install npm:*\n"
	                        "deny install npm:b when new\n"
	                        "allow install npm:b\n"
	                        "deny install npm:b when new\n"
	                        "final allow install npm:c when new\n"
	                        "final deny install npm:c\n");
	struct facts f = facts_of(CLASS_INSTALL, "npm:a");

	f.package = (struct facts_package){.manager = "npm", .name = "a", .is_new = FACT_UNKNOWN};
	tap_is_str(said(p, &f), "allow user.wary:3",
	           "law_02 what stands before a certain rule is out");
	f.object = "npm:b";
	tap_is_str(said(p, &f), "deny user.wary:6", "law_02 what stands behind it is not");
	f.object = "npm:c";
	tap_is_str(said(p, &f), "deny user.wary:8", "law_02 of finals the first that may");
	policy_free(p);
}

static void law_03(void)
{
	static const char *const files[] = {"machine:machine.wary", "user.wary", NULL};
	struct policy *p;

	made_file_is(
		&w, "machine.wary",
		"wary 1\ndefault pass\ndeny read /srv/**\nask read /ask/**\nallow read /ok/**\n");
	made_file_is(&w, "user.wary",
	             "wary 1\ndefault deny\nallow read /srv/** /ask/**\nkill read /ok/k\n"
	             "ask read /srv/x\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "read /srv/a", "deny machine.wary:3", "law_03 machine denies, user allows");
	made_is(&w, p, "read /ask/a", "ask machine.wary:4", "law_03 ask is stricter than allow");
	made_is(&w, p, "read /ok/k", "kill user.wary:4", "law_03 kill is strictest");
	made_is(&w, p, "read /srv/x", "deny machine.wary:3", "law_03 deny is stricter than ask");
	made_is(&w, p, "read /ok/z", "deny user.wary:2",
	        "law_03 an allow of the machine opens nothing");
	policy_free(p);
}

static void law_04(void)
{
	struct policy *p = text("wary 1\ndefault deny\nallow read /a\n");

	made_is(&w, p, "stat /a", "allow default:0", "law_04 default does not reach stat");
	made_is(&w, p, "ipc x", "allow default:0", "law_04 nor ipc");
	made_is(&w, p, "syscall x", "allow default:0", "law_04 nor syscall");
	tap_ok(!policy_speaks_of(p, CLASS_STAT), "law_04 nothing speaks of stat");
	policy_free(p);
	p = text("wary 1\ndeny file ~/.aws/\n");
	tap_ok(policy_speaks_of(p, CLASS_STAT), "law_04 file speaks of stat");
	made_is(&w, p, "stat ~/.aws/x", "deny user.wary:2", "law_04 and decides it");
	made_is(&w, p, "stat ~/x", "allow default:0", "law_04 and nothing else");
	policy_free(p);
	made_refused(&w, "wary 1\ndefault deny stat\n",
	             "user.wary:2:1-18: error: a default does not reach stat, ipc, syscall and "
	             "secret | write a rule for the class");
}

static void law_05(void)
{
	static const char *const files[] = {"user.wary", "answers:answers.wary", NULL};
	static const char *const with_machine[] = {"machine:machine.wary", "user.wary",
	                                           "answers:answers.wary", NULL};
	struct policy *p;

	made_file_is(&w, "user.wary",
	             "wary 1\ndefault ask\ndeny read /deny/**\nask read /each/** each\nallow read "
	             "/ok\n");
	made_file_is(&w, "answers.wary",
	             "wary 1\n# 2026-11-01\nallow read /deny/x /each/x /y\n"
	             "deny read /ok /n\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "read /y", "allow answers.wary:3", "law_05 an answer satisfies an ask");
	made_is(&w, p, "read /n", "deny answers.wary:4", "law_05 also by no");
	made_is(&w, p, "read /deny/x", "deny user.wary:3", "law_05 trap: it never opens a deny");
	made_is(&w, p, "read /each/x", "ask user.wary:4", "law_05 nor an ask each");
	made_is(&w, p, "read /ok", "allow user.wary:5", "law_05 nor is asked where allowed");
	policy_free(p);
	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\nask read /y\n");
	p = made_load_files(&w, with_machine);
	made_is(&w, p, "read /y", "ask machine.wary:3",
	        "law_06 trap: no stored answer for a machine's ask");
	policy_free(p);
	made_file_is(&w, "answers.wary", "wary 1\nfinal allow read /x\n");
	{
		struct policy_report *r;

		tap_is_int(policy_load(&w.world, files, &p, &r), -ERR_POLICY,
		           "law_05 trap: an answer is never final");
		tap_is_str(made_message(r, 0),
		           "answers.wary:2:1-6: error: a stored answer is allow or deny, and never "
		           "final",
		           "law_05 message");
		policy_report_free(r);
	}
}

static void law_06(void)
{
	static const char *const own[] = {"/home/ana/.local/state/wary", NULL};
	static const char *const policies[] = {"/home/ana/.config/wary", NULL};
	static const char *const files[] = {"machine:machine.wary", "user.wary", NULL};
	struct policy *p;

	w.world.floor_paths = own;
	w.world.floor_read_only = policies;
	p = text("wary 1\ndefault allow\nfinal allow file /**\nallow connect *:* metadata "
	         "169.254.169.254:80\n"
	         "allow exec **\nallow connect unix:/home/ana/.local/state/wary/control\n");
	made_is(&w, p, "read ~/.local/state/wary/db", "deny floor:0", "law_06 the store");
	made_is(&w, p, "write ~/.local/state/wary", "deny floor:0", "law_06 its folder");
	made_is(&w, p, "delete ~/.local/state", "deny floor:0", "law_06 trap: moving the way away");
	made_is(&w, p, "delete ~/.local", "deny floor:0", "law_06 trap: and further up");
	made_is(&w, p, "write ~/.local/state/x", "allow user.wary:3",
	        "law_06 and not its neighbours");
	made_is(&w, p, "exec ~/.local/state/wary/x", "deny floor:0", "law_06 exec");
	made_is(&w, p, "connect unix:/home/ana/.local/state/wary/control", "deny floor:0",
	        "law_06 the control socket");
	made_is(&w, p, "read ~/.config/wary/a.wary", "allow user.wary:3",
	        "law_06 policies may be read");
	made_is(&w, p, "write ~/.config/wary/a.wary", "deny floor:0", "law_06 and not written");
	made_is(&w, p, "connect metadata", "deny floor:0", "law_06 metadata");
	made_is(&w, p, "connect [fd00:ec2::254]:80", "deny floor:0", "law_06 metadata by IPv6");
	made_is(&w, p, "connect [::ffff:169.254.169.254]:80", "deny floor:0",
	        "law_06 trap: IPv4 within IPv6");
	made_is(&w, p, "connect [64:ff9b::a9fe:a9fe]:80", "deny floor:0", "law_06 trap: by NAT64");
	policy_free(p);
	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\nallow connect *:*\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "connect metadata", "deny floor:0", "law_06 a wildcard does not open it");
	policy_free(p);
	made_file_is(&w, "machine.wary",
	             "wary 1\ndefault pass\nallow connect 169.254.169.254:80\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "connect metadata:80", "allow machine.wary:3",
	        "law_06 a machine opens it by name");
	made_is(&w, p, "connect metadata:81", "deny floor:0", "law_06 and only so far");
	policy_free(p);
	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\nask connect metadata\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "connect metadata:80", "deny floor:0", "law_06 an ask does not open it");
	policy_free(p);
	made_file_is(&w, "machine.wary", "wary 1\ndefault pass\nallow connect 169.254.0.0/16:*\n");
	p = made_load_files(&w, files);
	made_is(&w, p, "connect metadata:80", "deny floor:0", "law_06 nor does a range around it");
	policy_free(p);
	w.world.floor_paths = w.world.floor_read_only = NULL;
}

static void project_refused(const char *t, const char *want)
{
	static const char *const files[] = {"user.wary", "project:project.wary", NULL};
	struct policy_report *r;
	struct policy *p;
	int err;

	made_file_is(&w, "user.wary", "wary 1\nlimit wall 10m\nallow read /a\n");
	made_file_is(&w, "project.wary", t);
	err = policy_load(&w.world, files, &p, &r);
	tap_is_str(err ? made_message(r, 0) : "(loaded)", want, "law_07 %s", want);
	if (!err)
		policy_free(p);
	policy_report_free(r);
}

static void law_07(void)
{
	project_refused(
		"wary 1\nsecret X from env:X to /usr/bin/gh as env\n",
		"project.wary:2:1-42: error: a project's policy has no \"secret\" statements");
	project_refused(
		"wary 1\ndefault allow\n",
		"project.wary:2:1-14: error: a project's policy has no \"default\" statements");
	project_refused(
		"wary 1\naudit off read\n",
		"project.wary:2:1-15: error: a project's policy has no \"audit\" statements");
	project_refused("wary 1\nenv pass X\n",
	                "project.wary:2:1-11: error: a project's policy has no \"env\" statements");
	project_refused("wary 1\nfinal allow read /x\n",
	                "project.wary:2:1-6: error: a project's policy has no final allow and no "
	                "final ask | final deny and final kill may be");
	project_refused("wary 1\nfinal ask read /x\n",
	                "project.wary:2:1-6: error: a project's policy has no final allow and no "
	                "final ask | final deny and final kill may be");
	project_refused("wary 1\ndeny read /x quiet\n",
	                "project.wary:2:14-19: error: a project's policy cannot be quiet");
	project_refused("wary 1\nlimit wall 30m\n",
	                "project.wary:2:7-11: error: a project's policy only tightens limits: "
	                "\"wall\" is smaller at user.wary:2");
	project_refused("wary 1\nfinal deny read /x\nlimit wall 5m\nlet X = /y\nallow read ${X}\n"
	                "expect deny read /x\n",
	                "(loaded)");
}

static void law_09(void)
{
	struct policy *p;

	w.environment[0] = (struct made_pair){"SOCK", "/tmp/a b*c.sock"};
	p = text("wary 1\nlet A = /x /y\nlet B = ${A}/z\nlet S = env:SOCK\n"
	         "allow read ${B} ~/n ${PROJECT}/p\nallow connect unix:${S}\n");
	made_is(&w, p, "read /x/z", "allow user.wary:5", "law_09 a list");
	made_is(&w, p, "read /y/z", "allow user.wary:5", "law_09 each of it");
	made_is(&w, p, "read /home/ana/n", "allow user.wary:5", "law_09 ~");
	made_is(&w, p, "read /home/ana/proj/p", "allow user.wary:5", "law_09 PROJECT");
	made_is(&w, p, "connect \"unix:/tmp/a b\\*c.sock\"", "allow user.wary:6",
	        "law_09 an environment variable");
	made_is(&w, p, "connect \"unix:/tmp/a bXc.sock\"", "ask default:0",
	        "law_09 trap: its stars are no wildcards");
	policy_free(p);
	made_refused(
		&w, "wary 1\nallow read ${NOPE}/x\n",
		"user.wary:2:12-21: error: unknown variable \"NOPE\" | did you mean \"HOME\"?");
	made_refused(&w, "wary 1\nlet X = env:UNSET\n",
	             "user.wary:2:9-18: error: the environment variable \"UNSET\" is not set");
	w.environment[1] = (struct made_pair){"EMPTY", ""};
	made_refused(&w, "wary 1\nlet X = env:EMPTY\n",
	             "user.wary:2:9-18: error: the environment variable \"EMPTY\" is empty");
	made_refused(&w, "wary 1\nlet X = sub/dir\nallow edit ${X}/**\n",
	             "user.wary:3:12-19: error: the path is not absolute | a path begins with /, "
	             "~/, **/ or ${NAME}");
	made_refused(&w, "wary 1\nlet HOME = /x\n",
	             "user.wary:2:5-9: error: this variable is built in");
	made_refused(&w, "wary 1\nlet X = /x\nlet X = /y\n",
	             "user.wary:3:5-6: error: \"X\" is defined already, at line 2");
	/* S: a home that HOME does not name */
	w.variables[8] = (struct made_pair){"HOME_OF_UID", "/root"};
	p = text("wary 1\ndefault allow\ndeny read ~/.ssh/**\nallow read ~/.ok\n");
	made_is(&w, p, "read /home/ana/.ssh/id", "deny user.wary:3", "law_09 deny of HOME");
	made_is(&w, p, "read /root/.ssh/id", "deny user.wary:3",
	        "law_09 trap: and of the user's home");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow read ~/.ok\n");
	made_is(&w, p, "read /home/ana/.ok", "allow user.wary:3", "law_09 allow means HOME");
	made_is(&w, p, "read /root/.ok", "deny user.wary:2", "law_09 and only HOME");
	policy_free(p);
	w.variables[8] = (struct made_pair){NULL, NULL};
}

static void law_09_local(void)
{
	made_file_is(&w, "inner", "wary 1\nlet X = /inner\nallow read ${X}\n");
	made_refused(&w, "wary 1\ninclude \"inner\"\nallow read ${X}\n",
	             "user.wary:3:12-16: error: unknown variable \"X\"");
}

static void law_10(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow read /p/ /q/** /r /s/*/t /u/**/v **/w\n");

	made_is(&w, p, "read /p", "allow user.wary:3", "law_10 P/ means P");
	made_is(&w, p, "read /p/a/b", "allow user.wary:3", "law_10 P/ means all below");
	made_is(&w, p, "read /pp", "deny user.wary:2", "law_10 and no neighbour");
	made_is(&w, p, "read /q", "allow user.wary:3", "law_10 P/** means P");
	made_is(&w, p, "read /r", "allow user.wary:3", "law_10 P");
	made_is(&w, p, "read /r/x", "deny user.wary:2", "law_10 P only itself");
	made_is(&w, p, "read /s/.hid/t", "allow user.wary:3", "law_10 * matches a leading dot");
	made_is(&w, p, "read /s/a/b/t", "deny user.wary:2", "law_10 * is one part");
	made_is(&w, p, "read /u/v", "allow user.wary:3", "law_10 ** may be nothing");
	made_is(&w, p, "read /u/a/b/v", "allow user.wary:3", "law_10 or many");
	made_is(&w, p, "read /x/y/w", "allow user.wary:3", "law_10 ** in front");
	made_is(&w, p, "read /w", "allow user.wary:3", "law_10 ** in front, nothing");
	made_is(&w, p, "read /xw", "deny user.wary:2", "law_10 ** is whole parts");
	policy_free(p);
	made_refused(
		&w, "wary 1\nallow read /a**b\n",
		"user.wary:2:12-17: error: ** within a name | ** stands alone between slashes; "
		"* is any part of a name");
}

int main(void)
{
	made_begin(&w);
	law_01();
	law_02();
	law_02_order();
	law_03();
	law_04();
	law_05();
	law_06();
	law_07();
	law_09();
	law_09_local();
	law_10();
	return tap_done();
}
