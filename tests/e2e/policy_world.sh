#!/bin/sh
# The folders that policies speak of: found by marks that nobody else can set.
. "$SRC/tests/lib/test.sh"

none=/dev/null/no-project
git() { command git -c init.defaultBranch=main -c user.name=t -c user.email=t@t "$@"; }

# is VARIABLE WANT TEXT: in the working folder.
is() {
	got=$("$WARY" policy show audit-only --json | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)["variables"][sys.argv[1]])' "$1")
	check_is "$1: $3" "$got" "$2"
}

home=$(cd "$HOME" && pwd -P)
is HOME "$home" 'of the environment'
cd "$home" || exit 1
is PROJECT $none 'never the home'
is GITDIR $none 'no repository without a project'
mkdir -p plain/sub .hidden/sub
cd "$home/plain/sub" || exit 1
is PROJECT "$home/plain/sub" 'without a mark the working folder'
cd "$home/.hidden/sub" || exit 1
is PROJECT $none 'but no hidden folder of the home'
cd "$home/.hidden" || exit 1
is PROJECT $none 'nor what lies at its top'
mkdir "$home/.hidden/sub/.git" && cd "$home/.hidden/sub" || exit 1
is PROJECT "$home/.hidden/sub" 'unless it is marked'
rmdir "$home/.hidden/sub/.git"
# A mark around the home, as whoever may write there could make it.
mkdir "$home/outer" "$home/outer/.git" "$home/outer/home" "$home/outer/beside" \
	"$home/outer/home/work"
cd "$home/outer/beside" || exit 1
kept=$HOME
HOME=$home/outer/home
is PROJECT "$home/outer/beside" 'never a folder that a home lies in'
cd "$home/outer/home/work" || exit 1
is PROJECT "$home/outer/home/work" 'nor from inside that home'
HOME=$kept
cd "$home" && rm -r "$home/outer" || exit 1
cd "$home/plain" && touch package.json && cd sub || exit 1
is PROJECT "$home/plain" 'the folder with a build file'
mkdir -p "$home/repo/deep/er" && cd "$home/repo" && git init -q . && touch deep/package.json
cd deep/er || exit 1
is PROJECT "$home/repo" 'the folder with version control stands before'
is GITDIR "$home/repo/.git" 'its repository'
mkdir "$home/repo/own" && mkdir "$home/repo/own/.wary" && cd "$home/repo/own" || exit 1
is PROJECT "$home/repo/own" 'a folder with .wary'
is GITDIR $none 'which has no repository of its own'

touch "$home/.git-is-no-mark"
mkdir "$home/.git" && cd "$home/plain/sub" && rm ../package.json
is PROJECT "$home/plain/sub" 'a repository of the whole home is none'
rmdir "$home/.git"

ln -s "$home/repo" "$home/link" && cd "$home/link/deep" || exit 1
is PROJECT "$home/repo" 'by its canonical name'

# A linked worktree: the common repository is the one with hooks and config.
cd "$home/repo" && git commit -q --allow-empty -m one && git worktree add -q ../tree
cd "$home/tree" || exit 1
is PROJECT "$home/tree" 'a linked worktree'
is GITDIR "$home/repo/.git" 'its common repository'
# The same from a folder that the repository does not know.
mkdir "$home/forged" && cp "$home/tree/.git" "$home/forged/.git" && cd "$home/forged" || exit 1
is PROJECT "$home/forged" 'a folder with a copied .git file'
is GITDIR $none 'gets no repository by it'
# A worktree folder that was made up, inside the project.
mkdir -p fake && echo "$home/forged/.git" >fake/gitdir && echo "$home/repo/.git" >fake/commondir
echo "gitdir: $home/forged/fake" >.git
is GITDIR $none 'nor by one that it made up itself'
# A repository of somebody else's choice.
echo "gitdir: $home/repo/.git" >.git
is GITDIR $none 'nor by pointing at one'

# A submodule: its own repository names it.
cd "$home/repo" && command git -c protocol.file.allow=always submodule --quiet add ./ sub 2>/dev/null
if [ -f "$home/repo/sub/.git" ]; then
	cd "$home/repo/sub" || exit 1
	is PROJECT "$home/repo/sub" 'a submodule'
	is GITDIR "$home/repo/.git/modules/sub" 'its repository'
else
	result 1 'git can make a submodule'
fi

cd "$home/plain" || exit 1
XDG_CACHE_HOME=$home/c XDG_CONFIG_HOME=relative XDG_STATE_HOME=$home/s
export XDG_CACHE_HOME XDG_CONFIG_HOME XDG_STATE_HOME
is CACHE "$home/c" 'of the environment'
is CONFIG "$home/.config" 'a relative one is as if it were not set'
is STATE "$home/s" 'of the environment, where it does not exist yet'
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_STATE_HOME
kept=$TMPDIR
TMPDIR=/
export TMPDIR
is TMPDIR /tmp 'never the whole disk'
TMPDIR=$kept/missing
is TMPDIR /tmp 'never what is no folder'
TMPDIR=$kept
is TMPDIR "$(cd "$TMPDIR" && pwd -P)" 'of the environment'
is UID "$(id -u)" 'the number of the user'
XDG_RUNTIME_DIR=
export XDG_RUNTIME_DIR
is RUNTIME "/run/user/$(id -u)" 'the standard place'

cd / || exit 1
is PROJECT $none 'never the whole disk'
cd /usr/share || exit 1
is PROJECT $none 'no folder of the system'

if [ "$(id -u)" = 0 ]; then
	mkdir "$home/theirs" && mkdir "$home/theirs/.git" && chown -R 65534 "$home/theirs"
	cd "$home/theirs" || exit 1
	is PROJECT $none 'a folder of another user, with a mark of his'
	chown 0 "$home/theirs"
	is PROJECT "$home/theirs" 'his mark in a folder of mine: the folder itself'
	is GITDIR $none 'but not his repository'
fi
finish
