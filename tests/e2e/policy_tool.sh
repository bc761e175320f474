#!/bin/sh
# The verbs of `wary policy`, as a person meets them.
. "$SRC/tests/lib/test.sh"

mkdir -p "$HOME/app/.git" "$HOME/files" && cd "$HOME/app" || exit 1
said=$TMPDIR/said
own=$HOME/.config/wary/policy.wary

# verb STATUS ARG…: runs a verb, keeps what it says, checks its status.
verb() {
	want_status=$1
	shift
	"$WARY" policy "$@" >"$said" 2>&1 </dev/null
	status=$?
	check_is "policy $(echo "$*" | tr '\n' ' '): exit status" "$status" "$want_status"
}

# --- usage -----------------------------------------------------------------
verb 0 --help
check_has "--help names the verbs" "$said" '^  explain '
verb 125
verb 125 chekc
check_has "a verb that is not there" "$said" 'no verb "chekc": did you mean "check"\?'
for name in check explain test fmt suggest trust allow deny list show; do
	verb 0 $name --help
	check_has "$name --help" "$said" "^usage: wary policy $name"
done
verb 125 check --jsno
check_has "an option that is not there" "$said" 'no option "--jsno"'
verb 125 explain default
check_has "explain without a question" "$said" '^wary: usage: wary policy explain'
verb 125 list x

