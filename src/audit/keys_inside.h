/* Inside the machine's key: keys*.c.  The folder keys/ of the state folder. */
#ifndef WARY_AUDIT_KEYS_INSIDE_H
#define WARY_AUDIT_KEYS_INSIDE_H

#include "audit/keys.h"

#include <sys/stat.h>

/* How files with secrets begin. */
#define KEYS_MAGIC "warykey1"
#define KEYS_FORMER_MAGIC "waryfor1"
#define KEYS_MAGIC_BYTES (sizeof KEYS_MAGIC - 1)

#define KEYS_MACHINE "machine"
/* While a rotation is under way, or was cut short. */
#define KEYS_MACHINE_NEW "machine.new"
#define KEYS_MACHINE_OLD "machine.old"
#define KEYS_FORMER "former"
#define KEYS_FORMER_NEW "former.new"

/** keys_folder: appends the folder's path, which then is text.
 * Returns 0, -ERR_NOTFOUND, -ERR_NOMEM. */
must_check int keys_folder(struct buf *out);

/** keys_refuse: sets *@why to why @file cannot be used. Returns @err. */
int keys_refuse(char **why, int err, const char *file, const char *what);
/** keys_refuse_errno: likewise by errno. Returns what that is to wary. */
int keys_refuse_errno(char **why, const char *file);

/** keys_is_private: whether a file is this user's, and nobody else can read or write it. */
bool keys_is_private(const struct stat *st);
/** keys_refuse_public: sets *@why where it is not. Returns -ERR_PERM. */
int keys_refuse_public(char **why, const char *file);

/** keys_write_new: a private file, synced, under a name that must be free.
 * Returns 0 or -ERR_SYS (errno says more; the file may be there). */
must_check int keys_write_new(int folder_fd, const char *name, const void *bytes, size_t len_bytes);
/** keys_write_secret: likewise a key's file. Returns 0, -ERR_NOMEM or -ERR_SYS. */
must_check int keys_write_secret(int folder_fd, const char *name, const struct keys *k);
/** keys_lock: the folder's descriptor, locked for changes; blocks nowhere.
 * Returns -1 (errno: EWOULDBLOCK where another has it). */
int keys_lock(const char *folder);

/** keys_write_public: machine.pub, whole at once, synced, over what is there. Under the
 * lock. */
must_check bool keys_write_public(const char *folder, const uint8_t public_key[ROWS_KEY_BYTES]);

/** keys_rotate_settle: ends what a rotation that was cut short has left: the former key,
 * or the one that was to be the next, is wiped, machine.pub is the key's.  Nothing where
 * none was. */
void keys_rotate_settle(const char *folder);

#endif
