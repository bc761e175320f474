#!/bin/sh
# The shipped default: common work simply runs, and what nobody wants does not.
# shellcheck disable=SC2016  # what stands in quotes is for the supervised shell
. "$SRC/tests/lib/test.sh"

home=$(cd "$HOME" && pwd -P)
said=$TMPDIR/said
app=$home/app
mkdir -p "$app" "$home/.ssh" "$home/.aws" "$home/.config/gh" "$home/.config/sometool" "$home/bin"
cat >"$home/.gitconfig" <<'EOG'
[user]
	name = t
	email = t@t
[init]
	defaultBranch = main
EOG
for file in .ssh/id_ed25519 .aws/credentials .config/gh/hosts.yml .config/sometool/token .netrc \
	.pypirc .git-credentials .bash_history; do
	echo "KEY-MARK" >"$home/$file"
done
echo '# startup' >"$home/.bashrc"
cd "$app" && git init -q . && cd - >/dev/null || exit 1

# run TEXT COMMAND…: in the project, under default; what wary says in $said.
run() {
	text=$1
	shift
	(cd "$app" && "$WARY" "$@" 2>"$said" >"$TMPDIR/out" </dev/null)
	check_is "$text: exit status" "$?" 0
	check_is "$text: nothing refused" "$(grep -c ' may not ' "$said")" 0
}

# refused TEXT RULE COMMAND: a shell command fails, by a rule; nothing of a key
# comes out.
refused() {
	text=$1
	rule=$2
	(cd "$app" && "$WARY" sh -c "$3" >"$TMPDIR/out" 2>"$said" </dev/null)
	check_not "$text: it fails" test "$?" = 0
	check_has "$text: and says by which rule" "$said" "^      $rule"
	check_has_not "$text: without a key" "$TMPDIR/out" KEY-MARK
}

# --- work ------------------------------------------------------------------
run 'true' true
run 'a shell with what shells do' bash -c 'ls / >/dev/null && echo a | cat >b && rm b &&
	cat <(echo sub) <<<here >/dev/null && echo x >/dev/null && t=$(mktemp) && rm "$t" && id && date'
mkdir -p "$home/src/lib" && cd "$home/src/lib" && git init -q . && echo one >one && git add one &&
	git commit -qm one
run 'git clone of a local repository' git clone -q "$home/src/lib" lib
check 'the clone has the file' test -s "$app/lib/one"
run 'git commit in the clone' sh -c 'cd lib && echo two >two && git add two && git commit -qm two'
run 'git commit in the project' sh -c 'echo x >x && git add x && git commit -qm x'
mkdir "$app/new"
run 'git init of a new repository' sh -c 'cd new && git init -q . && git config user.name n'
printf '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n' >"$app/main.c"
printf 'all: main other\nmain other: main.c\n\t$(CC) -o $@ main.c\n' >"$app/Makefile"
run 'make' make -s -j2 CC="$CC"
run 'what was built' ./main
check_is 'runs' "$(cat "$TMPDIR/out")" built

mkdir -p "$app/odd/sub" && cd "$app/odd" && printf x >"$(printf 'not\377utf8')" && : >'a b' &&
	ln -s 'a b' link && ln 'a b' hard && chmod 0640 'a b' && chmod 2750 sub && mkfifo fifo
run 'tar out' tar -C odd -cf odd.tar .
mkdir "$app/in" "$app/native"
run 'tar in' tar -C in -xpf odd.tar
tar -C "$app/native" -xpf "$app/odd.tar"
check_same_tree 'as without wary' "$app/in" "$app/native"

# pip asks a Rust that it finds for its version, whose own home this one is not.
cargo=$(dirname "$(command -v rustc || echo /none/rustc)")
PATH=$(echo "$PATH" | tr ':' '\n' | grep -vxF "$cargo" | paste -sd:)
if python3 -m venv --help >/dev/null 2>&1 && python3 -c 'import ensurepip' 2>/dev/null; then
	run 'a virtual environment' python3 -m venv env
	run 'pip in it' env/bin/pip --disable-pip-version-check list
fi
run 'a program and its own server' python3 -c '
import http.server, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
urllib.request.urlopen("http://127.0.0.1:%d/main.c" % s.server_port).read()'
run 'processes that talk by local sockets' python3 -c '
import multiprocessing as m
print(m.Manager().list([1]))'

