/* Turns at a store: one at a time, between processes and within one. */
#include "audit/store_sql.h"
#include "audit/turn.h"
#include "base/own.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_turns(const char *db)
{
	auto_fd one = -1;
	auto_fd other = -1;

	tap_is_int(turn_open(db, &one), 0, "the folder of journals is made");
	tap_is_int(turn_open(db, &other), 0, "or found");
	tap_is_int(turn_take(one, 0), 0, "the first has its turn at once");
	tap_is_int(turn_take(one, 0), 0, "and may ask again");
	tap_is_int(turn_take(other, 0), -ERR_BUSY, "the second does not");
	tap_is_int(turn_take(other, 20), -ERR_BUSY, "nor after a while");
	turn_give(one);
	tap_is_int(turn_take(other, 0), 0, "when it is given back it does");
	turn_give(other);
	turn_give(-1);
}

/* That no descriptor is left says nothing of the folder. */
static void test_no_descriptor(const char *db)
{
	struct rlimit kept;
	struct rlimit none;
	int fd = -1;
	int err;

	if (getrlimit(RLIMIT_NOFILE, &kept) != 0)
		abort();
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = kept.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		abort();
	err = turn_open(db, &fd);
	if (setrlimit(RLIMIT_NOFILE, &kept) != 0)
		abort();
	tap_is_int(err, -ERR_SYS, "without a descriptor it is not the folder's fault");
	tap_is_int(fd, -1, "and there is none to close");
}

/* Holds the turn in a process of its own. Returns its number. */
static pid_t hold(const char *db)
{
	int ready[2];
	char byte = 0;
	pid_t child;

	if (pipe(ready) != 0)
		abort();
	child = fork();
	if (child == 0) {
		int fd = -1;

		if (turn_open(db, &fd) == 0 && turn_take(fd, 0) == 0 && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	tap_is_int(read(ready[0], &byte, 1), 1, "another process has its turn");
	close(ready[0]);
	return child;
}

/* A batch has begun. */
static void test_ends(const char *db, struct store *s, struct rows_checkpoint *last)
{
	auto_fd fd = -1;

	tap_is_int(turn_open(db, &fd), 0, "the folder is there");
	tap_is_int(turn_take(fd, 0), -ERR_BUSY, "a batch has the turn");
	store_rollback(s);
	tap_is_int(turn_take(fd, 0), 0, "until it is rolled back");
	turn_give(fd);
	tap_is_int(store_begin(s, last), 0, "the next");
	tap_is_int(store_commit(s), 0, "is committed");
	tap_is_int(turn_take(fd, 0), 0, "and has given it back");
	turn_give(fd);
}

static void test_batch(const char *db)
{
	struct rows_checkpoint last;
	struct store *s = NULL;
	char *why = NULL;
	pid_t other;

	tap_is_int(store_open(db, STORE_CREATE, &s, &why), 0, "a store");
	other = hold(db);
	tap_is_int(store_turn(s, 0), -ERR_BUSY, "no batch begins meanwhile");
	why = store_explain(s, -ERR_BUSY);
	tap_ok(why && strstr(why, "continue or end it"), "what to do about it is said");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	tap_is_int(store_begin(s, &last), 0, "one that died holds nothing up");
	test_ends(db, s, &last);
	store_close(s);
	free(why);
}

int main(void)
{
	char folder[] = "/tmp/wary-turn-XXXXXX";
	char path[64];
	int status;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/a.db", folder);
	test_turns(path);
	test_no_descriptor(path);
	snprintf(path, sizeof path, "%s/b.db", folder);
	test_batch(path);
	status = tap_done();
	return scratch_remove(folder) == 0 ? status : 1;
}
