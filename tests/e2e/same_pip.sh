#!/bin/sh
# pip install of wheels served on loopback, into a venv, under the default
# policy and a rule for that server.
. "$SRC/tests/lib/test.sh"
work=$HOME/work
mkdir -p "$work/native" "$work/wary" "$work/served"
/usr/bin/python3 "$SRC/tests/lib/wheels.py" "$work/served"
mkfifo "$TMPDIR/port"
/usr/bin/python3 - "$work/served" >"$TMPDIR/port" <<'PY' 2>"$TMPDIR/server.log" &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
PY
server=$!
trap 'kill $server' EXIT
read -r port <"$TMPDIR/port"
default_policy "allow connect tcp/127.0.0.1:$port"

for side in native wary; do
	/usr/bin/python3 -m venv "$work/$side/venv" || skip "python3-venv is not installed"
	git init -q "$work/$side"
done
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COLOR=1
for side in native wary; do
	find "$work/$side/venv" -name __pycache__ -prune -exec rm -rf {} +
done
export PYTHONDONTWRITEBYTECODE=1
# The scripts of a venv have its path in them; the comparison is of what pip
# installed: site-packages and the names in bin.
install='./venv/bin/pip install --no-compile --progress-bar off \
	--index-url "http://127.0.0.1:'$port'/simple" first'
(cd "$work/native" && sh -c "$install" >"$TMPDIR/native.out" 2>&1)
native=$?
(cd "$work/wary" && wary -q -- sh -c "$install" >"$TMPDIR/wary.out" 2>&1)
status=$?
[ "$status" = 0 ] || { tail -n 5 "$TMPDIR/wary.out"; "$WARY" audit log --verdict deny | tail -n 5; }
check_is "pip install: exit status" "$status" "$native"
sed 's/[0-9.]* [kM]B\/s//' "$TMPDIR/native.out" >"$TMPDIR/1"
sed 's/[0-9.]* [kM]B\/s//' "$TMPDIR/wary.out" >"$TMPDIR/2"
check_is "pip install: output" "$(cat "$TMPDIR/2")" "$(cat "$TMPDIR/1")"
for side in native wary; do
	find "$work/$side" -type f -exec grep -lI "$work/$side" {} + | while IFS= read -r file; do
		sed -i "s|$work/$side|SIDE|g" "$file"
	done
	# RECORD has the digest of bin/first-tool, which has the path in it.
	sed -i 's/^\.\.\/.*bin\/.*$/bin/' "$work/$side"/venv/lib/*/site-packages/*/RECORD
done
check_same_tree "pip install" "$work/native" "$work/wary"
check "both were installed" "$work/wary/venv/bin/python" -c 'import first, second'
"$WARY" audit show "$("$WARY" audit sessions | sed -n '2s/ .*//p')" >"$TMPDIR/installs"
sed 's/^/# /' "$TMPDIR/installs"
check_has "the install is on record, by manager and name" "$TMPDIR/installs" 'pip:first'
finish
