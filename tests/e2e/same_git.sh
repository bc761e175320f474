#!/bin/sh
# git clone, commit and checkout under the default policy give what they give
# natively.
. "$SRC/tests/lib/test.sh"
default_policy
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@example.org GIT_AUTHOR_DATE='2026-01-01T00:00:00Z'
export GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
work=$HOME/work
mkdir -p "$work/native" "$work/wary" "$work/origin"
git init -q "$work/native"
git init -q "$work/wary"
(
	cd "$work/origin" || exit 1
	git init -q -b main .
	mkdir -p deep/er
	i=0
	while [ $i -lt 200 ]; do
		echo "line $i" >"deep/er/file$i"
		i=$((i + 1))
	done
	ln -s deep/er/file1 link
	printf '#!/bin/sh\necho hi\n' >run
	chmod +x run
	git add -A
	git commit -q -m one
	git tag v1
	echo more >>deep/er/file1
	git commit -q -a -m two
)

# The index holds inode numbers and times; what it says is in `git status`.
clean() {
	rm -f "$work"/native/*/.git/index "$work"/wary/*/.git/index
}

# shellcheck disable=SC2016  # the inner shell expands it
same_run "git clone" "$work" sh -c \
	'git clone -q --no-hardlinks ../origin copy && git -C copy status --porcelain && rm copy/.git/index &&
	 sed -i "s|$PWD|HERE|" copy/.git/config && rm -r copy/.git/logs'
clean
# Links to what may not be changed are not given inside of what may (DIFFERENCES);
# within the project they are.
# shellcheck disable=SC2016  # the inner shell expands it
same_run "git clone with hard links" "$work" sh -c \
	'git clone -q copy linked && rm linked/.git/index &&
	 sed -i "s|$PWD|HERE|" linked/.git/config && rm -r linked/.git/logs'
clean
same_run "checkout, branch and commit" "$work" sh -c \
	'cd copy && git reset -q --hard && git checkout -q -b side v1 && echo x >new && git add new &&
	 git commit -q -m three && git merge -q -m four main && git gc -q && git fsck --strict &&
	 git log --format=%H && rm -r .git/index .git/logs'
finish