# --- check -----------------------------------------------------------------
printf 'wary 1\nallow read /usr/\n' >"$HOME/files/clean.wary"
printf 'wary 1\nallow   raed   /usr/**\nallow\tread\tso/me\n' >"$HOME/files/wrong.wary"
printf 'wary 1\ndeny read ~/.ssh/**\nallow read /**\n' >"$HOME/files/wide.wary"
verb 0 check "$HOME/files/clean.wary"
check_is "clean: nothing is said" "$(cat "$said")" ""
verb 2 check "$HOME/files/wrong.wary"
check_is "an error is underlined" "$(head -n 3 "$said")" 'wrong.wary:2:9: error: unknown class "raed"
    2 | allow   raed   /usr/**
      |         ^^^^   did you mean "read"?'
check_has "the next one too, below tabs" "$said" '^      | {5}	 {4}	\^\^\^\^\^'
verb 1 check "$HOME/files/wide.wary"
check_has "a warning" "$said" '^wide.wary:3:1: warning: this opens what line 2 refuses \(deny read ~/.ssh/\*\*\)'
verb 2 check "$HOME/files/clean.wary" "$HOME/files/wrong.wary"
verb 2 check "$HOME/files/none.wary"
verb 2 check "$HOME/files/wrong.wary" --json
check "check --json" /usr/bin/python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
first = found[0]["messages"][0]
wrong = (found[0]["errors"] != 2 or first["line"] != 2 or first["column"] != 9
         or first["length"] != 4 or first["kind"] != "error" or "read" not in first["hint"])
sys.exit(wrong)' "$said"
check_has_not "no colours where it is no terminal" "$said" "$(printf '\033')"

# --- explain ---------------------------------------------------------------
verb 0 explain default -- read "$HOME/.ssh/id_ed25519" by /usr/bin/node
check_has "explain: the verdict, the rule" "$said" '^deny +keys\.wary:[0-9]+ +deny read,edit ~/\.ssh/'
check_has "explain: what else matched" "$said" '^  .*work\.wary:[0-9]+ +allow read ~/$'
check_has "explain: the sources above" "$said" '^  floor: no opinion · machine policy: '
verb 0 explain default -- 'connect 203.0.113.5:443'
check_has "explain: the question as one word" "$said" '^ask +default\.wary:[0-9]+ +ask connect \*:\*'
verb 0 explain default --json -- connect 169.254.169.254:80
check "explain --json" /usr/bin/python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
sys.exit(said["verdict"]["answer"] != "deny" or not said["verdict"]["floor"]
         or not any(m["text"].startswith("ask connect") for m in said["matches"]))' "$said"
verb 2 explain default -- raed /x
check_has "explain: a question that is none" "$said" 'error: .*raed'

# --- test, fmt -------------------------------------------------------------
printf 'wary 1\nallow read /usr/\nexpect allow read /usr/x\nexpect deny read /usr/y\n' \
	>"$HOME/files/expect.wary"
verb 1 test "$HOME/files/expect.wary"
check_has "test: what was not as expected" "$said" \
	'^expect\.wary:4: expected deny, got allow by expect\.wary:2'
check_has "test: the count" "$said" '^expect\.wary: 1 of 2 as expected$'
printf 'wary 1\nallow   read /a/    # why\ndeny read   /a/b\n' >"$HOME/files/loose.wary"
cp "$HOME/files/loose.wary" "$HOME/files/kept.wary"
verb 1 fmt --check "$HOME/files/loose.wary"
check "fmt --check changes nothing" cmp -s "$HOME/files/loose.wary" "$HOME/files/kept.wary"
verb 0 fmt "$HOME/files/loose.wary"
cp "$said" "$TMPDIR/laid"
check "fmt changes nothing" cmp -s "$HOME/files/loose.wary" "$HOME/files/kept.wary"
verb 0 fmt -w "$HOME/files/loose.wary"
check "fmt -w writes what fmt prints" cmp -s "$HOME/files/loose.wary" "$TMPDIR/laid"
verb 0 fmt --check "$HOME/files/loose.wary"
check_has "fmt keeps comments" "$HOME/files/loose.wary" '# why$'
verb 125 fmt "$HOME/files/none.wary"

# --- allow, deny -----------------------------------------------------------
verb 1 allow 'connect 203.0.113.5:443'
check_has "allow shows the effect" "$said" \
	'connect +203\.0\.113\.5:443 +ask +\(default\.wary:[0-9]+\) -> allow \(policy\.wary:6\)'
check_has "and needs a yes" "$said" 'say yes on a terminal, or with --yes'
check_not "nothing was written" test -e "$own"
verb 0 allow --yes 'connect 203.0.113.5:443'
check_has "it is in the user's policy, dated" "$own" \
	'^allow connect 203\.0\.113\.5:443  # added [0-9]{4}-[0-9]{2}-[0-9]{2}$'
check_has "which goes on from default" "$own" '^include "default"$'
verb 0 explain -- connect 203.0.113.5:443
check_has "and decides" "$said" '^allow +policy\.wary:6'
verb 1 allow --yes 'connect 203.0.113.5:443'
check_has "what is decided so already is not added" "$said" 'nothing: it is decided so already'
check_is "once" "$(grep -c 203.0.113.5 "$own")" 1
verb 0 deny --yes read "$HOME/files/private/"
verb 0 explain -- read "$HOME/files/private/x"
check_has "deny decides" "$said" '^deny +policy\.wary:7'
verb 2 allow --yes 'raed /x'
check_has "a rule with an error" "$said" 'did you mean "read"\?'
verb 2 allow --yes 'read /x
allow read /'
check_has "a rule is one line" "$said" 'a rule is one line'
verb 2 allow --yes 'read /x # and more'
check_is "and nothing of that was written" "$(grep -c . "$own")" 5
verb 1 allow --yes 'connect 169.254.169.254:80'
check_has "what the floor refuses cannot be allowed" "$said" 'what stands above your policy'
chmod 0666 "$own"
verb 125 allow --yes 'read /srv/z'
check_has "a policy that others may write does not count" "$said" 'not permitted'
verb 2 explain -- read /x
chmod 0600 "$own"

# --- list, show ------------------------------------------------------------
printf 'wary 1\n# team: for the team. More.\nallow read /srv/\n' >"$HOME/.config/wary/team.wary"
verb 0 list
check_has "list: the user's own is in force" "$said" '^policy +yours    \*'
check_has "list: others of the user, with their summary" "$said" '^team +yours +for the team$'
verb 0 list --json
check "list --json" /usr/bin/python3 -c '
import json, sys
found = {(p["name"], p["kind"]): p for p in json.load(open(sys.argv[1]))}
sys.exit(not found["policy", "yours"]["in_force"] or found["default", "shipped"]["in_force"])' "$said"
verb 0 show team
check_has "show: a rule with its place" "$said" '^team\.wary:3 +allow read /srv/$'
verb 0 explain team -- read /srv/x
check_has "a policy by its name" "$said" '^allow +team\.wary:3'

# --- trust -----------------------------------------------------------------
mkdir .wary
printf 'wary 1\nallow edit /mnt/other/\ndeny connect *:8443\ninclude "./more.wary"\n' >.wary/policy.wary
printf 'wary 1\nallow exec /srv/tools/\n' >.wary/more.wary
verb 0 explain -- write /mnt/other/x
check_has "a project's policy does not count by itself" "$said" '^ask '
verb 0 list
check_has "and list says so" "$said" 'project .*\(not accepted\)$'
verb 1 trust .wary/policy.wary
check_has "trust shows what it allows beyond" "$said" \
	'edit +/mnt/other/x +ask +\(default\.wary:[0-9]+\) -> allow \(policy\.wary:2\)'
check_has "also what it includes" "$said" 'exec +/srv/tools/x +ask .* -> allow \(more\.wary:2\)'
check_has "and what it tightens" "$said" 'connect +203\.0\.113\.1:8443 +ask .* -> deny'
verb 0 trust --yes .
verb 0 explain -- write /mnt/other/x
check_has "accepted, it counts" "$said" '^allow +policy\.wary:2'
verb 0 trust
check_has "trust lists it" "$said" '/app/\.wary/policy\.wary +\(accepted\)$'
echo 'allow edit /mnt/new/' >>.wary/policy.wary
verb 0 explain -- write /mnt/new/x
check_has "changed, the accepted copy stays in force" "$said" '^ask '
verb 0 explain -- write /mnt/other/x
check_has "with what it allowed" "$said" '^allow +policy\.wary:2'
verb 0 list
check_has "and list says so" "$said" 'changed since it was accepted'
echo 'allow exec /srv/more/' >>.wary/more.wary
verb 0 trust --yes .wary
verb 0 explain -- write /mnt/new/x
check_has "accepted again" "$said" '^allow +policy\.wary:5'
rm -r .wary
verb 0 explain -- write /mnt/other/x
check_has "gone, the accepted copy stays" "$said" '^allow +policy\.wary:2'
verb 0 trust --forget
verb 0 explain -- write /mnt/other/x
check_has "forgotten, it does not count" "$said" '^ask '
verb 125 trust --forget
mkdir .wary
printf 'wary 1\nfinal allow read /\n' >.wary/policy.wary
verb 2 trust --yes .
check_has "a project's policy with what it must not hold" "$said" 'error: .*final'
printf 'wary 1\nallow read /\n' >"$HOME/files/odd.wary"
verb 125 trust --yes "$HOME/files/odd.wary"
check_has "only .wary/policy.wary is a project's" "$said" "policy is its .wary/policy.wary"
finish
