#!/bin/sh
# wary-test: full timeout=1200
# make -j2 of wary itself, natively and under the default policy: the same
# files, byte for byte.
. "$SRC/tests/lib/test.sh"
default_policy
work=$HOME/work
mkdir -p "$work/native" "$work/wary"
# Sources and build are in the project; no path of its own is in an object.
for side in native wary; do
	git init -q "$work/$side"
	mkdir "$work/$side/build" "$work/$side/src"
	(cd "$SRC" && tar --exclude=./build --exclude=./.git -cf - .) |
		tar -C "$work/$side/src" -xf -
	(cd "$work/$side/build" && ../src/configure -q CC="$CC" CFLAGS=-O0 >"$TMPDIR/configure" 2>&1) || {
		cat "$TMPDIR/configure"
		result 1 "configure"
		finish
	}
done

(cd "$work/native/build" && make -j2 >"$TMPDIR/native.log" 2>&1)
check_is "native make: exit status" "$?" 0
(cd "$work/wary/build" && wary -q -- make -j2 >"$TMPDIR/wary.log" 2>&1)
check_is "make under wary: exit status" "$?" 0
tail -n 5 "$TMPDIR/wary.log" | sed 's/^/# /'
# Their own paths are in these, and in nothing else.
for side in native wary; do
	find "$work/$side" -type f \( -name config.log -o -name config.status -o -name Makefile \
		-o -name '*.Po' -o -name libtool -o -name '*.sh' \) -exec sed -i "s|$work/$side|SIDE|g" {} +
	rm -f "$work/$side/build/config.log" "$work/$side/build/policy"
done
check_same_tree "make -j2 of wary" "$work/native" "$work/wary"
finish
