/* wary-test: timeout=900
 *
 * The record against a failing machine: for every nth write, sync, open,
 * mapping, truncation, allocation of disk or memory that fails, once or from
 * then on, a session either does not begin, or whatever had an effect is on
 * record after the next start, nothing recorded is false, and the store
 * verifies.
 *
 * The calls are this program's own functions of the same names, which SQLite
 * and libsodium reach too. */
#include "audit/audit.h"
#include "audit/keys.h"
#include "audit/recover.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "tests/lib/audit_intact.h"
#include "tests/lib/sanitized.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More than two batches take. */
#define EVENTS 5000
/* In all; AUDIT_FAULTS_SECONDS says otherwise. */
#define SECONDS_MAX 20

enum call {
	CALL_WRITE,
	CALL_SYNC,
	CALL_OPEN,
	CALL_MAP,
	CALL_TRUNCATE,
	CALL_RESERVE,
	CALL_NAMES,
	CALL_MEMORY,
	CALLS
};

static const struct {
	const char *name;
	int no;
} calls[CALLS] = {
	[CALL_WRITE] = {"write", ENOSPC},
	[CALL_SYNC] = {"sync", EIO},
	[CALL_OPEN] = {"open", EMFILE},
	[CALL_MAP] = {"mmap", ENOMEM},
	[CALL_TRUNCATE] = {"ftruncate", EIO},
	[CALL_RESERVE] = {"posix_fallocate", ENOSPC},
	[CALL_NAMES] = {"mkdir, rename, link, unlink", EROFS},
	[CALL_MEMORY] = {"allocation", ENOMEM},
};

/* What the session did, in memory that outlives it. */
struct world {
	_Atomic int armed; /* enum call + 1; 0: no faults */
	_Atomic long countdown;
	_Atomic bool forever, fired, opened;
	_Atomic uint8_t effect[EVENTS], reported[EVENTS];
};

static struct world *world;

