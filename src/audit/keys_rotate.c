/* How it works.  Steps, each whole at once, in the folder keys/:
 *
 *   1. former      has the old key, its certificate for the new one, the seal of journals
 *   2. machine.new the new secret
 *   3. machine.old a second name of the file machine
 *   4. machine     machine.new takes its name: from here on the new key is the machine's
 *   5. machine.pub the new public half
 *   6. the old file is written over, and machine.old goes
 *
 * Before 4 the old key is in force: a last link of former that is not the machine's is
 * not looked at.  After 4 machine.old says that 5 and 6 are to be done still. */
#include "audit/keys_rotate.h"

#include "audit/keys_inside.h"
#include "base/file.h"
#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

USES(access, faccessat, fsync, linkat, open_any, pread64, renameat, unlinkat);

static bool is_file(int folder_fd, const char *name, const struct stat *st)
{
	struct stat named;

	return fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == st->st_ino && named.st_dev == st->st_dev;
}

static bool same_file(int folder_fd, const char *a, const char *b)
{
	struct stat st;

	return fstatat(folder_fd, a, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_file(folder_fd, b, &st);
}

static bool holds_keys(int fd)
{
	char magic[KEYS_MAGIC_BYTES];

	return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
	       (memcmp(magic, KEYS_MAGIC, sizeof magic) == 0 ||
	        memcmp(magic, KEYS_FORMER_MAGIC, sizeof magic) == 0);
}

/* Whether a file is to be written over, all its names with it. One that is in force
 * under its own name is not, nor one of several names that has no keys: whoever gave it
 * a name here has no say in what becomes of it. */
static bool is_spent(int folder_fd, int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && !is_file(folder_fd, KEYS_MACHINE, st) &&
	       !is_file(folder_fd, KEYS_FORMER, st) && (st->st_nlink <= 1 || holds_keys(fd));
}

static int write_over(int fd, off_t len_bytes)
{
	static const uint8_t zeros[512];

	for (off_t left = len_bytes; left > 0; left -= (off_t)sizeof zeros)
		if (!file_write_whole(fd, zeros,
		                      left < (off_t)sizeof zeros ? (size_t)left : sizeof zeros))
			return -ERR_SYS;
	return fsync(fd) == 0 ? 0 : -ERR_SYS;
}

/* Writes over a secret and takes its name away. */
static int wipe(int folder_fd, const char *name)
{
	auto_fd fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -ERR_SYS;
	if (fstat(fd, &st) != 0)
		return -ERR_SYS;
	if (is_spent(folder_fd, fd, &st) && write_over(fd, st.st_size) != 0)
		return -ERR_SYS;
	if (unlinkat(folder_fd, name, 0) != 0)
		return -ERR_SYS;
	return fsync(folder_fd) == 0 ? 0 : -ERR_SYS;
}

/* What the machine's key is now, without its secret.
 * Returns whether it could be told. */
static bool current_public(uint8_t out[ROWS_KEY_BYTES])
{
	struct keys *k = NULL;
	char *why = NULL;
	bool there = keys_machine(false, &k, &why) == 0;

	if (there)
		memcpy(out, k->public_key, ROWS_KEY_BYTES);
	free(why);
	keys_free(k);
	return there;
}

/* Steps 5 and 6, or back to before 2. Under the lock. */
static int settle(int folder_fd, const char *folder)
{
	uint8_t public_key[ROWS_KEY_BYTES];

	if (faccessat(folder_fd, KEYS_MACHINE_OLD, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !same_file(folder_fd, KEYS_MACHINE, KEYS_MACHINE_OLD) &&
	    (!current_public(public_key) || !keys_write_public(folder, public_key)))
		return -ERR_SYS;
	if (wipe(folder_fd, KEYS_MACHINE_OLD) != 0)
		return -ERR_SYS;
	return wipe(folder_fd, KEYS_MACHINE_NEW);
}

static bool is_there(const char *folder, const char *name)
{
	auto_buf path = BUF_INIT;

	buf_fmt(&path, "%s/%s", folder, name);
	return buf_text(&path) && access(path.data, F_OK) == 0;
}

void keys_rotate_settle(const char *folder)
{
	auto_fd fd = -1;

	if (!is_there(folder, KEYS_MACHINE_OLD) && !is_there(folder, KEYS_MACHINE_NEW))
		return;
	/* Locked: whoever is at it ends it. A failure leaves it to the next start. */
	fd = keys_lock(folder);
	if (fd >= 0 && settle(fd, folder) != 0)
		fd_drop(&fd);
}

int keys_rotate_begin(struct keys_rotation *r, char **why)
{
	auto_buf folder = BUF_INIT;
	int err = keys_folder(&folder);

	*r = (struct keys_rotation){.folder_fd = -1};
	*why = NULL;
	if (!err)
		err = keys_machine(false, &r->old, why);
	if (err)
		return err;
	r->folder = buf_take(&folder);
	r->folder_fd = keys_lock(r->folder);
	if (r->folder_fd < 0)
		return errno == EWOULDBLOCK ? keys_refuse(why, -ERR_BUSY, KEYS_MACHINE,
		                                          "it is being replaced right now")
		                            : keys_refuse_errno(why, KEYS_MACHINE);
	/* What was read before the lock may have been replaced since. */
	keys_free(ptr_take(r->old));
	if (settle(r->folder_fd, r->folder) != 0 || wipe(r->folder_fd, KEYS_FORMER_NEW) != 0)
		return keys_refuse_errno(why, KEYS_MACHINE);
	err = keys_machine(false, &r->old, why);
	if (!err)
		err = keys_chain_load(r->old, &r->chain, why);
	if (!err && r->chain->former_n == KEYS_FORMER_MAX)
		err = keys_refuse(why, -ERR_BOUND, KEYS_MACHINE,
		                  "it was replaced as often as can be");
	return err ? err : keys_new(&r->fresh);
}

/* Steps 1 to 3. */
static int prepare(struct keys_rotation *r)
{
	int err = keys_chain_extend(r->chain, r->old, r->fresh);

	if (!err)
		err = keys_chain_write(r->chain, r->folder_fd, KEYS_FORMER_NEW);
	if (!err && (renameat(r->folder_fd, KEYS_FORMER_NEW, r->folder_fd, KEYS_FORMER) != 0 ||
	             fsync(r->folder_fd) != 0))
		err = -ERR_SYS;
	if (!err)
		err = keys_write_secret(r->folder_fd, KEYS_MACHINE_NEW, r->fresh);
	if (!err && linkat(r->folder_fd, KEYS_MACHINE, r->folder_fd, KEYS_MACHINE_OLD, 0) != 0)
		err = -ERR_SYS;
	return err;
}

/* Step 4. A file system of another machine may report an error and have done it: what
 * the name leads to then counts. */
static int put_in_force(const struct keys_rotation *r)
{
	uint8_t now[ROWS_KEY_BYTES];
	int no;

	if (renameat(r->folder_fd, KEYS_MACHINE_NEW, r->folder_fd, KEYS_MACHINE) == 0)
		return 0;
	no = errno;
	if (current_public(now) && memcmp(now, r->fresh->public_key, sizeof now) == 0)
		return 0;
	errno = no;
	return -ERR_SYS;
}

int keys_rotate_commit(struct keys_rotation *r, bool *replaced)
{
	int err = prepare(r);

	if (!err)
		err = put_in_force(r);
	*replaced = !err;
	if (err) {
		int no = errno;

		/* Whatever stays of it the next start takes away. */
		(void)!settle(r->folder_fd, r->folder);
		errno = no;
		return err;
	}
	/* On the disk before the old one is gone for good. */
	if (fsync(r->folder_fd) != 0)
		return -ERR_SYS;
	return settle(r->folder_fd, r->folder);
}

void keys_rotate_end(struct keys_rotation *r)
{
	keys_free(r->old);
	keys_free(r->fresh);
	keys_chain_free(r->chain);
	free(r->folder);
	fd_drop(&r->folder_fd);
}
