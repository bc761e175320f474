/* wary-test: timeout=900
 *
 * The record against power cuts: what was not synced may be lost, page by
 * page.  A session is killed at a random moment; then every file becomes a
 * mixture of what it was and of what it was when it was last synced.  After
 * the next start the store verifies and nothing recorded is false; under
 * --audit-sync every denial that was answered is there.
 *
 * fsync, fdatasync and the clock are this program's own functions. */
#include "audit/audit.h"
#include "audit/keys.h"
#include "audit/recover.h"
#include "audit/store.h"
#include "audit/verify.h"
#include "tests/lib/audit_intact.h"
#include "tests/lib/audit_work.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CUTS 400
#define CUTS_MIN 5
#define SECONDS_MAX 30
#define PAGE 4096
#define DENIALS_MAX 4096

struct world {
	_Atomic bool opened, failed;
	_Atomic uint32_t denials; /* that were answered */
};

static struct world *world;
static char durable[128]; /* folder of what was synced; "": no copies */
static _Atomic bool rebooted;

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id == CLOCK_BOOTTIME && atomic_load(&rebooted)) {
		*t = (struct timespec){0, 1000};
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, id, t);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *load(const char *path, size_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes = NULL;

	*size = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && (bytes = malloc((size_t)st.st_size + 1))) {
		ssize_t n = pread(fd, bytes, (size_t)st.st_size, 0);

		*size = n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

static bool save(const char *path, const char *bytes, size_t size)
{
	char temporary[512];
	int fd;
	bool right;

	snprintf(temporary, sizeof temporary, "%s~", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	right = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return right && rename(temporary, path) == 0;
}

/* A sync: from now on this is what a power cut leaves of the file. */
static int keep(int fd)
{
	char link[64];
	char path[384];
	char to[640];
	size_t size;
	char *bytes;
	ssize_t n;

	if (!*durable)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return -1;
	path[n] = '\0';
	bytes = load(path, &size);
	snprintf(to, sizeof to, "%s/%s", durable, base_of(path));
	n = bytes && save(to, bytes, size) ? 0 : -1;
	free(bytes);
	return (int)n;
}

int fsync(int fd)
{
	return keep(fd);
}

int fdatasync(int fd)
{
	return keep(fd);
}

static struct audit *open_session(const char *db, bool sync)
{
	static const char *const argv[] = {"test", NULL};
	const struct audit_session s = {.argv = argv, .argc = 1, .cwd = "/"};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) != 0)
		return NULL;
	if (sync)
		audit_set_sync(a);
	if (audit_open_finish(a, &s, &why) == 0)
		return a;
	printf("# %s\n", why);
	fflush(stdout);
	return NULL;
}

/* Results that can be told from the name alone. */
static int64_t result_of(uint32_t n)
{
	return n % 3 ? (int64_t)n : -2;
}

static bool one_event(struct audit *a, uint32_t n)
{
	char object[64];
	struct audit_event e = {
		.kind = AUDIT_DECISION,
		.class = CLASS_WRITE,
		.answer = n % 64 == 63 ? ANSWER_DENY : ANSWER_ALLOW,
		.pid = 1,
		.tid = 1,
		.program = "/usr/bin/test",
		.syscall = "openat",
		.object = object,
	};
	struct receipt *r;

	snprintf(object, sizeof object, "/power/%u", n);
	if (e.answer == ANSWER_DENY) {
		if (audit_note(a, &e, -13) != 0)
			return false;
		atomic_fetch_add(&world->denials, 1);
		return true;
	}
	r = audit_intent(a, &e);
	return r && audit_outcome(a, r, result_of(n)) == 0;
}

static _Noreturn void session(const char *db, bool sync)
{
	struct audit *a = open_session(db, sync);

	if (!a) {
		atomic_store(&world->failed, true);
		_exit(1);
	}
	atomic_store(&world->opened, true);
	for (uint32_t n = 0; n < DENIALS_MAX * 64; n++) {
		if (!one_event(a, n)) {
			atomic_store(&world->failed, true);
			_exit(1);
		}
	}
	for (;;)
		pause(); /* it is killed, however late that is */
}

/* One file after the cut. */
static bool cut_file(struct work *dice, const char *path)
{
	char from[640];
	size_t now_size;
	size_t old_size;
	char *now = load(path, &now_size);
	char *old;
	char *mixed;
	size_t size;
	unsigned written = (unsigned)(work_random(dice) % 5); /* of 4 pages so many */
	bool right;

	snprintf(from, sizeof from, "%s/%s", durable, base_of(path));
	old = load(from, &old_size);
	size = written ? now_size : old_size;
	mixed = calloc(1, size + 1);
	for (size_t at = 0; now && mixed && at < size; at += PAGE) {
		bool is_new = work_random(dice) % 4 < written;
		const char *src = is_new ? now : old;
		size_t have = is_new ? now_size : old_size;
		size_t n = size - at < PAGE ? size - at : PAGE;

		if (src && at < have)
			memcpy(mixed + at, src + at, have - at < n ? have - at : n);
	}
	right = mixed && save(path, mixed, size);
	free(now);
	free(old);
	free(mixed);
	return right;
}

