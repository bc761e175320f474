/* Every message of the checker, with its exact text and place: what is said is
 * as much a promise as what is decided.  "file:line:from-to: text | hint". */
#include "policy/settings.h"
#include "tests/unit/policy_world.h"

static const struct {
	const char *text, *want;
} refused[] = {
	{"", "user.wary:0:0-0: error: the policy is empty | the first line of a policy is: wary 1"},
	{"wary\n",
         "user.wary:1:5-6: error: expected 1, the version of the language | the first line of "
         "a policy is: wary 1"},
	{"wary 2\n",
         "user.wary:1:6-7: error: unknown version of the language | this wary knows version 1"},
	{"allow read /x\n",
         "user.wary:1:1-6: error: expected \"wary 1\", the version of the language | the first"
         " line of a policy is: wary 1"},
	{"wary 1 extra\n",
         "user.wary:1:8-13: error: unexpected \"extra\" at the end of the statement"},
	{"wary 1\nallow\n",
         "user.wary:2:6-7: error: expected a class (read, edit, exec, connect…)"},
	{"wary 1\nfinal\n", "user.wary:2:6-7: error: expected a verdict (allow, ask, deny, kill)"},
	{"wary 1\nfinal read /x\n",
         "user.wary:2:7-11: error: expected a verdict (allow, ask, deny, kill)"},
	{"wary 1\nread /x\n",
         "user.wary:2:1-5: error: unknown statement \"read\" | a rule begins with its verdict:"
         " allow, deny, ask or kill"},
	{"wary 1\nallow read,,write /x\n", "user.wary:2:12-13: error: expected a class"},
	{"wary 1\nallow \"read\" /x\n",
         "user.wary:2:7-11: error: unknown class \"read\" | a class is not quoted"},
	{"wary 1\nallow read,connect /x\n",
         "user.wary:2:7-19: error: these classes have different kinds of objects | write a rul"
         "e for each"},
	{"wary 1\nallow read x\n",
         "user.wary:2:12-13: error: expected a path, a condition or an option | a path begins "
         "with /, ~/, **/ or ${NAME}"},
	{"wary 1\nallow read ./x\n",
         "user.wary:2:12-15: error: expected a path, a condition or an option | a path begins "
         "with /, ~/, **/ or ${NAME}"},
	{"wary 1\nallow read /a/../b\n",
         "user.wary:2:12-19: error: a path pattern has no . or .. in it"},
	{"wary 1\nallow read /a/?.c\n",
         "user.wary:2:12-18: error: ?, [ and ] are no wildcards here | write * for any charact"
         "ers, or a backslash before it"},
	{"wary 1\nallow read /a/[id].js\n",
         "user.wary:2:12-22: error: ?, [ and ] are no wildcards here | write * for any charact"
         "ers, or a backslash before it"},
	{"wary 1\nallow read ~bob/x\n",
         "user.wary:2:12-18: error: the home of another user has no name here | ~ is your own "
         "home: ~/NAME"},
	{"wary 1\nallow read $HOME/x\n",
         "user.wary:2:12-19: error: a variable needs braces | write ${NAME}, or \\$ for the ch"
         "aracter itself"},
	{"wary 1\nallow read ${home}/x\n",
         "user.wary:2:12-21: error: expected the name of a variable | a variable is ${NAME}, i"
         "n capital letters"},
	{"wary 1\nallow read ${HOM}/x\n",
         "user.wary:2:12-20: error: unknown variable \"HOM\" | did you mean \"HOME\"?"},
	{"wary 1\nallow read ${TENANT}/x\n",
         "user.wary:2:12-23: error: the variable \"TENANT\" has no value here"},
	{"wary 1\nallow read /{a\n",
         "user.wary:2:12-15: error: a brace is not closed | write \\{ for the character itself"},
	{"wary 1\nallow read /{a}\n",
         "user.wary:2:12-16: error: braces need alternatives: {a,b} | write \\{ for the charac"
         "ter itself"},
	{"wary 1\nallow read /a}\n",
         "user.wary:2:12-15: error: a closing brace without an opening one | write \\} for the"
         " character itself"},
	{"wary 1\nallow read \"/a\n",
         "user.wary:2:12-13: error: the quote is not closed on its line"},
	{"wary 1\nallow read /\\q\n",
         "user.wary:2:13-15: error: unknown escape | write \\\\ for a backslash, \\xHH for a b"
         "yte"},
	{"wary 1\nallow read /\\x0\n",
         "user.wary:2:13-17: error: \\x needs two hexadecimal digits, not 00"},
	{"wary 1\nallow read /\\x00\n",
         "user.wary:2:13-17: error: \\x needs two hexadecimal digits, not 00"},
	{"wary 1\nallow read /x by\n", "user.wary:2:17-18: error: expected the path of a program"},
	{"wary 1\nallow read /x by ssh\n",
         "user.wary:2:18-21: error: expected the path of a program | a path begins with /, ~/,"
         " **/ or ${NAME}"},
	{"wary 1\nallow read /x by /usr/bin/ssh by /usr/bin/scp\n",
         "user.wary:2:31-46: error: this condition is given twice | words within one condition"
         " are alternatives"},
	{"wary 1\nallow read /x under\n",
         "user.wary:2:20-21: error: expected the path of a program, install:MANAGER or script:"
         "PACKAGE"},
	{"wary 1\nallow read /x under install:\n",
         "user.wary:2:21-29: error: expected a name after the colon | under install:npm, under"
         " script:esbuild"},
	{"wary 1\nallow read /x under install:nmp\n",
         "user.wary:2:21-32: error: unknown package manager \"nmp\" | did you mean \"npm\"?"},
	{"wary 1\nallow read /x at 10.0.0.0/8\n",
         "user.wary:2:15-28: error: \"at\" is only for connect and bind"},
	{"wary 1\nallow connect *:* at 10.0.0.1/8\n",
         "user.wary:2:22-32: error: the address has bits beyond its prefix | 10.0.0.0/8, 2001:"
         "db8::/32, 192.0.2.1"},
	{"wary 1\nallow connect *:* at home\n",
         "user.wary:2:22-26: error: this is no range of addresses | 10.0.0.0/8, 2001:db8::/32,"
         " 192.0.2.1"},
	{"wary 1\nallow read /x sha256 12\n",
         "user.wary:2:22-24: error: a SHA-256 is 64 hexadecimal digits"},
	{"wary 1\nallow read /x until tomorrow\n",
         "user.wary:2:21-29: error: this is no time | write 2026-12-01 or 2026-12-01T12:30Z, i"
         "n UTC"},
	{"wary 1\nallow read /x when\n",
         "user.wary:2:19-20: error: expected argv, has or a fact (unpinned, new, git…)"},
	{"wary 1\nallow read /x when argv\n",
         "user.wary:2:24-25: error: expected a pattern for each argument"},
	{"wary 1\nallow read /x when has\n", "user.wary:2:23-24: error: expected an argument"},
	{"wary 1\nallow read /x when new\n",
         "user.wary:2:15-23: error: \"when\" is only for install and script"},
	{"wary 1\nallow read /x version 1\n",
         "user.wary:2:15-24: error: \"version\" is only for install and script"},
	{"wary 1\nallow read /x from registry:npm\n",
         "user.wary:2:15-32: error: \"from\" is only for install and script"},
	{"wary 1\nallow install npm:x version latest\n",
         "user.wary:2:29-35: error: this is no range of versions | \">=4 <6\", \"^1.2\", \"~2."
         "0.1\", \"1.4.2\""},
	{"wary 1\nallow install npm:x from registry:nmp\n",
         "user.wary:2:26-38: error: unknown package manager \"nmp\" | did you mean \"npm\"?"},
	{"wary 1\nallow install express\n",
         "user.wary:2:15-22: error: expected a package as MANAGER:NAME | npm:express, pip:*, *"
         ":*"},
	{"wary 1\nallow install npm:\n",
         "user.wary:2:15-19: error: expected a package as MANAGER:NAME | npm:express, pip:*, *"
         ":*"},
	{"wary 1\nallow read /x as ENOENT\n", "user.wary:2:15-24: error: \"as\" is only for deny"},
	{"wary 1\ndeny read /x as ENONT\n",
         "user.wary:2:17-22: error: unknown error name | did you mean \"ENOENT\"?"},
	{"wary 1\ndeny read /x as\n", "user.wary:2:16-17: error: expected an error name (ENOENT)"},
	{"wary 1\nallow read /x for 10m\n",
         "user.wary:2:15-22: error: \"for\" is only for ask and secret"},
	{"wary 1\nask read /x for ten\n",
         "user.wary:2:17-20: error: this is no duration | write 90s, 10m, 1h30m or 7d"},
	{"wary 1\nask read /x for 10m each\n",
         "user.wary:2:13-20: error: \"for\" keeps an answer, and \"each\" keeps none"},
	{"wary 1\nask read /x each each\n", "user.wary:2:18-22: error: \"each\" is given twice"},
	{"wary 1\nallow read /x each\n", "user.wary:2:15-19: error: \"each\" is only for ask"},
	{"wary 1\nallow read /x via phone\n", "user.wary:2:15-24: error: \"via\" is only for ask"},
	{"wary 1\nask read /x via\n", "user.wary:2:16-17: error: expected the name of a channel"},
	{"wary 1\nallow read /x through relay\n",
         "user.wary:2:15-28: error: \"through relay\" is only for allow and ask of connect"},
	{"wary 1\nallow connect a.org:1 through tunnel\n",
         "user.wary:2:31-37: error: expected \"relay\""},
	{"wary 1\ndeny install npm:x with dependencies\n",
         "user.wary:2:20-37: error: \"with dependencies\" is only for allow and ask of install"},
	{"wary 1\nallow install npm:x with love\n",
         "user.wary:2:26-30: error: expected \"dependencies\""},
	{"wary 1\nallow read /x stack\n", "user.wary:2:15-20: error: \"stack\" is not for allow"},
	{"wary 1\nallow read /x because\n",
         "user.wary:2:22-23: error: expected a reason, in quotes"},
	{"wary 1\nallow connect github.com\n",
         "user.wary:2:15-25: error: an address needs its port | github.com:443, or github.com:"
         "* for every port"},
	{"wary 1\nallow connect privat\n",
         "user.wary:2:15-21: error: an address needs its port | did you mean \"private\"?"},
	{"wary 1\nallow connect github.com:https\n",
         "user.wary:2:15-31: error: this is no port | write 443, 8000-8999, 80,443 or *"},
	{"wary 1\nallow connect a.org:90000\n",
         "user.wary:2:15-26: error: this is no port | write 443, 8000-8999, 80,443 or *"},
	{"wary 1\nallow connect a.org:20-10\n",
         "user.wary:2:15-26: error: this is no port | write 443, 8000-8999, 80,443 or *"},
	{"wary 1\nallow connect 10.0.0.1/8:22\n",
         "user.wary:2:15-28: error: the address has bits beyond its prefix | set the bits behi"
         "nd the prefix to 0"},
	{"wary 1\nallow connect 10.0.0/8:22\n", "user.wary:2:15-26: error: this is no address"},
	{"wary 1\nallow connect 2001:db8::1:443\n",
         "user.wary:2:15-30: error: an IPv6 address stands in brackets | [2001:db8::1]:443"},
	{"wary 1\nallow connect [2001:db8::1]\n",
         "user.wary:2:15-28: error: expected ] and a port | [2001:db8::1]:443"},
	{"wary 1\nallow connect [nope]:443\n", "user.wary:2:15-25: error: this is no address"},
	{"wary 1\nallow connect 127.1:80\n",
         "user.wary:2:15-23: error: this name is an address in another spelling | write 127.0."
         "0.1"},
	{"wary 1\nallow connect 2130706433:80\n",
         "user.wary:2:15-28: error: this name is an address in another spelling | write 127.0."
         "0.1"},
	{"wary 1\nallow connect 0x7f000001:80\n",
         "user.wary:2:15-28: error: this name is an address in another spelling | write 127.0."
         "0.1"},
	{"wary 1\nallow connect 0177.0.0.1:80\n",
         "user.wary:2:15-28: error: this name is an address in another spelling | write 127.0."
         "0.1"},
	{"wary 1\nallow connect b\xc3\xbc"
         "cher.de:443\n",
         "user.wary:2:15-28: error: a host's name has only ASCII letters | write the name as D"
         "NS has it: xn--…"},
	{"wary 1\nallow connect a.*.org:443\n",
         "user.wary:2:15-26: error: in a host's name * stands only for all of the front | *.ex"
         "ample.org is every name below example.org"},
	{"wary 1\nallow connect -a.org:443\n", "user.wary:2:15-25: error: this is no host's name"},
	{"wary 1\nallow connect unix:x\n",
         "user.wary:2:15-21: error: expected a path or @name after unix: | unix:/run/x.sock, u"
         "nix:@name"},
	{"wary 1\nallow connect unix:@\n", "user.wary:2:15-21: error: expected a name after @"},
	{"wary 1\nallow connect registry:\n",
         "user.wary:2:15-24: error: expected the manager of a registry | registry:npm"},
	{"wary 1\nallow connect registry:nmp\n",
         "user.wary:2:15-27: error: unknown package manager \"nmp\" | did you mean \"npm\"?"},
	{"wary 1\nallow connect \\*:443\n",
         "user.wary:2:15-21: error: an address has no literal *"},
	{"wary 1\nallow bind a.org:443\n",
         "user.wary:2:12-21: error: bind takes addresses, not names of hosts"},
	{"wary 1\nallow resolve a.org:443\n",
         "user.wary:2:15-24: error: names are resolved, not addresses and ports | write only t"
         "he name: github.com"},
	{"wary 1\nallow resolve 10.0.0.1\n",
         "user.wary:2:15-23: error: names are resolved, not addresses and ports | write only t"
         "he name: github.com"},
	{"wary 1\ninclude\n", "user.wary:2:8-9: error: expected the name of a policy, in quotes"},
	{"wary 1\ninclude \"nope\"\n", "user.wary:2:9-15: error: there is no policy \"nope\""},
	{"wary 1\ninclude \"\"\n",
         "user.wary:2:9-11: error: expected the name of a policy, in quotes"},
	{"wary 1\nlet\n", "user.wary:2:4-5: error: expected the name of a variable"},
	{"wary 1\nlet x = /y\n",
         "user.wary:2:5-6: error: a variable's name is of capital letters, digits and _"},
	{"wary 1\nlet X /y\n", "user.wary:2:7-9: error: expected \"=\" | let NAME = value"},
	{"wary 1\nlet X =\n", "user.wary:2:8-9: error: expected a value"},
	{"wary 1\nlet X = \"\"\n", "user.wary:2:9-11: error: the value is empty"},
	{"wary 1\nlet X = env:\n",
         "user.wary:2:13-14: error: expected the name of an environment variable after \"env:"
         "\""},
	{"wary 1\ndefault\n",
         "user.wary:2:8-9: error: expected a verdict (allow, ask, deny, kill)"},
	{"wary 1\ndefault deni\n",
         "user.wary:2:9-13: error: unknown verdict | did you mean \"deny\"?"},
	{"wary 1\ndefault pass\n",
         "user.wary:2:1-13: error: only a machine's policy may say \"default pass\""},
	{"wary 1\nallow read /x\ndefault deny\n",
         "user.wary:3:1-13: error: a default stands before the first rule | put it before the "
         "first rule"},
	{"wary 1\ndefault deny\ndefault ask\n",
         "user.wary:3:1-12: error: the default is given twice"},
	{"wary 1\ndefault deny secret\n",
         "user.wary:2:1-20: error: a default does not reach stat, ipc, syscall and secret | wr"
         "ite a rule for the class"},
	{"wary 1\nsecret\n", "user.wary:2:7-8: error: expected the name of a secret"},
	{"wary 1\nsecret A-B from env:A to /usr/bin/gh as env\n",
         "user.wary:2:8-11: error: a secret's name is of letters, digits and _"},
	{"wary 1\nsecret A\n",
         "user.wary:2:9-10: error: expected \"from\" | secret NAME from WHERE to PROGRAM… as"
         " env"},
	{"wary 1\nsecret A from keychain:A to /usr/bin/gh as env\n",
         "user.wary:2:15-25: error: expected vault:NAME, env:NAME, file:PATH or command:\"…"
         "\""},
	{"wary 1\nsecret A from env: to /usr/bin/gh as env\n",
         "user.wary:2:15-19: error: expected vault:NAME, env:NAME, file:PATH or command:\"…"
         "\""},
	{"wary 1\nsecret A from env:A\n",
         "user.wary:2:20-21: error: expected \"to\" | secret NAME from WHERE to PROGRAM… as "
         "env"},
	{"wary 1\nsecret A from env:A to as env\n",
         "user.wary:2:24-26: error: expected the path of a program"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh\n",
         "user.wary:2:35-36: error: expected \"as\": how the program gets the secret | secret "
         "NAME from WHERE to PROGRAM… as env"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as\n",
         "user.wary:2:38-39: error: expected env, file PATH or fd NUMBER"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as flie ~/x\n",
         "user.wary:2:39-43: error: expected env, file PATH or fd NUMBER | did you mean \"file"
         "\"?"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as file\n",
         "user.wary:2:43-44: error: expected a path"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as file ~/*\n",
         "user.wary:2:44-47: error: expected one path, without wildcards"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as fd 2\n",
         "user.wary:2:42-43: error: a descriptor is a number from 3 to 1023"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as env quiet\n",
         "user.wary:2:43-48: error: this option is not for secrets"},
	{"wary 1\nsecret A from env:A to /usr/bin/gh as env please\n",
         "user.wary:2:43-49: error: unexpected \"please\" at the end of the statement"},
	{"wary 1\nlimit\n", "user.wary:2:6-7: error: expected a limit (wall, memory, processes…)"},
	{"wary 1\nlimit wal 30m\n",
         "user.wary:2:7-10: error: unknown limit \"wal\" | did you mean \"wall\"?"},
	{"wary 1\nlimit wall\n",
         "user.wary:2:11-12: error: expected an amount (30m, 2G, 200, 1M/s)"},
	{"wary 1\nlimit wall soon\n",
         "user.wary:2:12-16: error: this is no amount for the limit \"wall\" | times are 90s o"
         "r 30m, sizes 512K or 2G, bandwidth 1M/s"},
	{"wary 1\nlimit wall 30m then explode\n",
         "user.wary:2:21-28: error: expected stop, deny, ask or pause"},
	{"wary 1\nlimit wall 30m then\n",
         "user.wary:2:20-21: error: expected stop, deny, ask or pause"},
	{"wary 1\nlimit bandwidth 1M\n",
         "user.wary:2:17-19: error: this is no amount for the limit \"bandwidth\" | times are "
         "90s or 30m, sizes 512K or 2G, bandwidth 1M/s"},
	{"wary 1\nlimit space 5G in\n", "user.wary:2:18-19: error: expected a path"},
	{"wary 1\naudit\n",
         "user.wary:2:6-7: error: expected count, off, full, sync, keep or max-size"},
	{"wary 1\naudit cuont read\n",
         "user.wary:2:7-12: error: expected count, off, full, sync, keep or max-size | did you "
         "mean \"count\"?"},
	{"wary 1\naudit keep\n", "user.wary:2:11-12: error: expected a span (90d, 52w)"},
	{"wary 1\naudit keep 90\n",
         "user.wary:2:12-14: error: this is no span to keep sessions for | a span is 90d or "
         "52w, a day at least"},
	{"wary 1\naudit keep 23h\n",
         "user.wary:2:12-15: error: this is no span to keep sessions for | a span is 90d or "
         "52w, a day at least"},
	{"wary 1\naudit keep 1s\n",
         "user.wary:2:12-14: error: this is no span to keep sessions for | a span is 90d or "
         "52w, a day at least"},
	{"wary 1\naudit keep 90d 1d\n",
         "user.wary:2:16-18: error: unexpected \"1d\" at the end of the statement"},
	{"wary 1\naudit max-size 1023K\n",
         "user.wary:2:16-21: error: this is no size of a record | a size is 500M or 2G, a "
         "megabyte at least"},
	{"wary 1\naudit max-size\n", "user.wary:2:15-16: error: expected a size (500M, 2G)"},
	/* A world that knows of no lasting folder: nothing counts. */
	{"wary 1\naudit keep 90d\n",
         "user.wary:2:1-15: error: how long sessions are kept counts only in files of "
         "~/.config/wary and /etc/wary themselves | put it into your own policy, or the "
         "machine's; wary audit prune removes by hand"},
	{"wary 1\naudit count\n",
         "user.wary:2:12-13: error: expected a class (read, edit, exec, connect…)"},
	{"wary 1\naudit full read\n",
         "user.wary:2:12-16: error: unexpected \"read\" at the end of the statement"},
	{"wary 1\nenv\n", "user.wary:2:4-5: error: expected pass, drop or set"},
	{"wary 1\nenv keep X\n", "user.wary:2:5-9: error: expected pass, drop or set"},
	{"wary 1\nenv drop\n",
         "user.wary:2:9-10: error: expected the name of an environment variable, or a pattern"},
	{"wary 1\nenv set X\n", "user.wary:2:10-11: error: expected \"=\" | env set NAME = value"},
	{"wary 1\nenv set X =\n", "user.wary:2:12-13: error: expected a value"},
	{"wary 1\ntmp\n", "user.wary:2:4-5: error: expected private or shared"},
	{"wary 1\ntmp secret\n", "user.wary:2:5-11: error: expected private or shared"},
	{"wary 1\ntenant\n", "user.wary:2:7-8: error: expected the name of a tenant"},
	{"wary 1\ntenant a users b use \"c\"\n",
         "user.wary:2:1-25: error: a user's policy has no \"tenant\" statements"},
	{"wary 1\nexpect\n", "user.wary:2:7-8: error: expected a verdict (allow, ask, deny, kill)"},
	{"wary 1\nexpect alow read /x\n",
         "user.wary:2:8-12: error: expected a verdict (allow, ask, deny, kill) | did you mean "
         "\"allow\"?"},
	{"wary 1\nexpect allow\n",
         "user.wary:2:13-14: error: expected a class (read, edit, exec, connect…)"},
	{"wary 1\nexpect allow read\n", "user.wary:2:18-19: error: expected an object"},
	{"wary 1\nexpect allow read /x/*\n",
         "user.wary:2:19-23: error: expected one name, without wildcards"},
	{"wary 1\nexpect allow read x\n", "user.wary:2:19-20: error: expected a path"},
	{"wary 1\nexpect allow read /x buy /usr/bin/ssh\n",
         "user.wary:2:22-25: error: expected by, under, named, if, version, from or argv | did"
         " you mean \"by\"?"},
	{"wary 1\nexpect allow read /x by\n",
         "user.wary:2:24-25: error: expected the path of a program"},
	{"wary 1\nexpect allow read,connect /x\n",
         "user.wary:2:27-29: error: these classes have different kinds of objects"},
	{"wary 1\nexpect allow connect *:443\n", "user.wary:2:22-27: error: expected one address"},
	{"wary 1\nexpect allow connect 10.0.0.0/8:443\n",
         "user.wary:2:22-36: error: expected one address"},
	{"wary 1\nexpect allow connect a.org:1-2\n", "user.wary:2:22-31: error: expected one port"},
	{"wary 1\nexpect allow connect registry:pip\n",
         "user.wary:2:22-34: error: this registry has no hosts here"},
	{"wary 1\nexpect allow resolve *.a.org\n",
         "user.wary:2:22-29: error: expected one name, without wildcards"},
	{"wary 1\nexpect allow connect 10.0.0.1:1 named *.a.org\n",
         "user.wary:2:39-46: error: expected one name, without wildcards"},
	{"wary 1\nexpect allow install x\n",
         "user.wary:2:22-23: error: expected a package as MANAGER:NAME"},
	{"wary 1\nexpect allow install npm:x if nwe\n",
         "user.wary:2:31-34: error: unknown fact \"nwe\" | did you mean \"new\"?"},
	{"wary 1\nexpect allow install npm:x if\n",
         "user.wary:2:30-31: error: expected a fact (unpinned, new, git…)"},
	{"wary 1\nallow read /x extra words\n",
         "user.wary:2:15-20: error: expected a path, a condition or an option | a path begins "
         "with /, ~/, **/ or ${NAME}"},
	{"wary 1\nallow read /a \xff\n",
         "user.wary:2:15-16: error: the text is not UTF-8 (byte 0xff) | in a name write such a"
         " byte as \\xHH"},
	{"\xef\xbb\xbfwary 1\n",
         "user.wary:1:1-2: error: the text begins with a byte order mark | save the file as UT"
         "F-8 without one"},
	{"wary 1\r\n",
         "user.wary:1:7-8: error: the line ends in CR LF, or has a carriage return | save the "
         "file with plain line ends (LF)"},
	{"wary 1\nallow read /x\x7f\n",
         "user.wary:2:14-15: error: the text has a control character (\\x7f) | in a name write"
         " it as \\xHH"},
	{"wary 1\nallow read /a\xe2\x80\x8b"
         "b\n",
         "user.wary:2:14-15: error: the text has an invisible or direction-changing character "
         "(U+200B) | people would not see what it does"},
};

static struct made_world w;

/* --- what only running needs ------------------------------------------------- */

static const struct {
	const char *text, *what;
	unsigned stage;
} stages[] = {
	{"allow connect a.org:443", "addresses by name", STAGE_NAMES},
	{"deny resolve *", "rules about resolve", STAGE_RESOLVE},
	{"allow connect 1.2.3.4:1 through relay", "\"through relay\"", STAGE_RELAY},
	{"deny script npm:*", "rules about script", STAGE_SCRIPT},
	{"deny install *:*", "rules about install", STAGE_INSTALL},
	{"deny install *:* version \">1\"", "\"version\"", STAGE_VERSION},
	{"deny install *:* when unpinned", "\"when unpinned\"", STAGE_VERSION},
	{"deny install *:* from x", "\"from\"", STAGE_FROM},
	{"deny install *:* when new", "when new, git, url, path and lookalike", STAGE_FACTS},
	{"deny install *:* when script", "\"when script\"", STAGE_SCRIPT},
	{"allow install npm:x with dependencies", "\"with dependencies\"", STAGE_DEPENDENCIES},
	{"deny exec /x sha256 "
         "0000000000000000000000000000000000000000000000000000000000000000",
         "\"sha256\"", STAGE_SHA256},
	{"deny read /x under install:npm", "\"under install:\" and \"under script:\"", STAGE_MARKS},
	{"deny read /x stack", "\"stack\"", STAGE_STACK},
	{"ask read /x via y", "\"via\"", STAGE_VIA},
	{"ask read /x for 1m", "\"for\"", STAGE_FOR},
	{"deny file /x", "rules about stat (and file, which includes it)", STAGE_STAT},
	{"deny ipc x", "rules about ipc", STAGE_IPC},
	{"deny syscall x", "rules about syscall", STAGE_SYSCALL},
	{"tmp private", "\"tmp private\"", STAGE_TMP},
	{"limit wall 1m", "limits", STAGE_LIMIT},
	{"env drop X", "\"env pass\" and \"env drop\"", STAGE_ENV},
	{"env set X = y", "\"env set\"", STAGE_ENV_SET},
	{"audit count read", "\"audit count\"", STAGE_AUDIT},
	{"audit off read", "\"audit off\"", STAGE_AUDIT},
	{"audit sync", "\"audit sync\"", STAGE_AUDIT_SYNC},
	{"secret A from env:A to /usr/bin/gh as env", "secrets", STAGE_SECRET_ENV},
	{"secret A from vault:A to /usr/bin/gh as env", "secrets from the vault",
         STAGE_SECRET_VAULT},
	{"secret A from file:/x to /usr/bin/gh as env", "secrets from files", STAGE_SECRET_FILE},
	{"secret A from command:\"x y\" to /usr/bin/gh as env", "secrets from commands",
         STAGE_SECRET_COMMAND},
	{"secret A from env:A to /usr/bin/gh as file /y", "secrets as files", STAGE_SECRET_AS_FILE},
	{"secret A from env:A to /usr/bin/gh as fd 3", "secrets as descriptors",
         STAGE_SECRET_AS_FD},
};

/* Loads to run with some stages. Returns the first message, or "(loaded)". */
static const char *run_with(const char *text, unsigned have)
{
	static const char *const files[] = {"user.wary", NULL};
	static char out[1300];
	char whole[300];
	struct policy_report *r;
	struct policy *p = NULL;
	int err;

	snprintf(whole, sizeof whole, "wary 1\n%s\n", text);
	made_file_is(&w, "user.wary", whole);
	w.world.for_run = true;
	w.world.stages = have;
	err = policy_load(&w.world, files, &p, &r);
	w.world.for_run = false;
	snprintf(out, sizeof out, "%s", err ? made_message(r, 0) : "(loaded)");
	if (!err)
		policy_free(p);
	policy_report_free(r);
	return out;
}

static void missing_stages(void)
{
	for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
		char want[300];
		const char *got = run_with(stages[i].text, ~stages[i].stage);

		snprintf(want, sizeof want,
		         ": error: this wary cannot enforce %s yet | check and explain work; a "
		         "policy "
		         "runs only where all of it is kept",
		         stages[i].what);
		tap_ok(strncmp(got, "user.wary:2:", 12) == 0 && strstr(got, want),
		       "stage missing: %s: %s", stages[i].text, got);
		tap_is_str(run_with(stages[i].text, ~0u), "(loaded)", "stage there: %s",
		           stages[i].text);
	}
}

