/* The laws of the policy language from 11 on; laws marked S with the trap that
 * they close. */
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

/* A question in words with a change to its facts. */
static const char *said_with(const struct policy *p, const char *question,
                             void (*change)(struct facts *f))
{
	static char out[200];
	struct policy_question *q = NULL;
	const struct facts *f = NULL;
	struct policy_report *r = NULL;
	struct facts changed;

	if (!p || policy_question_new(p, &w.world, question, &q, &f, &r))
		snprintf(out, sizeof out, "%s", p ? made_message(r, 0) : "(no policy)");
	else {
		changed = *f;
		change(&changed);
		snprintf(out, sizeof out, "%s", said(p, &changed));
	}
	policy_report_free(r);
	policy_question_free(q);
	return out;
}

/* --- 11: canonical objects --------------------------------------------------- */

static void links_made(void)
{
	static const struct made_node nodes[] = {
		{"/bin", POLICY_LINK, "usr/bin", 2},
		{"/usr", POLICY_FOLDER, NULL, 3},
		{"/usr/bin", POLICY_FOLDER, NULL, 4},
		{"/usr/bin/sh", POLICY_LINK, "dash", 5},
		{"/usr/bin/dash", POLICY_OTHER, NULL, 6},
		{"/home", POLICY_FOLDER, NULL, 7},
		{"/home/ana", POLICY_FOLDER, NULL, 8},
		{"/home/ana/.aws", POLICY_LINK, "dot/aws", 9},
		{"/home/ana/dot", POLICY_FOLDER, NULL, 10},
		{"/home/ana/dot/aws", POLICY_FOLDER, NULL, 11},
		{"/home/ana/dot/aws/credentials", POLICY_OTHER, NULL, 12},
		{"/home/ana/proj", POLICY_FOLDER, NULL, 13},
		{"/home/ana/proj/out", POLICY_LINK, "/srv/out", 14},
		{"/srv", POLICY_FOLDER, NULL, 15},
		{"/srv/out", POLICY_FOLDER, NULL, 16},
		{"/home/ana/.netrc", POLICY_OTHER, NULL, 17},
		{"/loop", POLICY_LINK, "/loop", 18},
		{"/proc", POLICY_FOLDER, NULL, 19},
		{"/proc/self", POLICY_LINK, "4711", 20},
	};

	memcpy(w.nodes, nodes, sizeof nodes);
}

static void law_11_links(void)
{
	struct policy *p;
	struct facts f;

	p = text("wary 1\ndefault deny\nallow exec /bin/** /bin/sh\ndeny read ~/.aws/credentials\n"
	         "allow read /loop/x /proc/self/status\n");
	made_is(&w, p, "exec /usr/bin/ls", "allow user.wary:3", "law_11 a link in a folder");
	made_is(&w, p, "exec /usr/bin/dash", "allow user.wary:3", "law_11 a link at the end");
	made_is(&w, p, "read /home/ana/dot/aws/credentials", "deny user.wary:4",
	        "law_11 trap: a deny through a link");
	made_is(&w, p, "read /proc/4711/status", "deny user.wary:2", "law_11 never into /proc");
	policy_free(p);
	p = text("wary 1\ndefault allow\ndeny read ~/.aws/credentials\n");
	f = facts_of(CLASS_READ, "/home/ana/proj/harmless");
	f.dev = 1;
	f.ino = 12;
	tap_is_str(said(p, &f), "deny user.wary:3", "law_11 trap: a hard link of a denied file");
	f.ino = 99;
	tap_is_str(said(p, &f), "allow user.wary:2", "law_11 another file");
	tap_ok(policy_inode_denied(p, 1, 12), "law_11 policy_inode_denied");
	tap_ok(!policy_inode_denied(p, 2, 12), "law_11 on this device only");
	policy_free(p);
}

