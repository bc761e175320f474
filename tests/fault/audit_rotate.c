/* wary-test: timeout=600
 *
 * Key rotation against a failing machine: killed before its nth call that changes
 * something, or with that call failing, or done but said to have failed (as a file system
 * of another machine may), the machine has one usable key, the old one or
 * the new one; the next start ends what was begun; the record verifies by the first
 * key, and no file has the old secret once the new key is in force.
 *
 * The calls are this program's own functions of the same names. */
#include "audit/audit.h"
#include "audit/folder.h"
#include "audit/keys_chain.h"
#include "audit/keys_rotate.h"
#include "audit/recover.h"
#include "audit/verify.h"
#include "base/own.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More calls than a rotation has. */
#define STEPS_MAX 200

enum mode { MODE_KILL, MODE_FAIL, MODE_LIE, MODES };

/* What happens at which call; in memory that outlives the child. */
static struct world {
	bool armed, fired;
	enum mode mode;
	int left;
} * world;

/* Whether the call that is about to be made is the one; in most modes it is not made then. */
static bool is_hit(void)
{
	if (!world || !world->armed || --world->left > 0)
		return false;
	world->armed = false;
	world->fired = true;
	if (world->mode == MODE_KILL)
		raise(SIGKILL);
	return true;
}

/* What @nr gives, or is said to give. */
static long call(long nr, long a, long b, long c, long d, long e)
{
	bool hit = is_hit();
	long result = hit && world->mode == MODE_FAIL ? -1 : syscall(nr, a, b, c, d, e);

	if (!hit)
		return result;
	errno = EIO;
	return -1;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	return call(SYS_write, fd, (long)bytes, (long)n, 0, 0);
}

int fsync(int fd)
{
	return (int)call(SYS_fsync, fd, 0, 0, 0, 0);
}