/* --- includes and bounds -------------------------------------------------------- */

static void first_is(const char *const *files, const char *want)
{
	struct policy_report *r;
	struct policy *p = NULL;
	int err = policy_load(&w.world, files, &p, &r);

	tap_is_str(err ? made_message(r, 0) : "(loaded)", want, "%s", want);
	if (!err)
		policy_free(p);
	policy_report_free(r);
}

/* Every include leads to another file: "1", "2"… */
static int read_chain(void *ctx, const char *from, const char *word, char **text, size_t *len,
                      char **path)
{
	unsigned n = from ? (unsigned)strtoul(from + 1, NULL, 10) : 0;
	char out[64];

	(void)ctx;
	(void)word;
	snprintf(out, sizeof out, "wary 1\ninclude \"x%u\"\n", n + 1);
	*text = strdup(out);
	*len = strlen(out);
	snprintf(out, sizeof out, "/%u", n + 1);
	*path = strdup(out);
	return 0;
}

/* Ten includes of ten includes of… */
static int read_tree(void *ctx, const char *from, const char *word, char **text, size_t *len,
                     char **path)
{
	static unsigned n;
	char out[400] = "wary 1\n";
	unsigned depth = from ? (unsigned)strlen(from) : 1;

	(void)ctx;
	(void)word;
	for (int i = 0; i < 10; i++)
		memcpy(out + 7 + i * 12, "include \"x\"\n", 13);
	*text = strdup(out);
	*len = strlen(out);
	*path = calloc(1, depth + 32);
	snprintf(*path, depth + 32, "/%0*u", (int)depth, n++);
	return 0;
}