static void law_11_inode_order(void)
{
	struct policy *p =
		text("wary 1\ndefault ask\ndeny read ~/.netrc\nallow edit,read ${PROJECT}/**\n"
	             "allow read ~/.netrc by /usr/bin/dash\n");
	struct facts f = facts_of(CLASS_READ, "/home/ana/proj/copy");

	f.dev = 1;
	f.ino = 17;
	tap_is_str(said(p, &f), "deny user.wary:3",
	           "law_11 trap: a later allow of the other name does not open it");
	f.by.path = "/usr/bin/dash";
	tap_is_str(said(p, &f), "allow user.wary:4", "law_11 what its own name allows is allowed");
	policy_free(p);
}

static void law_11_replaceable(void)
{
	struct policy *p = text("wary 1\ndefault deny\nallow edit ${PROJECT}/**\n"
	                        "allow edit ${PROJECT}/out/**\n");

	made_is(&w, p, "write /srv/out/x", "deny user.wary:2",
	        "law_11 trap: an allow through a link that the tree may replace");
	made_is(&w, p, "write /home/ana/proj/out", "allow user.wary:4", "law_11 the link itself");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow edit ${PROJECT}/out/*\n");
	made_is(&w, p, "write /srv/out/x", "allow user.wary:3",
	        "law_11 an allow through a link that it may not replace");
	policy_free(p);
}

static void law_11_via(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow read /a/**\nask read /a/b\ndeny read /c\n");
	struct facts f = facts_of(CLASS_READ, "/c");

	f.via_link = true;
	tap_is_str(said(p, &f), "deny user.wary:5", "law_11 a link's own name is denied");
	f.object = "/a/b";
	tap_is_str(said(p, &f), "ask user.wary:4", "law_11 or asked");
	f.object = "/z";
	tap_is_str(said(p, &f), "allow default:0", "law_11 the default does not count for a link");
	f.object = "/a/x";
	tap_is_str(said(p, &f), "allow default:0", "law_11 nor does an allow");
	policy_free(p);
}

static void law_11_case(void)
{
	struct policy *p = text("wary 1\ndefault allow\ndeny read ~/.ssh/** /a/\\xc3\\xa9\n"
	                        "allow read /Z/**\n");
	struct facts f = facts_of(CLASS_READ, "/home/ana/.SSH/ID_rsa");

	tap_is_str(said(p, &f), "allow user.wary:2", "law_11 case counts");
	f.ignores_case = true;
	tap_is_str(said(p, &f), "deny user.wary:3", "law_11 trap: where the folder ignores case");
	f.object = "/home/ana/.\xc5\xbfsh/id";
	tap_is_str(said(p, &f), "deny user.wary:3", "law_11 trap: a long s folds to s");
	f.object = "/a/e\xcc\x81";
	tap_is_str(said(p, &f), "deny user.wary:3", "law_11 trap: another normal form");
	f.object = "/home/ana/.bash/id";
	tap_is_str(said(p, &f), "allow user.wary:2", "law_11 another name");
	policy_free(p);
}

/* --- 12, 13 --------------------------------------------------------------------- */

static bool looser(const struct policy *p, const char *from, const char *to, bool is_dir)
{
	struct facts f = facts_of(CLASS_DELETE, from);

	f.object_is_dir = is_dir;
	return policy_looser_below(p, from, to, &f);
}

static void law_12(void)
{
	struct policy *p = text("wary 1\ndefault ask\nallow edit ${PROJECT}/** /tmp/**\n"
	                        "deny edit ${PROJECT}/.git/hooks/\ndeny edit,read ~/.ssh/\n"
	                        "allow exec ${PROJECT}/**\ndeny exec **/sudo\n");

	tap_ok(!looser(p, "/home/ana/proj/a", "/home/ana/proj/b", true), "law_12 the same rules");
	tap_ok(!looser(p, "/home/ana/proj/a", "/home/ana/proj/x/y/z", false), "law_12 deeper");
	tap_ok(looser(p, "/home/ana/proj/.git/hooks", "/home/ana/proj/h", true),
	       "law_12 trap: moving a denied folder out");
	tap_ok(looser(p, "/home/ana/proj/.git", "/home/ana/proj/g", true),
	       "law_12 trap: moving what holds a denied folder");
	tap_ok(!looser(p, "/home/ana/proj/.git", "/home/ana/proj/g", false),
	       "law_12 a file holds nothing");
	tap_ok(!looser(p, "/home/ana/proj/h", "/home/ana/proj/.git/hooks", true),
	       "law_12 to what is stricter");
	tap_ok(looser(p, "/tmp/x", "/home/ana/proj/x", false),
	       "law_12 trap: to where it may be run");
	tap_ok(!looser(p, "/home/ana/proj/x", "/tmp/x", false), "law_12 from where it may be run");
	tap_ok(looser(p, "/home/ana/.ssh", "/tmp/s", true), "law_12 trap: keys");
	tap_ok(looser(p, "/home/ana", "/tmp/s", true), "law_12 trap: the folder of keys");
	tap_ok(looser(p, "/home/ana/proj/sudo", "/home/ana/proj/x", false), "law_12 trap: by name");
	tap_ok(!looser(p, "/etc/a", "/etc/b", true), "law_12 nothing said of either");
	tap_ok(looser(p, "/tmp/ssh-a/agent.1", "/tmp/x", false),
	       "law_12 trap: a delegate's socket");
	tap_ok(looser(p, "/tmp/ssh-a", "/tmp/x", true), "law_12 trap: its folder");
	tap_ok(!looser(p, "/tmp/a", "/tmp/x", true), "law_12 another folder");
	policy_free(p);
}

static void law_13(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow edit /e\nallow file /f\nallow read /r\n");

	made_is(&w, p, "write,create,delete,attr,link /e", "allow user.wary:3", "law_13 edit");
	made_is(&w, p, "read /e", "deny user.wary:2", "law_13 edit is not read");
	made_is(&w, p, "read /f", "allow user.wary:4", "law_13 file is read");
	made_is(&w, p, "write /f", "allow user.wary:4", "law_13 file is edit");
	made_is(&w, p, "exec /f", "deny user.wary:2", "law_13 file is not exec");
	made_is(&w, p, "write /r", "deny user.wary:2", "law_13 read is not write");
	policy_free(p);
}

static void law_14(void)
{
	struct policy *p = text("wary 1\ndeny file ~/.aws/ as ENOENT\n");
	struct facts f = facts_of(CLASS_READ, "/home/ana/.aws/x");
	struct verdict v;

	policy_decide(p, &f, &v);
	tap_is_int(v.as_errno, 2, "law_14 as ENOENT");
	policy_free(p);
	made_refused(
		&w, "wary 1\ndeny read ~/.aws/ as ENOENT\n",
		"user.wary:2:19-28: error: \"as ENOENT\" is only for the class file: else stat "
		"betrays it | write deny file … as ENOENT");
}

/* --- 15 to 20: the network ---------------------------------------------------------- */

static void law_15(void)
{
	struct policy *p;

	w.environment[0] = (struct made_pair){"SSH_AUTH_SOCK", "/tmp/odd/agent"};
	w.environment[1] = (struct made_pair){"DBUS_SESSION_BUS_ADDRESS",
	                                      "unix:abstract=/weird,guid=1;unix:path=/opt/bus"};
	p = text("wary 1\ndefault deny\nallow connect *:* unix:/** unix:@*\nallow connect "
	         "unix:/run/docker.sock\n");
	made_is(&w, p, "connect unix:/srv/x", "allow user.wary:3", "law_15 a socket");
	made_is(&w, p, "connect unix:@x", "allow user.wary:3", "law_15 an abstract one");
	made_is(&w, p, "connect unix:/run/dbus/system_bus_socket", "deny user.wary:2",
	        "law_15 trap: the system bus by a wildcard");
	made_is(&w, p, "connect unix:/run/user/1000/bus", "deny user.wary:2",
	        "law_15 the session bus");
	made_is(&w, p, "connect unix:/tmp/odd/agent", "deny user.wary:2",
	        "law_15 trap: the agent that the environment names");
	made_is(&w, p, "connect unix:@/weird", "deny user.wary:2", "law_15 an abstract bus");
	made_is(&w, p, "connect unix:/opt/bus", "deny user.wary:2", "law_15 a bus elsewhere");
	made_is(&w, p, "connect unix:@/tmp/.X11-unix/X0", "deny user.wary:2", "law_15 X11");
	made_is(&w, p, "connect unix:/tmp/tmux-1000/default", "deny user.wary:2", "law_15 tmux");
	made_is(&w, p, "connect unix:/run/docker.sock", "allow user.wary:4", "law_15 by its name");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow connect *:* loopback own\n");
	made_is(&w, p, "connect unix:/srv/x", "deny user.wary:2",
	        "law_15 no other pattern is about unix sockets");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow connect\n");
	made_is(&w, p, "connect unix:/run/docker.sock", "deny user.wary:2",
	        "law_15 trap: the whole class is a wildcard too");
	policy_free(p);
	p = text("wary 1\nallow connect unix:/**\ndeny connect delegates\n");
	made_is(&w, p, "connect unix:/run/docker.sock", "deny user.wary:3", "law_15 the set");
	made_is(&w, p, "connect unix:/srv/x", "allow user.wary:2", "law_15 and no other");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow connect delegates\n");
	made_is(&w, p, "connect unix:/run/docker.sock", "allow user.wary:3",
	        "law_15 the set, allowed");
	policy_free(p);
	w.environment[0] = w.environment[1] = (struct made_pair){NULL, NULL};
}

static void is_own(struct facts *f)
{
	f->addr.own = true;
}

static void is_local(struct facts *f)
{
	f->addr.local = true;
}

static void law_16(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow connect own:8080 loopback:9000\n"
	             "allow bind own:*\nask connect private:22\nallow connect registry:npm\n"
	             "allow connect registry:npm:8443\n");

	made_is(&w, p, "connect 127.0.0.1:8080", "deny user.wary:2", "law_16 loopback is not own");
	tap_is_str(said_with(p, "connect 127.0.0.1:8080", is_own), "allow user.wary:3",
	           "law_16 own");
	made_is(&w, p, "connect 127.9.9.9:9000", "allow user.wary:3", "law_16 loopback");
	made_is(&w, p, "connect [::1]:9000", "allow user.wary:3", "law_16 loopback, IPv6");
	made_is(&w, p, "connect 0.0.0.0:9000", "allow user.wary:3",
	        "law_16 trap: 0.0.0.0 is loopback");
	made_is(&w, p, "connect [::]:9000", "allow user.wary:3", "law_16 trap: :: is loopback");
	tap_is_str(said_with(p, "connect 203.0.113.7:9000", is_local), "allow user.wary:3",
	           "law_16 an address of this host is loopback");
	made_is(&w, p, "connect 10.1.2.3:22", "ask user.wary:5", "law_16 private");
	made_is(&w, p, "connect 192.168.0.1:22", "ask user.wary:5", "law_16 private");
	made_is(&w, p, "connect [fd12::1]:22", "ask user.wary:5", "law_16 private, IPv6");
	made_is(&w, p, "connect [::ffff:10.1.2.3]:22", "ask user.wary:5",
	        "law_16 trap: IPv4 in IPv6");
	made_is(&w, p, "connect 11.1.2.3:22", "deny user.wary:2", "law_16 not private");
	made_is(&w, p, "connect registry:npm", "allow user.wary:6", "law_16 the registry");
	made_is(&w, p, "connect registry.npmjs.org:8443", "allow user.wary:7", "law_16 at a port");
	made_is(&w, p, "resolve registry.npmjs.org", "allow user.wary:7", "law_16 and its name");
	made_is(&w, p, "bind 127.0.0.1:80", "allow user.wary:4",
	        "law_16 own: what this host reaches");
	made_is(&w, p, "bind [::1]:80", "allow user.wary:4", "law_16 own: likewise, IPv6");
	made_is(&w, p, "bind unix:@name", "allow user.wary:4", "law_16 own: a local name");
	made_is(&w, p, "bind udp/0.0.0.0:0", "allow user.wary:4",
	        "law_16 own: a datagram port that nobody knows yet");
	made_is(&w, p, "bind udp/[::]:0", "allow user.wary:4", "law_16 own: likewise, IPv6");
	made_is(&w, p, "bind 0.0.0.0:80", "deny user.wary:2",
	        "law_16 trap: to bind 0.0.0.0 is not own");
	made_is(&w, p, "bind [::]:80", "deny user.wary:2", "law_16 trap: nor ::");
	made_is(&w, p, "bind tcp/0.0.0.0:0", "deny user.wary:2",
	        "law_16 trap: nor a stream socket that listens without an address");
	made_is(&w, p, "bind udp/0.0.0.0:53", "deny user.wary:2", "law_16 trap: nor a known port");
	made_is(&w, p, "bind 192.168.1.2:80", "deny user.wary:2",
	        "law_16 trap: nor an address that others reach");
	policy_free(p);
	p = text("wary 1\ndefault deny\nallow bind loopback:*\n");
	made_is(&w, p, "bind 127.0.0.1:80", "allow user.wary:3", "law_16 bind loopback");
	made_is(&w, p, "bind 0.0.0.0:80", "deny user.wary:2",
	        "law_16 trap: to bind 0.0.0.0 is to serve everyone");
	policy_free(p);
	p = text("wary 1\nallow connect registry:pip\n");
	made_is(&w, p, "connect pypi.org:443", "ask default:0", "law_16 no host is built in");
	policy_free(p);
	made_refused(&w, "wary 1\nallow connect registry:npm\nallow edit ~/**\n",
	             "user.wary:2:15-27: error: registry:npm is read from /home/ana/.npmrc, which "
	             "this policy lets the tree write | deny edit /home/ana/.npmrc");
}

