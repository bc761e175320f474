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
#include <sys/file.h>
#include <sys/stat.h>

USES(access, faccessat, flock, fsync, linkat, open_any, renameat, unlinkat);

static bool same_file(int folder_fd, const char *a, const char *b)
{
	struct stat x;
	struct stat y;

	return fstatat(folder_fd, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(folder_fd, b, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

/* Writes over a secret and takes its name away. */
static int wipe(int folder_fd, const char *name)
{
	static const uint8_t zeros[512];
	auto_fd fd = openat(folder_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -ERR_SYS;
	if (fstat(fd, &st) != 0)
		return -ERR_SYS;
	for (off_t left = st.st_size; left > 0; left -= (off_t)sizeof zeros)
		if (!file_write_whole(fd, zeros,
		                      left < (off_t)sizeof zeros ? (size_t)left : sizeof zeros))
			return -ERR_SYS;
	if (fsync(fd) != 0 || unlinkat(folder_fd, name, 0) != 0)
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

/* Steps 5 and 6, or back to before 3. Under the lock. */
static int settle(int folder_fd, const char *folder)
{
	uint8_t public_key[ROWS_KEY_BYTES];

	if (faccessat(folder_fd, KEYS_MACHINE_OLD, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	/* Of the file that is in force only the name goes. */
	if (same_file(folder_fd, KEYS_MACHINE, KEYS_MACHINE_OLD))
		return unlinkat(folder_fd, KEYS_MACHINE_OLD, 0) == 0 ? 0 : -ERR_SYS;
	if (!current_public(public_key) || !keys_write_public(folder, public_key))
		return -ERR_SYS;
	return wipe(folder_fd, KEYS_MACHINE_OLD);
}

/* Returns the folder's descriptor, locked, or -1. */
static int lock(const char *folder)
{
	auto_fd fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd_take(&fd) : -1;
}

void keys_rotate_settle(const char *folder)
{
	auto_buf path = BUF_INIT;
	auto_fd fd = -1;

	buf_fmt(&path, "%s/" KEYS_MACHINE_OLD, folder);
	if (!buf_text(&path) || access(path.data, F_OK) != 0)
		return;
	/* Locked: whoever is at it ends it. A failure leaves it to the next start. */
	fd = lock(folder);
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
	r->folder_fd = lock(r->folder);
	if (r->folder_fd < 0)
		return errno == EWOULDBLOCK ? keys_refuse(why, -ERR_BUSY, KEYS_MACHINE,
		                                          "it is being replaced right now")
		                            : keys_refuse_errno(why, KEYS_MACHINE);
	/* What was read before the lock may have been replaced since. */
	keys_free(ptr_take(r->old));
	if (settle(r->folder_fd, r->folder) != 0 || wipe(r->folder_fd, KEYS_MACHINE_NEW) != 0 ||
	    wipe(r->folder_fd, KEYS_FORMER_NEW) != 0)
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

int keys_rotate_commit(struct keys_rotation *r, bool *replaced)
{
	int err = prepare(r);

	*replaced = false;
	if (!err && renameat(r->folder_fd, KEYS_MACHINE_NEW, r->folder_fd, KEYS_MACHINE) != 0)
		err = -ERR_SYS;
	*replaced = !err;
	if (err) {
		int no = errno;

		/* Whatever stays of it the next rotation takes away. */
		(void)!wipe(r->folder_fd, KEYS_MACHINE_NEW);
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