static bool cut_folder(struct work *dice, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *d;
	bool right = dir != NULL;

	while (dir && right && (d = readdir(dir))) {
		char path[512];
		struct stat st;

		snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
		if (*d->d_name == '.' && strstr(d->d_name, ".live") == NULL)
			continue;
		if (stat(path, &st) != 0 || strcmp(d->d_name, "keys") == 0)
			continue;
		if (S_ISDIR(st.st_mode))
			right = cut_folder(dice, path);
		else if (strstr(d->d_name, "-shm"))
			right = unlink(path) == 0;
		else
			right = cut_file(dice, path);
	}
	if (dir)
		closedir(dir);
	return right;
}

/* Nothing false, and the denials. */
static bool compare(const char *db, bool sync)
{
	struct store *s = NULL;
	char *why = NULL;
	sqlite3_stmt *stmt = NULL;
	uint32_t denials = 0;
	bool right = store_open(db, STORE_READ, &s, &why) == 0 &&
	             sqlite3_prepare_v2(store_db(s),
	                                "SELECT object, result, answer FROM decisions"
	                                " WHERE session = (SELECT name FROM session"
	                                " ORDER BY id DESC LIMIT 1)",
	                                -1, &stmt, NULL) == SQLITE_OK;

	while (right && sqlite3_step(stmt) == SQLITE_ROW) {
		bool known = sqlite3_column_type(stmt, 1) != SQLITE_NULL;
		bool deny = strcmp((const char *)sqlite3_column_text(stmt, 2), "deny") == 0;
		uint32_t n = UINT32_MAX;

		denials += deny;
		right = sscanf((const char *)sqlite3_column_text(stmt, 0), "/power/%u", &n) == 1;
		if (known)
			right = right &&
			        sqlite3_column_int64(stmt, 1) == (deny ? -13 : result_of(n));
	}
	if (right && sync && denials < atomic_load(&world->denials)) {
		tap_note("%u denials of %u", denials, atomic_load(&world->denials));
		right = false;
	}
	sqlite3_finalize(stmt);
	store_close(s);
	free(why);
	return right;
}

static bool kill_session(struct work *dice, const char *db, bool sync)
{
	const struct timespec tick = {0, 200000};
	struct timespec t = {0, (long)(work_random(dice) % 60000) * 1000};
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		session(db, sync);
	while (!atomic_load(&world->opened) && !atomic_load(&world->failed))
		nanosleep(&tick, NULL);
	nanosleep(&t, NULL);
	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && !atomic_load(&world->failed);
}

static bool one_cut(struct work *dice, const char *folder, bool sync)
{
	char command[300];
	char db[128];
	char wary[128];
	char *why = NULL;
	struct audit *a;
	bool right;

	snprintf(command, sizeof command, "rm -rf '%s/wary' '%s' && mkdir '%s'", folder, durable,
	         durable);
	snprintf(wary, sizeof wary, "%s/wary", folder);
	snprintf(db, sizeof db, "%s/wary/wary.db", folder);
	if (system(command) != 0)
		return false;
	memset(world, 0, sizeof *world);
	atomic_store(&rebooted, false);
	/* A session that ended well before: its rows may be in the log only. */
	a = open_session(db, sync);
	right = a && one_event(a, 1) && audit_close(a, 0, "exited") == 0;
	right = right && kill_session(dice, db, sync) && cut_folder(dice, wary);
	atomic_store(&rebooted, true);
	right = right && (recover_store(db, &why) == 0);
	if (why)
		tap_note("%s", why);
	free(why);
	right = right && compare(db, sync) && intact(db);
	/* And it goes on. */
	a = right ? open_session(db, sync) : NULL;
	return a && one_event(a, 1) && audit_close(a, 0, "exited") == 0 && intact(db);
}

static void all_cuts(const char *folder, bool sync)
{
	time_t end = time(NULL) + SECONDS_MAX / 2;
	struct work dice;
	unsigned cuts = 0;
	bool right = true;

	work_begin(&dice, (uint64_t)getpid());
	for (; right && cuts < CUTS && (cuts < CUTS_MIN || time(NULL) < end); cuts++)
		right = one_cut(&dice, folder, sync);
	tap_ok(right, "%u power cuts, %s", cuts,
	       sync ? "waiting for the disk" : "not waiting for the disk");
}

int main(void)
{
	char folder[] = "/tmp/wary-power-XXXXXX";
	char command[128];

	world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	             0);
	if (world == MAP_FAILED || !mkdtemp(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0)
		return 1;
	snprintf(durable, sizeof durable, "%s/durable", folder);
	all_cuts(folder, true);
	all_cuts(folder, false);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	if (system(command) != 0)
		tap_note("not removed: %s", folder);
	return tap_done();
}