int rename(const char *from, const char *to)
{
	return (int)call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return (int)call(SYS_renameat2, from_fd, (long)from, to_fd, (long)to, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	return (int)call(SYS_linkat, from_fd, (long)from, to_fd, (long)to, flags);
}

int unlinkat(int fd, const char *path, int flags)
{
	return (int)call(SYS_unlinkat, fd, (long)path, flags, 0, 0);
}

int openat(int fd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return (int)call(SYS_openat, fd, (long)path, flags, mode, 0);
}

static struct audit *session_begin(const char *db)
{
	static const char *const argv[] = {"test", NULL};
	static const struct audit_source source = {"t.wary", "t.wary", "wary 1\n", 7};
	static const struct audit_session s = {
		.argv = argv, .argc = 1, .cwd = "/", .sources = &source, .sources_n = 1};
	const char *why = NULL;
	struct audit *a = NULL;

	if (audit_open_begin(db, &a) != 0)
		return NULL;
	if (audit_open_finish(a, &s, &why) != 0) {
		tap_note("%s", why);
		audit_abandon(a);
		return NULL;
	}
	return a;
}

static bool session(const char *db)
{
	struct audit *a = session_begin(db);

	return a && audit_close(a, 0, "exited") == 0;
}

static void show(void *ctx, const char *sentence)
{
	(void)ctx;
	tap_note("%s", sentence);
}

static bool intact(const char *db, const uint8_t key[ROWS_KEY_BYTES])
{
	struct verify_options o = {.db = db, .public_keys_n = 1, .wrong = show};
	struct verify_result r;
	char *why = NULL;
	bool right;

	o.public_keys = (const uint8_t(*)[ROWS_KEY_BYTES])key;
	right = verify_store(&o, &r, &why) == 0 && !r.wrong;
	free(why);
	return right;
}

/* Whether a file of the folder has these bytes. */
static bool any_has(const char *folder, const uint8_t *bytes, size_t len_bytes)
{
	DIR *dir = opendir(folder);
	const struct dirent *d;
	bool found = !dir;

	while (dir && (d = readdir(dir))) {
		char path[PATH_MAX];
		auto_buf text = BUF_INIT;
		auto_fd fd = -1;

		snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
		fd = d->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && buf_read_file(&text, fd) == 0 && text.len_bytes)
			found |= memmem(text.data, text.len_bytes, bytes, len_bytes) != NULL;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* 0: replaced; 3: it failed and the old one is in force; 4: replaced, not yet wiped. */
static int rotate(void)
{
	struct keys_rotation r;
	bool replaced = false;
	char *why = NULL;
	int err = keys_rotate_begin(&r, &why);

	if (!err)
		err = keys_rotate_commit(&r, &replaced);
	keys_rotate_end(&r);
	free(why);
	return !err ? 0 : replaced ? 4 : 3;
}

struct place {
	char state[PATH_MAX - 64], db[PATH_MAX - 32], folder[PATH_MAX - 32];
};

static bool begin(struct place *p, enum mode mode, int step, struct keys **old)
{
	char *why = NULL;

	snprintf(p->state, sizeof p->state, "%s/%d.%d", getenv("TMPDIR"), (int)mode, step);
	snprintf(p->db, sizeof p->db, "%s/wary/wary.db", p->state);
	snprintf(p->folder, sizeof p->folder, "%s/wary/keys", p->state);
	return setenv("XDG_STATE_HOME", p->state, 1) == 0 && session(p->db) &&
	       keys_machine(false, old, &why) == 0;
}

static bool run(enum mode mode, int step, int *status)
{
	pid_t pid;

	fflush(stdout);
	*world = (struct world){.mode = mode, .left = step};
	pid = fork();
	if (pid == 0) {
		alarm(120);
		world->armed = true;
		_exit(rotate());
	}
	if (waitpid(pid, status, 0) != pid)
		return false;
	world->armed = false;
	return true;
}

static bool wrong(const char *what)
{
	tap_note("%s", what);
	return false;
}

/* The key in force, and the one before it where it was replaced: no third one, which was
 * to be in force and never was. */
static bool trusts(const struct keys *old, bool is_old)
{
	uint8_t(*keys)[ROWS_KEY_BYTES] = NULL;
	size_t n = 0;
	auto_free char *why = NULL;
	bool right = keys_trusted(&keys, &n, &why) == 0 && n == (is_old ? 1 : 2) &&
	             memcmp(keys[n - 1], old->public_key, ROWS_KEY_BYTES) == 0;

	free(keys);
	return right;
}

static bool is_left(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", p->folder, name);
	return access(path, F_OK) == 0;
}

/* After it: a key, sessions, another rotation. */
static bool aftermath(const struct place *p, const struct keys *old, int status)
{
	struct keys *now = NULL;
	char *why = NULL;
	bool is_old;

	if (keys_machine(false, &now, &why) != 0)
		return wrong(why);
	is_old = memcmp(now->public_key, old->public_key, ROWS_KEY_BYTES) == 0;
	keys_free(now);
	if (WIFEXITED(status) && is_old != (WEXITSTATUS(status) == 3))
		return wrong("what it said is not so");
	if (!trusts(old, is_old))
		return wrong("the keys that are trusted");
	if (!session(p->db) || !intact(p->db, old->public_key))
		return wrong("the next session");
	if (is_left(p, "machine.new") || is_left(p, "machine.old"))
		return wrong("secrets that are not in force are there still");
	/* machine.pub is of the key, whoever was cut short. */
	if (keys_machine(false, &now, &why) != 0 || !intact(p->db, now->public_key))
		return wrong("by the key that is in force");
	keys_free(now);
	if (!is_old && any_has(p->folder, old->secret, crypto_sign_ed25519_SEEDBYTES))
		return wrong("the old secret is there still");
	if (rotate() != 0 || !session(p->db) || !intact(p->db, old->public_key))
		return wrong("another rotation");
	return !any_has(p->folder, old->secret, crypto_sign_ed25519_SEEDBYTES);
}

/* How many journals lie beside the record under their own names. */
static int journals(const struct place *p)
{
	char path[PATH_MAX];
	const struct dirent *d;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof path, "%s/wary/.wary.db.live", p->state);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		n += folder_is_journal(d->d_name);
	if (dir)
		closedir(dir);
	return n;
}

static int recover(const struct place *p, const struct keys *key)
{
	struct store *s = NULL;
	char *why = NULL;
	int err = store_open(p->db, STORE_WRITE, &s, &why);

	if (!err)
		err = recover_all(s, key, &why);
	if (why)
		tap_note("%s", why);
	free(why);
	store_close(s);
	return err;
}

/* Who has loaded the key just before it was replaced cannot open the journal of a
 * session that began after that, and must not take it for a stranger's. */
static void test_late(void)
{
	struct place p;
	struct keys *old = NULL;
	struct keys *now = NULL;
	char *why = NULL;
	int status = 0;
	pid_t pid;

	tap_ok(begin(&p, MODES, 0, &old) && rotate() == 0, "the key is replaced");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		(void)!(session_begin(p.db) && raise(SIGKILL) == 0);
	tap_ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && journals(&p) == 1,
	       "a session has died");
	tap_is_int(recover(&p, old), 0, "who has the old key goes on");
	tap_is_int(journals(&p), 1, "and leaves the journal");
	tap_ok(keys_machine(false, &now, &why) == 0 && recover(&p, now) == 0 && journals(&p) == 0,
	       "who has the new one recovers it");
	tap_ok(intact(p.db, now->public_key), "the record verifies");
	keys_free(old);
	keys_free(now);
}

int main(void)
{
	static const char *const names[MODES] = {"killed before", "failing at", "told falsely of"};

	world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	             0);
	if (world == MAP_FAILED)
		return 1;
	for (unsigned mode = 0; mode < MODES; mode++) {
		int step = 0;

		do {
			struct place p;
			struct keys *old = NULL;
			int status = 0;
			bool right = begin(&p, mode, ++step, &old) && run(mode, step, &status) &&
			             aftermath(&p, old, status);

			tap_ok(right, "%s call %d%s (status %#x)", names[mode], step,
			       world->fired ? "" : ", which is none", (unsigned)status);
			keys_free(old);
		} while (world->fired && step < STEPS_MAX);
		tap_ok(step > 12 && step < STEPS_MAX, "all calls of a rotation");
	}
	test_late();
	return tap_done();
}
