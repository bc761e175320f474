# shellcheck shell=sh
# A make of wary that can be compared with another one's, made elsewhere and by
# another user: sourced by e2e/same_make.sh, and run by lib/runner.py for the native one.
#     make_wary.sh FOLDER OUT   makes it natively in FOLDER, and describes it in OUT

# make_wary_ready FOLDER: a project with sources, and a configured build of them.
make_wary_ready() {
	mkdir -p "$1/build" "$1/src"
	GIT_CONFIG_GLOBAL=/dev/null git init -q "$1"
	(cd "$SRC" && tar --exclude=./build --exclude=./.git -cf - .) |
		tar -C "$1/src" --no-same-owner -xf -
	chmod -R u+w,go+rX,go-w "$1/src"
	if ! (cd "$1/build" && ../src/configure -q CC="$CC" CFLAGS=-O0) >"$1/said" 2>&1; then
		cat "$1/said"
		return 1
	fi
	rm "$1/said"
}

# make_wary_tree FOLDER: names, types, modes, sizes, contents of what make left there;
# its path and its owner are no difference, and no path of its own is in an object.
make_wary_tree() {
	find "$1" -type f \( -name config.log -o -name config.status -o -name Makefile \
		-o -name '*.Po' \) -exec sed -i "s|$1|FOLDER|g" {} +
	# Lines are broken where they are long enough, the path counted.
	find "$1" -name '*.Po' -exec sed -i ':a;N;$!ba;s/ *\\\n */ /g' {} +
	rm -f "$1/build/config.log" "$1/build/policy"
	/usr/bin/python3 "$SRC/tests/lib/tree.py" "$1" |
		sed "s/	$(id -u):$(id -g)	/	OWNER	/"
}

case ${0##*/} in make_wary.sh)
	set -e
	umask 022
	mkdir -p "$(dirname "$2")"
	make_wary_ready "$1"
	(cd "$1/build" && make -j2)
	make_wary_tree "$1" >"$2.new"
	mv "$2.new" "$2"
	;;
esac