static int read_huge(void *ctx, const char *from, const char *word, char **text, size_t *len,
                     char **path)
{
	(void)ctx;
	(void)from;
	*len = strcmp(word, "huge") == 0 ? (size_t)5 << 20 : 0;
	if (!*len)
		return strcmp(word, "secret") == 0 ? -ERR_PERM : -ERR_BOUND;
	*text = malloc(*len);
	memset(*text, 'x', *len);
	*path = strdup("/etc/huge.wary");
	return 0;
}

static void includes(void)
{
	static const char *const user[] = {"user.wary", NULL};
	static const char *const huge[] = {"huge", NULL};
	static const char *const long_one[] = {"long", NULL};
	static const char *const secret[] = {"secret", NULL};

	made_file_is(&w, "user.wary", "wary 1\ninclude \"a\"\n");
	made_file_is(&w, "a", "wary 1\ninclude \"b\"\n");
	made_file_is(&w, "b", "wary 1\n\ninclude \"a\"\n");
	first_is(user, "b:3:9-12: error: \"a\" includes itself");
	made_file_is(&w, "b", "wary 1\nalow\n");
	first_is(user, "b:2:1-5: error: unknown statement \"alow\" | did you mean \"allow\"?");
	w.world.read = read_chain;
	first_is(user, "32:2:9-14: error: includes are nested deeper than 32");
	w.world.read = read_tree;
	{
		struct policy_report *r;
		struct policy *p;

		tap_is_int(policy_load(&w.world, user, &p, &r), -ERR_POLICY, "a tree of includes");
		tap_ok(strstr(made_message(r, 0), "includes are nested deeper than 32") ||
		               strstr(made_message(r, 0), "more than 256 files are included"),
		       "a tree of includes: %s", made_message(r, 0));
		policy_report_free(r);
	}
	w.world.read = read_huge;
	first_is(huge, "huge.wary:0:0-0: error: the policy \"huge\" is longer than 4 MiB, the "
	               "most that it may be");
	first_is(long_one, "long:0:0-0: error: the policy \"long\" is longer than 4 MiB, the most "
	                   "that it may be");
	first_is(secret, "secret:0:0-0: error: not permitted to read the policy \"secret\"");
	w.world.read = made_read;
	first_is((const char *const[]){"machine:nope", NULL},
	         "nope:0:0-0: error: there is no policy \"nope\"");
	first_is((const char *const[]){"rules:alow read /x", NULL},
	         "command line:1:1-5: error: unknown statement \"alow\" | did you mean \"allow\"?");
	first_is((const char *const[]){"rules:include \"x\"", NULL},
	         "command line:1:1-12: error: the command line has no \"include\" statements");
}