# --- what nobody wants -----------------------------------------------------
refused 'a key' 'keys\.wary:[0-9]+ +deny read,edit ~/\.ssh/' 'cat ~/.ssh/id_ed25519'
refused 'by another name' 'keys\.wary' 'ln -s ~/.ssh k && cat k/id_ed25519'
refused 'by /proc' 'keys\.wary' "cat /proc/self/root$home/.ssh/id_ed25519"
refused 'by a hard link' 'keys\.wary' 'ln ~/.ssh/id_ed25519 h && cat h'
refused 'by moving the folder' 'keys\.wary' 'mv ~/.ssh moved && cat moved/id_ed25519'
refused 'a cloud' 'keys\.wary' 'cat ~/.aws/credentials'
refused 'a token' 'keys\.wary' 'cat ~/.config/gh/hosts.yml'
refused 'passwords' 'keys\.wary' 'cat ~/.netrc ~/.pypirc ~/.git-credentials'
refused 'a history' 'keys\.wary' 'cat ~/.bash_history'
refused 'a start-up file' 'keys\.wary:[0-9]+ +deny edit ~/\.bashrc' 'echo x >>~/.bashrc'
refused 'replaced' 'keys\.wary' 'echo x >n && mv n ~/.bashrc'
check_is 'the start-up file is as it was' "$(cat "$home/.bashrc")" '# startup'
refused 'a new one' 'keys\.wary' 'echo x >~/.profile'
refused 'a program on the way' 'keys\.wary' 'echo x >~/bin/ls'
refused 'a hook' 'keys\.wary' 'echo x >.git/hooks/post-checkout'
refused 'settings of the repository' 'keys\.wary' 'git config core.fsmonitor ./x'
refused 'settings of git' 'keys\.wary' 'git config --global core.hooksPath /tmp/x'
refused 'the repository from under its rules' 'keys\.wary' 'mv .git moved-git && echo x >.git/hooks/y'
check 'it is where it was' test -f "$app/.git/config"
refused 'a system file' 'system\.wary' 'echo x >/etc/wary-test'
refused 'password hashes' 'system\.wary' 'cat /etc/shadow'
printf '#!/bin/sh\necho KEY-MARK\n' >"$app/sudo" && chmod +x "$app/sudo"
refused 'sudo' 'keys\.wary:[0-9]+ +deny exec' 'exec ./sudo true'
refused 'cloud metadata' 'floor' \
	'exec python3 -c "import socket; socket.create_connection((\"169.254.169.254\", 80), 9)"'
refused 'another server of this host' 'default\.wary' \
	'exec python3 -c "import socket; socket.create_connection((\"127.0.0.1\", 1), 9)"'
refused 'an unknown folder of the home' 'work\.wary:[0-9]+ +ask' 'cat ~/.config/sometool/token'
check_has 'which may be allowed' "$said" "wary policy allow 'read $home/\\.config/sometool/token'"
refused 'a folder of somebody else' 'default\.wary' 'echo x >/mnt/wary-test'

# --- npm: its own settings are its own --------------------------------------
if command -v npm >/dev/null; then
	printf 'registry=http://127.0.0.1:9/\n//127.0.0.1:9/:_authToken=KEY-MARK\n' >"$home/.npmrc"
	run 'npm reads its registry' npm config get registry
	check_is 'of the user' "$(tail -n 1 "$TMPDIR/out")" 'http://127.0.0.1:9/'
	refused 'a script does not' 'keys\.wary' 'exec node -e "console.log(
		require(\"fs\").readFileSync(process.env.HOME + \"/.npmrc\", \"utf8\"))"'
	mkdir "$app/evil" "$app/web"
	cat >"$app/evil/package.json" <<'EOP'
{"name": "evil", "version": "1.0.0", "scripts": {"postinstall": "node p.js"}}
EOP
	cat >"$app/evil/p.js" <<'EOP'
const fs = require("fs"), home = process.env.HOME, got = [];
for (const f of [".npmrc", ".ssh/id_ed25519"])
	try { fs.readFileSync(home + "/" + f); got.push(f); } catch (e) { got.push(e.code); }
try { fs.appendFileSync(home + "/.bashrc", "evil"); got.push("bashrc"); } catch (e) { got.push(e.code); }
fs.writeFileSync("result", got.join(" "));
EOP
	(cd "$app/evil" && npm pack --silent >/dev/null 2>&1)
	echo '{"name": "web", "version": "1.0.0"}' >"$app/web/package.json"
	(cd "$app/web" && "$WARY" npm install --no-audit --no-fund --foreground-scripts \
		../evil/evil-1.0.0.tgz >"$TMPDIR/out" 2>"$said" </dev/null)
	check_is 'npm install of a hostile package: exit status' "$?" 0
	check_is 'its script got nothing' "$(cat "$app/web/node_modules/evil/result")" 'EACCES EACCES EACCES'
	check_is 'and changed nothing' "$(cat "$home/.bashrc")" '# startup'
fi
finish
