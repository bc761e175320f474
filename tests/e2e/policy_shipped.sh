#!/bin/sh
# Every shipped policy: checked, laid out, as expected, and with its paragraph.
. "$SRC/tests/lib/test.sh"

mkdir -p "$HOME/app/.git" && cd "$HOME/app" || exit 1
said=$TMPDIR/said

# What a policy for coding agents cannot avoid, and says.
known='^agent\.wary:[0-9]+:1: warning: a copy of the program evades this$'

for file in "$SRC"/policy/*.wary; do
	name=$(basename "$file" .wary)
	"$WARY" policy check "$name" >"$said" 2>&1
	status=$?
	if [ "$name" = agent ]; then
		check_is "$name: check" "$status" 1
		check_has "$name: what it warns of" "$said" "$known"
		check_is "$name: only that" "$(grep -c warning: "$said")" 1
	else
		check_is "$name: check" "$status $(cat "$said")" "0 "
	fi
	check_status "$name: laid out by fmt" 0 "$WARY" policy fmt --check "$file"
	"$WARY" policy test "$name" >"$said" 2>&1
	check_is "$name: expect lines: exit status" "$?" 0
	check_has "$name: it has expect lines" "$said" "^$name\.wary: ([1-9][0-9]*) of \1 as expected$"
	check_has "$name: it says what it is for" "$file" "^# $name: .{20,}"
	"$WARY" policy show "$name" --json >"$TMPDIR/shown" 2>"$said"
	check_is "$name: show: exit status" "$?" 0
	check "$name: show is JSON with rules" /usr/bin/python3 -c '
import json, sys
shown = json.load(open(sys.argv[1]))
sys.exit(not shown["rules"] or "HOME" not in shown["variables"])' "$TMPDIR/shown"
done

"$WARY" policy list >"$said"
for name in default strict offline readonly node python c rust go ci agent claude-code codex aider \
	audit-only; do
	check_has "list has $name" "$said" "^$name +shipped"
done
for name in system tools work keys; do
	check_has "list has the part $name" "$said" "^$name +part"
done
check_has "default is in force where there is no other" "$said" '^default +shipped  \*'

# What no shipped policy but audit-only allows, whoever acts.
nobody_wants() {
	sed 's/^/expect deny /; s/$/ by \/usr\/bin\/node/' <<'EOQ'
read ~/.ssh/id_ed25519
read ~/.aws/credentials
read ~/.config/gcloud/credentials.db
read ~/.azure/msal_token_cache.json
read ~/.kube/config
read ~/.docker/config.json
read ~/.npmrc
read ~/.pypirc
read ~/.netrc
read ~/.git-credentials
read ~/.config/gh/hosts.yml
read ~/.gnupg/secring.gpg
read ~/.mozilla/firefox/a/logins.json
read ~/.config/google-chrome/Default/Cookies
read ~/.local/share/keyrings/login.keyring
read ~/.password-store/a.gpg
read ~/.bash_history
read /etc/shadow
read /run/secrets/kubernetes.io/serviceaccount/token
write ~/.bashrc
create ~/.profile
write ~/.gitconfig
create ~/.config/autostart/a.desktop
create ~/.config/systemd/user/a.service
create ~/.local/bin/ls
create ${PROJECT}/.git/hooks/post-checkout
write ${PROJECT}/.git/config
delete ${PROJECT}/.git/config
create ${PROJECT}/.envrc
write /etc/crontab
create /var/spool/cron/crontabs/root
write /usr/bin/node
exec /usr/bin/sudo
exec /bin/su
exec /usr/bin/pkexec
connect unix:/run/docker.sock
connect unix:/run/dbus/system_bus_socket
connect unix:/run/containerd/containerd.sock
connect unix:/run/systemd/private
connect unix:/run/user/1000/bus
connect unix:@/tmp/.X11-unix/X0
connect 169.254.169.254:80
EOQ
}
for name in default strict offline readonly node python c rust go ci agent claude-code codex aider; do
	file=$TMPDIR/all-$name.wary
	printf 'wary 1\ninclude "%s"\n' "$name" >"$file"
	nobody_wants >>"$file"
	"$WARY" policy test "$file" >"$said" 2>&1
	check_is "$name: refuses what nobody wants" "$? $(tail -n 1 "$said")" \
		"0 all-$name.wary: 42 of 42 as expected"
	grep -v 'as expected$' "$said" | sed 's/^/#   /'
done
finish