static void bounds(void)
{
	static char text[400000];
	size_t n = (size_t)snprintf(text, sizeof text, "wary 1\nallow read");

	for (int i = 0; i < 10001; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, " /x");
	made_refused(&w, text,
	             "user.wary:2:30006-30007: error: a statement of more than 10000 words | write "
	             "several statements");
	n = (size_t)snprintf(text, sizeof text, "wary 1\nallow read /");
	memset(text + n, 'x', 9000);
	text[n + 9000] = '\0';
	made_refused(&w, text, "user.wary:2:12-9013: error: the word is longer than 8192 bytes");
	n = (size_t)snprintf(text, sizeof text, "wary 1\nallow read ");
	for (int i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "/x");
	made_refused(&w, text, "user.wary:2:12-612: error: the pattern is longer than any path");
}

static int read_nul(void *ctx, const char *from, const char *word, char **text, size_t *len,
                    char **path)
{
	(void)ctx;
	(void)from;
	*text = malloc(9);
	memcpy(*text, "wary 1\n#\0", 9);
	*len = 9;
	*path = strdup(word);
	return 0;
}

static void nul_byte(void)
{
	w.world.read = read_nul;
	first_is((const char *const[]){"user.wary", NULL},
	         "user.wary:2:2-3: error: the text has a NUL byte");
	w.world.read = made_read;
}

int main(void)
{
	made_begin(&w);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		made_refused(&w, refused[i].text, refused[i].want);
	missing_stages();
	includes();
	bounds();
	nul_byte();
	return tap_done();
}