static void law_17(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow connect *.x.org:443 y.org:80,8000-8010\n"
	             "allow connect udp/1.1.1.1:53 tcp/2.2.2.2:*\n");

	made_is(&w, p, "connect a.x.org:443", "allow user.wary:3", "law_17 one label below");
	made_is(&w, p, "connect a.b.x.org:443", "allow user.wary:3", "law_17 more labels");
	made_is(&w, p, "connect x.org:443", "deny user.wary:2", "law_17 never x itself");
	made_is(&w, p, "connect axx.org:443", "deny user.wary:2",
	        "law_17 trap: labels, not letters");
	made_is(&w, p, "connect y.org:8005", "allow user.wary:3", "law_17 ranges of ports");
	made_is(&w, p, "connect y.org:81", "deny user.wary:2", "law_17 other ports");
	made_is(&w, p, "connect udp/1.1.1.1:53", "allow user.wary:4", "law_17 UDP");
	made_is(&w, p, "connect tcp/1.1.1.1:53", "deny user.wary:2", "law_17 and not TCP");
	made_is(&w, p, "connect tcp/2.2.2.2:9", "allow user.wary:4", "law_17 TCP");
	policy_free(p);
	made_refused(&w, "wary 1\nallow connect github.com\n",
	             "user.wary:2:15-25: error: an address needs its port | github.com:443, or "
	             "github.com:* for every port");
}

