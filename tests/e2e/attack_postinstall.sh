#!/bin/sh
# The install script of a package reads a key, writes a start-up file, connects
# to cloud metadata and runs sudo: each is EACCES, the install goes on, and the
# record names the four with program, rule and time.
. "$SRC/tests/lib/test.sh"
npm_setup
default_policy
mkdir -p "$HOME/.ssh" "$HOME/app/evil"
echo secret >"$HOME/.ssh/id_ed25519"
echo '# mine' >"$HOME/.bashrc"
cat >"$HOME/app/evil/package.json" <<'JSON'
{ "name": "evil", "version": "1.0.0", "scripts": { "postinstall": "node attack.js" } }
JSON
cat >"$HOME/app/evil/attack.js" <<'JS'
const fs = require('fs'), net = require('net'), child = require('child_process');
const out = [];
const attempt = (what, f) => { try { f(); out.push(`${what}: DONE`); }
                               catch (e) { out.push(`${what}: ${e.code}`); } };
attempt('key', () => fs.readFileSync(process.env.HOME + '/.ssh/id_ed25519'));
attempt('bashrc', () => fs.appendFileSync(process.env.HOME + '/.bashrc', 'evil\n'));
attempt('sudo', () => { const r = child.spawnSync(process.env.SUDO, ['-n', 'true']);
                        if (r.error) throw r.error; });
const s = net.connect(80, '169.254.169.254');
const end = what => { out.push(`metadata: ${what}`);
                      fs.writeFileSync('result', out.join('\n') + '\n'); s.destroy(); };
s.on('connect', () => end('DONE'));
s.on('error', e => end(e.code));
JS
printf '{ "name": "app", "version": "1.0.0", "allowScripts": { "evil": true } }\n' \
	>"$HOME/app/package.json"
cd "$HOME/app" || exit 1
git init -q .
SUDO=/usr/bin/sudo
[ -x $SUDO ] || SUDO=/usr/bin/su
export SUDO
check_status "the install goes on" 0 wary npm install --offline --install-links ./evil \
	2>"$TMPDIR/said"
sed 's/^/# /' "$TMPDIR/said"
check_is "each attempt was EACCES" "$(cat node_modules/evil/result)" \
	"key: EACCES
bashrc: EACCES
sudo: EACCES
metadata: EACCES"
check_is "the start-up file is as it was" "$(cat "$HOME/.bashrc")" '# mine'
check_has "the key is named on the terminal, by program and rule" "$TMPDIR/said" \
	'^wary: node \([0-9]+.*\) may not read ~/.ssh/id_ed25519$'
check_has "the summary counts them" "$TMPDIR/said" '^wary: .* 4 refused'
session=$("$WARY" audit sessions | sed -n '2s/ .*//p')
"$WARY" audit log --session "$session" --verdict deny >"$TMPDIR/log"
for what in 'read +.*/.ssh/id_ed25519 ' '(write|edit) +.*/.bashrc ' 'exec +.*/(sudo|su) ' \
	'connect +169.254.169.254:80 '; do
	check_has "on record: $what" "$TMPDIR/log" \
		"^[0-9][0-9]:[0-9][0-9]:[0-9.]+ +[0-9]+ +node +$what.*(\.wary:[0-9]+|floor)"
done
check_is "and nothing else was refused" "$(($(wc -l <"$TMPDIR/log") - 1))" 4
check_status "the record is intact" 0 "$WARY" audit verify
finish
