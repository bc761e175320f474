#!/bin/sh
# wary-test: as=owner serial
# The first thing that a new user does, as README says it.
. "$SRC/tests/lib/test.sh"
unset WARY_DB
export npm_config_registry="$NPM_REGISTRY"
"$SRC/examples/quickstart" >out 2>&1
check_is "exit status" $? 0
# shellcheck disable=SC2317  # check calls it
said() { grep -q -e "$1" out; }
check "a package with dependencies is installed" said '^added [0-9]* packages'
check_is "no package is refused" "$(grep -c 'npm ERR\|npm error' out)" 0
for attack in 'read the ssh key' 'write .bashrc' 'connect to cloud metadata' 'run sud*o*'; do
	check "refused: $attack" said "$attack.*: EACCES"
done
check "the record verifies" said '^.*intact'
[ "$failures" = 0 ] || sed 's/^/# /' out
finish