static void law_18(void)
{
	struct policy *p = text("wary 1\ndefault deny\nallow connect a.org:443 by /usr/bin/ssh\n"
	                        "ask connect *.b.org:443 at 10.0.0.0/8\ndeny resolve c.b.org\n");

	made_is(&w, p, "resolve a.org by /usr/bin/ssh", "allow user.wary:3",
	        "law_18 connect resolves");
	made_is(&w, p, "resolve a.org", "deny user.wary:2", "law_18 for the same program");
	made_is(&w, p, "resolve x.b.org", "allow user.wary:4",
	        "law_18 an ask is an allow of resolve");
	made_is(&w, p, "resolve c.b.org", "deny user.wary:5", "law_18 at its place");
	policy_free(p);
}

static void law_19(void)
{
	struct policy *p =
		text("wary 1\ndefault deny\nallow connect a.org:443\n"
	             "allow connect b.org:443 at 10.0.0.0/8\nallow connect localhost:80\n");

	made_is(&w, p, "connect 203.0.113.1:443", "deny user.wary:2", "law_19 no name is known");
	made_is(&w, p, "connect 203.0.113.1:443 named a.org", "allow user.wary:3",
	        "law_19 by name");
	made_is(&w, p, "connect 10.0.0.1:443 named a.org", "deny user.wary:2",
	        "law_19 trap: a name that leads inside");
	made_is(&w, p, "connect 127.0.0.1:443 named a.org", "deny user.wary:2",
	        "law_19 trap: a name that leads to this host");
	made_is(&w, p, "connect 10.0.0.1:443 named b.org", "allow user.wary:4", "law_19 with `at`");
	made_is(&w, p, "connect 192.168.0.1:443 named b.org", "deny user.wary:2",
	        "law_19 outside of it");
	made_is(&w, p, "connect 203.0.113.1:443 named b.org", "deny user.wary:2",
	        "law_19 `at` bounds public addresses as well");
	made_is(&w, p, "connect 127.0.0.1:80", "allow user.wary:5", "law_19 localhost is loopback");
	policy_free(p);
	p = text("wary 1\ndefault allow\ndeny connect evil.org:*\n");
	made_is(&w, p, "connect 10.0.0.1:443 named evil.org", "deny user.wary:3",
	        "law_19 a deny by name holds for any address");
	policy_free(p);
}

