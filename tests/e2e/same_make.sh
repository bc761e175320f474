#!/bin/sh
# wary-test: full timeout=1200
# make -j2 of wary itself, natively and under the default policy: the same
# files, byte for byte. The native one is made once for all identities, beside the
# other builds, or here where there is none.
. "$SRC/tests/lib/test.sh"
. "$SRC/tests/lib/make_wary.sh"
umask 022
default_policy
native=$BUILD/tests/e2e/same_make.native
if [ ! -f "$native" ]; then
	native=$TMPDIR/native
	sh "$SRC/tests/lib/make_wary.sh" "$HOME/native" "$native" >"$TMPDIR/native.log" 2>&1
	check_is "native make: exit status" "$?" 0
	tail -n 5 "$TMPDIR/native.log" | sed 's/^/# /'
fi
work=$HOME/work
make_wary_ready "$work" || {
	result 1 "configure"
	finish
}
(cd "$work/build" && wary -q -- make -j2 >"$TMPDIR/wary.log" 2>&1)
check_is "make under wary: exit status" "$?" 0
tail -n 5 "$TMPDIR/wary.log" | sed 's/^/# /'
make_wary_tree "$work" >"$TMPDIR/made"
if cmp -s "$native" "$TMPDIR/made"; then
	result 0 "make -j2 of wary ($(wc -l <"$TMPDIR/made") entries)"
else
	result 1 "make -j2 of wary"
	diff "$native" "$TMPDIR/made" | head -n 20 | sed 's/^/#   /'
fi
check_is "a program, and its parts" "$(grep -cE '^build/(wary|libwary.a|libwarypure.a)	file	' "$TMPDIR/made")" 3
finish
