#!/bin/sh
# wary-test: timeout=900
# npm install under the default policy gives what it gives natively: packages
# with many dependencies, and one with an install script.
. "$SRC/tests/lib/test.sh"
npm_setup
default_policy
mkdir -p "$HOME/work/native" "$HOME/work/wary" "$HOME/work/hooked"
cat >"$HOME/work/hooked/package.json" <<'JSON'
{ "name": "hooked", "version": "1.0.0",
  "scripts": { "postinstall": "node -e \"require('fs').writeFileSync('made-by-script', 'x')\"" } }
JSON
for side in native wary; do
	cat >"$HOME/work/$side/package.json" <<'JSON'
{ "name": "app", "version": "1.0.0", "private": true, "allowScripts": { "hooked": true } }
JSON
	(cd "$HOME/work/$side" && git init -q .)
done

# Versions are settled and the cache is filled once, so that both see the same.
(cd "$HOME/work/native" &&
	npm install --package-lock-only express eslint >"$TMPDIR/lock" 2>&1) || {
	cat "$TMPDIR/lock"
	result 1 "the registry can be reached"
	finish
}
cp "$HOME/work/native/package.json" "$HOME/work/native/package-lock.json" "$HOME/work/wary/"
(cd "$HOME/work/native" && npm ci >"$TMPDIR/ci" 2>&1 && rm -rf node_modules)
rm -rf "$HOME/work/native/node_modules"

# What npm says depends on how long it took.
same_output='s/ in [0-9.]*m\{0,1\}s$//'
same_run "npm ci of express and eslint" "$HOME/work" npm ci --prefer-offline
check "something was installed" test -f "$HOME/work/wary/node_modules/express/package.json"
# Where it is the project's: programs elsewhere in the home are asked about.
cd "$HOME/work/wary" || exit 1
check "eslint runs" wary -q -- node_modules/.bin/eslint --version
cd "$TMPDIR" || exit 1

mkdir -p "$HOME/work/native/hooked" "$HOME/work/wary/hooked"
cp "$HOME/work/hooked/package.json" "$HOME/work/native/hooked/"
cp "$HOME/work/hooked/package.json" "$HOME/work/wary/hooked/"
same_run "npm install of a package with a script" "$HOME/work" \
	npm install --prefer-offline --install-links ./hooked
check "its script has run" test -f "$HOME/work/wary/node_modules/hooked/made-by-script"
check_status "the record is intact" 0 "$WARY" audit verify
finish