static void law_19_ask(void)
{
	struct policy *p = text("wary 1\ndefault deny\nask connect a.org:443\n");

	made_is(&w, p, "connect 203.0.113.1:443 named a.org", "ask user.wary:3",
	        "law_19 an ask by name");
	made_is(&w, p, "connect 10.0.0.1:443 named a.org", "deny user.wary:2",
	        "law_19 trap: an ask by name opens no way inside");
	policy_free(p);
	p = text("wary 1\ndefault allow\nask connect a.org:443\n");
	made_is(&w, p, "connect 10.0.0.1:443 named a.org", "ask user.wary:3",
	        "law_19 trap: nor is it evaded by an address inside");
	policy_free(p);
}

static void count_warnings(const char *t, const char *want, const char *what)
{
	static const char *const files[] = {"user.wary", NULL};
	struct policy_report *r;
	struct policy *p = NULL;
	int err;

	made_file_is(&w, "user.wary", t);
	err = policy_check(&w.world, files, &p, &r);
	tap_is_str(policy_report_count(r) ? made_message(r, 0) : "(clean)", want, "%s", what);
	if (!err)
		policy_free(p);
	policy_report_free(r);
}

static void law_20(void)
{
	count_warnings("wary 1\nallow connect *:443\ndeny connect evil.org:*\n",
	               "user.wary:3:14-24: warning: a program that has the address needs no name: "
	               "user.wary:2 allows it (allow connect *:443)",
	               "law_20 a deny by name after an allow by address");
	count_warnings("wary 1\nask connect *:443\ndeny connect evil.org:*\n", "(clean)",
	               "law_20 after an ask it is none");
}

int main(void)
{
	made_begin(&w);
	links_made();
	law_11_links();
	law_11_inode_order();
	law_11_replaceable();
	law_11_via();
	law_11_case();
	law_12();
	law_13();
	law_14();
	law_15();
	law_16();
	law_17();
	law_18();
	law_19();
	law_19_ask();
	law_20();
	return tap_done();
}
