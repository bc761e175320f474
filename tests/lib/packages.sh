# shellcheck shell=sh
# Installs Debian or Ubuntu packages that are missing: sourced by tests/run and
# examples/quickstart.  Silent where nothing is missing.
#
# A need is "PACKAGE TEST…": the package is missing where the test fails.

# Prefix for commands that need root; set by as_root_find.
as_root=

as_root_find() {
	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif command -v sudo >/dev/null; then
		as_root=sudo
		# Without a terminal sudo cannot ask for a password.
		[ -t 0 ] || as_root='sudo -n'
	else
		return 1
	fi
}

has_command() {
	command -v "$1" >/dev/null
}

has_library() {
	command -v pkg-config >/dev/null && pkg-config --exists "$1"
}

# packages_install: reads needs from standard input, one a line.
packages_install() {
	missing=
	while read -r package test_; do
		case $package in '' | '#'*) continue ;; esac
		(eval "$test_") >/dev/null 2>&1 </dev/null || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	command -v apt-get >/dev/null || {
		echo "missing, and there is no apt-get to install them with:$missing" >&2
		return 1
	}
	as_root_find || {
		echo "missing:$missing" >&2
		echo "Neither root nor sudo: ask somebody to run apt-get install$missing" >&2
		return 1
	}
	echo "installing with apt-get:$missing"
	log=$(mktemp)
	# shellcheck disable=SC2086  # lists of words
	if ! { $as_root apt-get update &&
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y \
			--no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# What it takes to build wary.
packages_build() {
	cat <<'NEEDS'
gcc has_command gcc
libc6-dev [ -f /usr/include/stdio.h ]
make has_command make
autoconf has_command autoreconf
automake has_command automake
pkg-config has_command pkg-config
libseccomp-dev has_library libseccomp
libsqlite3-dev has_library sqlite3
libsodium-dev has_library libsodium
libjansson-dev has_library jansson
libunwind-dev has_library libunwind-ptrace && has_library libunwind-generic
xz-utils has_command xz
NEEDS
}