/* Whether this call is the one that fails. */
static bool fails(enum call c)
{
	long left;

	if (!world || atomic_load(&world->armed) != (int)c + 1)
		return false;
	left = atomic_fetch_sub(&world->countdown, 1);
	if (left > 1 || (left < 1 && !atomic_load(&world->forever)))
		return false;
	atomic_store(&world->fired, true);
	errno = calls[c].no;
	return true;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	return fails(CALL_WRITE) ? -1 : syscall(SYS_write, fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return fails(CALL_WRITE) ? -1 : syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	return fails(CALL_WRITE) ? -1 : syscall(SYS_pwrite64, fd, bytes, n, at);
}

int fsync(int fd)
{
	return fails(CALL_SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return fails(CALL_SYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t n)
{
	return fails(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate64(int fd, off64_t n)
{
	return fails(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	if (fails(CALL_RESERVE))
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, at, n) == 0 ? 0 : errno;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
	return fails(CALL_NAMES) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to)
{
	return fails(CALL_NAMES) ? -1
	                         : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
	return fails(CALL_NAMES) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	return fails(CALL_NAMES) ? -1 : (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

#if !SANITIZED
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fails(CALL_MAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset); /* NOLINT */
}

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t offset)
{
	return mmap(at, n, prot, flags, fd, offset);
}

/* glibc's own, under the names that it gives to those who replace them. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return fails(CALL_MEMORY) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(CALL_MEMORY) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(CALL_MEMORY) ? NULL : __libc_realloc(p, n);
}
#endif

static int64_t result_of(unsigned i)
{
	return i % 3 ? (int64_t)i : -2;
}

static struct audit *open_session(const char *db)
{
	static const char *const argv[] = {"test", NULL};
	static const struct audit_source source = {"t.wary", "t.wary", "wary 1\n", 7};
	const struct audit_session s = {
		.argv = argv, .argc = 1, .cwd = "/", .sources = &source, .sources_n = 1};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) != 0)
		return NULL;
	audit_set_sync(a);
	if (audit_open_finish(a, &s, &why) == 0)
		return a;
	/* A reason is due: people must be able to do something about it. */
	if (!why || strlen(why) < 4)
		abort();
	audit_abandon(a);
	return NULL;
}

static void work(struct audit *a)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		char object[64];
		struct audit_event e = {
			.kind = AUDIT_DECISION,
			.class = CLASS_WRITE,
			.answer = i % 1500 == 1499 ? ANSWER_DENY : ANSWER_ALLOW,
			.rule_file = "t.wary",
			.rule_line = 1,
			.pid = 100,
			.tid = 100,
			.program = "/usr/bin/test",
			.syscall = "openat",
			.object = object,
		};
		struct receipt *r;

		snprintf(object, sizeof object, "/work/%u", i);
		r = audit_intent(a, &e);
		if (!r)
			return;
		atomic_store(&world->effect[i], 1);
		if (audit_outcome(a, r, result_of(i)) != 0)
			return;
		atomic_store(&world->reported[i], 1);
	}
}

static _Noreturn void session(const char *db)
{
	struct audit *a;
	bool failed;

	alarm(120);
	a = open_session(db);
	if (!a)
		_exit(2);
	atomic_store(&world->opened, true);
	work(a);
	failed = audit_failed(a);
	if (audit_close(a, 0, "exited") != 0)
		failed = true;
	_exit(failed ? 3 : 0);
}

static bool compare(const char *db)
{
	uint8_t seen[EVENTS] = {0};
	struct store *s = NULL;
	char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	bool right = store_open(db, STORE_READ, &s, &why) == 0;

	if (right)
		right = sqlite3_prepare_v2(store_db(s),
		                           "SELECT object, result FROM decisions WHERE session ="
		                           " (SELECT name FROM session ORDER BY id DESC LIMIT 1)",
		                           -1, &stmt, NULL) == SQLITE_OK;
	while (right && sqlite3_step(stmt) == SQLITE_ROW) {
		bool known = sqlite3_column_type(stmt, 1) != SQLITE_NULL;
		unsigned i = EVENTS;

		sscanf((const char *)sqlite3_column_text(stmt, 0), "/work/%u", &i);
		right = i < EVENTS && !seen[i]++ &&
		        (known ? sqlite3_column_int64(stmt, 1) == result_of(i)
		               : !atomic_load(&world->reported[i]));
	}
	for (unsigned i = 0; i < EVENTS && right; i++)
		right = seen[i] || !atomic_load(&world->effect[i]);
	sqlite3_finalize(stmt);
	store_close(s);
	free(why);
	return right;
}

static bool run(const char *db, int *status)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		session(db);
	return waitpid(pid, status, 0) == pid;
}

/* After the fault: the next start, the rows, and a session that works. */
static bool aftermath(const char *db)
{
	char *why = NULL;
	int status = 0;
	bool right = true;

	if (atomic_load(&world->opened)) {
		right = recover_store(db, &why) == 0;
		if (why)
			tap_note("%s", why);
		free(why);
		right = right && compare(db);
	}
	right = right && run(db, &status) && status == 0;
	return right && intact(db);
}

static bool prepare(const char *folder, char *db, size_t size, bool fresh)
{
	char command[160];
	int status = 0;

	snprintf(command, sizeof command, "rm -rf '%s/wary'", folder);
	snprintf(db, size, "%s/wary/wary.db", folder);
	if (system(command) != 0)
		return false;
	memset(world, 0, sizeof *world);
	if (!fresh && (!run(db, &status) || status != 0))
		return false;
	memset(world, 0, sizeof *world);
	return true;
}

/* How many such calls a session makes. */
static long count_calls(const char *folder, enum call c, bool fresh)
{
	char db[128];
	int status = 0;

	if (!prepare(folder, db, sizeof db, fresh))
		return 0;
	atomic_store(&world->countdown, LONG_MAX);
	atomic_store(&world->armed, (int)c + 1);
	if (!run(db, &status) || status != 0)
		return 0;
	return LONG_MAX - atomic_load(&world->countdown);
}

static bool one_fault(const char *folder, enum call c, long nth, bool forever, bool fresh)
{
	char db[128];
	int status = 0;
	bool right = prepare(folder, db, sizeof db, fresh);

	atomic_store(&world->countdown, nth);
	atomic_store(&world->forever, forever);
	atomic_store(&world->armed, (int)c + 1);
	right = right && run(db, &status);
	atomic_store(&world->armed, 0);
	right = right && WIFEXITED(status);
	right = right && (atomic_load(&world->fired) || status == 0);
	if (right)
		right = aftermath(db);
	if (!right)
		tap_note("%s %ld%s%s: status %x", calls[c].name, nth,
		         forever ? " and all after it" : "", fresh ? ", new store" : "", status);
	return right;
}

/* Every nth, in an order that reaches all parts of a session soon: on a slow
 * machine the time ends it before all are done. */
static unsigned all_of(const char *folder, enum call c, bool forever, bool fresh, time_t end)
{
	long n = count_calls(folder, c, fresh);
	long stride = n * 5 / 8 | 1;
	long at = n ? (long)getpid() % n : 0;
	unsigned faults = 0;
	bool right = n > 0;

	for (long i = 0; i < n && right && (!faults || time(NULL) <= end); i++) {
		right = one_fault(folder, c, 1 + at, forever, fresh);
		faults += atomic_load(&world->fired);
		at = (at + stride) % n;
	}
	tap_ok(right, "%s fails%s, %s store: %u faults, %ld calls", calls[c].name,
	       forever ? " from then on" : " once", fresh ? "new" : "old", faults, n);
	return faults;
}

int main(void)
{
	char folder[] = "/tmp/wary-faults-XXXXXX";
	char command[128];
	const char *patience = getenv("AUDIT_FAULTS_SECONDS");
	time_t seconds = patience ? (time_t)strtol(patience, NULL, 10) : SECONDS_MAX;
	time_t begin = time(NULL);
	unsigned part = 0;
	unsigned parts = CALLS * (patience ? 4 : 2);
	void *shared = (void *)syscall(SYS_mmap, NULL, sizeof *world, PROT_READ | PROT_WRITE,
	                               MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* NOLINT */

	if (shared == MAP_FAILED || !mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	world = shared;
	for (enum call c = 0; c < CALLS; c++) {
		unsigned fired = 0;

		if (SANITIZED && (c == CALL_MEMORY || c == CALL_MAP)) {
			tap_skip("%s: the sanitizer has its own", calls[c].name);
			continue;
		}
		/* Two of the four ways, but for whoever has the time. */
		for (unsigned variant = 0; variant < 4; variant++) {
			bool wanted = patience || (variant == 1 || variant == 2) == (getpid() & 1);

			if (wanted)
				fired += all_of(folder, c, variant & 1, variant & 2,
				                begin + seconds * (time_t)++part / parts);
		}
		/* How many there are changes from run to run: one may come to none. */
		tap_ok(fired > 0, "%s failed", calls[c].name);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
