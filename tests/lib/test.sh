# shellcheck shell=sh
# For shell tests: `. "$SRC/tests/lib/test.sh"`.  Checks print TAP; the last
# line of a test is `finish`.  A scratch store and policy are set up: WARY_DB,
# $policy (everything allowed but the floor, until `policy` writes another).
set -u
# For the Python tests; a supervised python must not look into the sources.
unset PYTHONPATH

checks=0
failures=0
WARY_DB=$TMPDIR/state/wary.db
export WARY_DB
policy=$TMPDIR/test.wary
printf 'wary 1\ndefault allow\n' >"$policy"

# policy: reads a policy from standard input: `policy <<'EOP' … EOP`.
policy() {
	cat >"$policy"
}

# wary ARG…: the built wary with the scratch policy.
wary() {
	"$WARY" -p "$policy" "$@"
}

# result STATUS TEXT: prints one check; keeps what it said when it fails.
result() {
	checks=$((checks + 1))
	if [ "$1" = 0 ]; then
		echo "ok $checks - $2"
	else
		failures=$((failures + 1))
		echo "not ok $checks - $2"
	fi
}

# check TEXT COMMAND…: that a command succeeds.
check() {
	text_=$1
	shift
	if "$@"; then result 0 "$text_"; else result 1 "$text_"; fi
}

# check_not TEXT COMMAND…: that a command fails.
check_not() {
	text_=$1
	shift
	if "$@"; then result 1 "$text_"; else result 0 "$text_"; fi
}

# check_is TEXT GOT WANT: that two texts are equal.
check_is() {
	if [ "$2" = "$3" ]; then
		result 0 "$1"
	else
		result 1 "$1"
		printf '%s\n' "$2" | sed 's/^/#   got  /'
		printf '%s\n' "$3" | sed 's/^/#   want /'
	fi
}

# check_status TEXT WANT COMMAND…: that a command exits with a status.
check_status() {
	text_=$1
	want_=$2
	shift 2
	"$@"
	check_is "$text_: exit status" "$?" "$want_"
}

# check_has TEXT FILE PATTERN: that a file has a line that matches (grep -E).
check_has() {
	if grep -Eq -- "$3" "$2"; then
		result 0 "$1"
	else
		result 1 "$1"
		echo "#   no line matches $3 in:"
		sed 's/^/#   | /' "$2" | head -n 40
	fi
}

# check_has_not TEXT FILE PATTERN: the opposite.
check_has_not() {
	if grep -E -- "$3" "$2" >"$TMPDIR/found.$$"; then
		result 1 "$1"
		sed 's/^/#   found /' "$TMPDIR/found.$$"
	else
		result 0 "$1"
	fi
}

# tree FOLDER: names, types, modes, sizes, link targets, contents; not times.
tree() {
	/usr/bin/python3 "$SRC/tests/lib/tree.py" "$1"
}

# check_same_tree TEXT FOLDER FOLDER
check_same_tree() {
	tree "$2" >"$TMPDIR/tree.1"
	tree "$3" >"$TMPDIR/tree.2"
	if cmp -s "$TMPDIR/tree.1" "$TMPDIR/tree.2"; then
		result 0 "$1 ($(wc -l <"$TMPDIR/tree.1") entries)"
	else
		result 1 "$1"
		diff "$TMPDIR/tree.1" "$TMPDIR/tree.2" | head -n 20 | sed 's/^/#   /'
	fi
}

# skip WHY: ends the test as one that cannot be made here.
skip() {
	echo "$*"
	exit 77
}

# finish: the plan and the status.
finish() {
	echo "1..$checks"
	[ "$failures" = 0 ] && [ "$checks" -gt 0 ]
	exit
}

# npm_setup: the registry that whoever runs the tests has set up, as this
# test's own user configuration, where wary looks for it too.
npm_setup() {
	printf 'registry=%s\naudit=false\nfund=false\nupdate-notifier=false\n' \
		"${NPM_REGISTRY:-https://registry.npmjs.org/}" >"$HOME/.npmrc"
}

# default_policy [RULE…]: the shipped default, and rules after it.
default_policy() {
	{
		printf 'wary 1\ninclude "default"\n'
		for rule_; do printf '%s\n' "$rule_"; done
	} >"$policy"
}

# same_run TEXT FOLDER COMMAND…: runs a command in FOLDER/native, and under wary
# in FOLDER/wary, and compares exit status, output and what both folders hold
# afterwards. The folders are there before; the command is the same.
same_run() {
	text_=$1
	folder_=$2
	shift 2
	(cd "$folder_/native" && "$@" >"$TMPDIR/native.out" 2>"$TMPDIR/native.err")
	native_=$?
	(cd "$folder_/wary" && wary -q -- "$@" >"$TMPDIR/wary.out" 2>"$TMPDIR/wary.err")
	check_is "$text_: exit status" "$?" "$native_"
	for stream_ in out err; do
		sed "s|$folder_/native|FOLDER|g; ${same_output:-}" "$TMPDIR/native.$stream_" >"$TMPDIR/1"
		sed "s|$folder_/wary|FOLDER|g; ${same_output:-}" "$TMPDIR/wary.$stream_" >"$TMPDIR/2"
		check_is "$text_: std$stream_" "$(cat "$TMPDIR/2")" "$(cat "$TMPDIR/1")"
	done
	check_same_tree "$text_: tree" "$folder_/native" "$folder_/wary"
}
