#!/bin/sh
# Writes the standard policy of the shared cases for one scratch tree:
#     cases_policy.sh TREE
# The tree's paths and ports are in the environment, as the cases' POLICY.md says.
set -eu

host_of() {
	printf '%s' "$1" | sed -e 's|^[a-z]*://||' -e 's|/.*||'
}

# Where interpreters live that are not below /usr.
installs=$(for tool in python3 node npm; do
	path=$(readlink -f "$(command -v "$tool" || echo /usr/bin)")
	case $path in
	/usr/* | /bin/*) ;;
	*/shims/*) echo "${path%/shims/*}/" ;;
	*) dirname "$(dirname "$path")" ;;
	esac
done | sort -u | sed 's|/*$|/|' | tr '\n' ' ')

cat >"$1/policy" <<EOF
wary 1
default deny
allow read,exec /usr/ /lib/ /lib32/ /lib64/ /libx32/ /bin/ /sbin/ /opt/ ${T}/cases/ $installs
allow read      / /etc/ /proc/ /sys/ /run/ /var/ /home /root /tmp ${T%/*} ${T}
allow write     /proc/*/{comm,oom_score_adj,coredump_filter,timerslack_ns} /proc/*/task/*/comm
allow read      /dev /dev/pts /dev/fd /dev/shm
allow read,write /dev/{null,zero,full,random,urandom,tty,ptmx} /dev/pts/*
allow edit,read /dev/shm/**
allow edit,read ${W}/
deny  edit      ${W}/proj/.git/hooks/
ask   edit,read ${W}/ask/**
allow read      ${R}/
deny  read,edit,exec ${D}/
allow read,exec ${B}/okprog ${B}/tool
allow read      ${B}
deny  read,exec ${B}/badprog
# Where a case says so: stubs of tools, scripts that start others, installs.
allow exec      ${W}/stub/** ${W}/scripts/** ${W}/**/node_modules/** ${W}/.npmc/** ${W}/.npm/**
allow exec      ${W}/*venv*/** ${W}/v/** ${W}/ve/** ${W}/e07*/**
deny  exec      ${B}/okprog when argv evil
allow connect   tcp/127.0.0.1:${P_OK} tcp/127.0.0.1:1 $(host_of "$REG") $(host_of "$EVILREG")
allow connect,bind own:*
allow connect   udp/loopback:1024-65535
allow bind      loopback:*
allow bind      unix:${W}/** unix:@*
deny  connect   tcp/127.0.0.1:${P_NO} udp/127.0.0.1:${U_NO}
deny  connect   unix:${D}/**
deny  install   *:*
allow install   npm:goodpkg from $(host_of "$REG")
allow script    npm:goodpkg
allow install   pip:goodpkg from $(host_of "$REG")
allow ipc
secret API_TOKEN from env:API_TOKEN to ${B}/tool as env
EOF
