#!/bin/sh
# wary-test: full beside=shared/cases timeout=2400
# The shared cases: faults that users of such tools reported, each as a small
# program. They lie beside the checkout (../shared/cases); cases.expected names
# those that are known not to pass, and why.
set -u
cases="$SRC/../shared/cases"
[ -f "$cases/run.py" ] || cases=${WARY_CASES:-}
if [ ! -f "$cases/run.py" ]; then
	echo "the shared cases are not beside this checkout"
	exit 77
fi
for tool in gcc python3 node npm git; do
	command -v "$tool" >/dev/null || {
		echo "$tool is missing"
		exit 77
	}
done

export XDG_STATE_HOME="$TMPDIR/state"
export AUDIT_DB="$XDG_STATE_HOME/wary/wary.db"
export WARY_VERIFY="$WARY audit verify --db"
keys=$XDG_STATE_HOME/wary/keys
export WARY_FILES="$AUDIT_DB $AUDIT_DB-wal $AUDIT_DB-shm $AUDIT_DB.head $keys/machine $keys/machine.pub"
export ASK_NO=n
expected="$SRC/tests/lib/cases.expected"
ids=$(cd "$cases" && for f in [A-Z][0-9][0-9]_*; do echo "$f" | cut -c1-3; done | sort -u)
: >"$TMPDIR/out"

# One at a time: what a case leaves behind must not meet the next.
run_case() {
	timeout 200 python3 "$cases/run.py" --timeout 120 \
		--policy-writer "sh $SRC/tests/lib/cases_policy.sh {T}" \
		--wary "$WARY -q -p {T}/policy --" "$1" 2>&1 | grep "^$1 " || echo "$1 FAIL no result"
}

n=0
for id in ${CASES:-$ids}; do
	n=$((n + 1))
	line=$(run_case "$id")
	# A registry that the cases start stamps its archives with the time, and
	# npm then waits for minutes or gives up, natively too: once more where one did.
	case $line in *HANG* | *'no result'* | *'approved install failed'*) line=$(run_case "$id") ;; esac
	why=$(sed -n "s/^${id}[[:space:]][[:space:]]*//p" "$expected")
	case "$line:$why" in
	"$id ok"*:) echo "ok $n - $id" ;;
	"$id ok"*) echo "not ok $n - $id passes, but cases.expected says: $why" ;;
	*:) echo "not ok $n - $line" ;;
	*) echo "ok $n - $id: not yet: $why" ;;
	esac
done
echo "1..$n"
