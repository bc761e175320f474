#include "audit/keys.h"

#include "audit/folder.h"
#include "audit/keys_inside.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "base/uses.h"

#include <fcntl.h>
#include <pwd.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

USES(flock, fsync, geteuid, linkat, open_any, pread64, rename, unlink, unlinkat);

#define ALGORITHM "Ed25519"
#define MACHINE_PUB "machine.pub"
#define PUBLIC_HEAD "wary-public-key-1 "
#define SEAL_LABEL "wary journal 1"
#define DAMAGED_KEY "it is damaged; restore it, or move it away and a new one is made"
/* As often as rotations could come between, and then some. */
#define ROTATIONS_MEANWHILE 100

/* The file keys/machine, exactly. */
struct key_file {
	char magic[8];
	char algorithm[8];
	uint8_t key_id[8]; /* first bytes of H(public key) */
	uint64_t made_us;
	uint8_t secret[KEYS_SECRET_BYTES];
};
_Static_assert(sizeof(struct key_file) == 96, "no padding");

int keys_state_folder(struct buf *out)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct passwd room;
	struct passwd *pw = NULL;
	char names[4096];

	if (state && *state == '/') {
		buf_fmt(out, "%s/wary", state);
		return 0;
	}
	if (!home || *home != '/') {
		if (getpwuid_r(geteuid(), &room, names, sizeof names, &pw) != 0)
			pw = NULL;
		home = pw ? pw->pw_dir : NULL;
	}
	if (!home || *home != '/')
		return -ERR_NOTFOUND;
	buf_fmt(out, "%s/.local/state/wary", home);
	return 0;
}

int keys_store_default(struct buf *out)
{
	int err = keys_state_folder(out);

	if (!err)
		buf_str(out, "/wary.db");
	return err;
}

int keys_new(struct keys **out)
{
	struct keys *k;

	if (sodium_init() < 0)
		return -ERR_NOMEM;
	k = sodium_malloc(sizeof *k);
	if (!k)
		return -ERR_NOMEM;
	invariant(crypto_sign_keypair(k->public_key, k->secret) == 0);
	k->made_us = clock_wall_ns() / 1000;
	*out = k;
	return 0;
}

void keys_free(struct keys *k)
{
	sodium_free(k);
}

static void key_id_of(const uint8_t *public_key, uint8_t *out, size_t len_bytes)
{
	uint8_t hash[ROWS_HASH_BYTES];

	invariant(crypto_generichash(hash, sizeof hash, public_key, ROWS_KEY_BYTES, NULL, 0) == 0);
	memcpy(out, hash, len_bytes);
}

void keys_name(struct buf *out, const uint8_t public_key[ROWS_KEY_BYTES])
{
	uint8_t id[3];

	key_id_of(public_key, id, sizeof id);
	text_hex(out, id, 2);
	buf_str(out, "…");
	text_hex(out, id + 2, 1);
}

void keys_seal_key(const struct keys *machine, uint8_t out[32])
{
	invariant(crypto_generichash(out, 32, (const uint8_t *)SEAL_LABEL, strlen(SEAL_LABEL),
	                             machine->secret, crypto_sign_SEEDBYTES) == 0);
}

int keys_refuse(char **why, int err, const char *file, const char *what)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "the signing key ");
	text_printable(&b, file, strlen(file), 0);
	buf_fmt(&b, " cannot be used: %s", what);
	*why = buf_take(&b);
	return err;
}

int keys_refuse_errno(char **why, const char *file)
{
	int no = errno;
	int err = no == ENOSPC || no == EDQUOT ? -ERR_FULL : no == ENOMEM ? -ERR_NOMEM : -ERR_PERM;

	return keys_refuse(why, err, file, strerrordesc_np(no));
}

bool keys_is_private(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 077);
}

int keys_refuse_public(char **why, const char *file)
{
	return keys_refuse(why, -ERR_PERM, file,
	                   "it must be a file of yours that nobody else can read (chmod 600)");
}

static bool key_file_right(const struct key_file *f)
{
	uint8_t seed[crypto_sign_SEEDBYTES];
	uint8_t public_key[ROWS_KEY_BYTES];
	uint8_t secret[KEYS_SECRET_BYTES];
	uint8_t id[sizeof f->key_id];
	bool right;

	memcpy(seed, f->secret, sizeof seed);
	invariant(crypto_sign_seed_keypair(public_key, secret, seed) == 0);
	key_id_of(public_key, id, sizeof id);
	right = memcmp(f->magic, KEYS_MAGIC, sizeof f->magic) == 0 &&
	        memcmp(f->algorithm, ALGORITHM, sizeof f->algorithm) == 0 &&
	        memcmp(f->key_id, id, sizeof id) == 0 &&
	        sodium_memcmp(f->secret, secret, sizeof secret) == 0;
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(secret, sizeof secret);
	return right;
}

static int take(int fd, const char *path, struct keys **out, char **why)
{
	struct key_file *f = sodium_malloc(sizeof *f);
	struct keys *k = sodium_malloc(sizeof *k);
	struct stat st;
	int err = 0;

	if (!f || !k)
		err = keys_refuse(why, -ERR_NOMEM, path, "out of memory");
	else if (fstat(fd, &st) != 0)
		err = keys_refuse_errno(why, path);
	else if (!keys_is_private(&st))
		err = keys_refuse_public(why, path);
	else if (st.st_size != (off_t)sizeof *f || !file_read_whole(fd, f, sizeof *f) ||
	         !key_file_right(f))
		err = keys_refuse(why, -ERR_DAMAGED, path, DAMAGED_KEY);
	if (!err) {
		memcpy(k->secret, f->secret, sizeof k->secret);
		invariant(crypto_sign_ed25519_sk_to_pk(k->public_key, k->secret) == 0);
		k->made_us = f->made_us;
		*out = k;
	} else {
		sodium_free(k);
	}
	sodium_free(f);
	return err;
}

int keys_lock(const char *folder)
{
	auto_fd fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd_take(&fd) : -1;
}

static bool sync_folder(const char *folder)
{
	auto_fd fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0;
}

/* For people to keep elsewhere. */
bool keys_write_public(const char *folder, const uint8_t public_key[ROWS_KEY_BYTES])
{
	auto_buf text = BUF_INIT;
	auto_buf path = BUF_INIT;
	auto_buf temporary = BUF_INIT;
	auto_fd fd = -1;

	buf_fmt(&path, "%s/" MACHINE_PUB, folder);
	buf_fmt(&temporary, "%s.%08x", buf_text(&path) ? path.data : "", randombytes_random());
	buf_str(&text, PUBLIC_HEAD);
	text_hex(&text, public_key, ROWS_KEY_BYTES);
	buf_chr(&text, '\n');
	if (!buf_text(&path) || !buf_text(&temporary) || !buf_text(&text))
		return false;
	fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	if (file_write_whole(fd, text.data, text.len_bytes) && fsync(fd) == 0 &&
	    rename(temporary.data, path.data) == 0)
		return sync_folder(folder);
	unlink(temporary.data);
	return false;
}

static int take_public(int fd, uint8_t out[ROWS_KEY_BYTES])
{
	char text[sizeof PUBLIC_HEAD - 1 + 2 * ROWS_KEY_BYTES];

	if (!file_read_whole(fd, text, sizeof text) ||
	    memcmp(text, PUBLIC_HEAD, sizeof PUBLIC_HEAD - 1) != 0)
		return -ERR_FORMAT;
	return text_unhex(text + sizeof PUBLIC_HEAD - 1, 2 * ROWS_KEY_BYTES, out, ROWS_KEY_BYTES);
}

/* What machine.pub says. Waits for nothing, whatever has its name.
 * Returns as keys_machine_public. */
static int read_own_public(const char *folder, uint8_t out[ROWS_KEY_BYTES], char **why)
{
	auto_buf path = BUF_INIT;
	auto_fd fd = -1;
	int err;

	buf_fmt(&path, "%s/" MACHINE_PUB, folder);
	if (!buf_text(&path))
		return -ERR_NOMEM;
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return -ERR_NOTFOUND;
	errno = fd < 0 ? errno : 0;
	err = fd < 0 ? -ERR_SYS : take_public(fd, out);
	if (!err)
		return 0;
	if (errno)
		return keys_refuse_errno(why, path.data);
	return keys_refuse(why, -ERR_FORMAT, path.data,
	                   "it is no public key; restore it, or move it away");
}

/* Made anew where it is missing, torn or another's. */
static bool has_public(const char *folder, const struct keys *k)
{
	auto_fd lock = -1;
	uint8_t there[ROWS_KEY_BYTES];
	auto_free char *why = NULL;

	if (read_own_public(folder, there, &why) == 0 &&
	    memcmp(there, k->public_key, sizeof there) == 0)
		return true;
	lock = keys_lock(folder);
	/* Who has the lock writes it. */
	if (lock < 0)
		return errno == EWOULDBLOCK;
	/* A rotation since the key was read has written that of the next one. */
	return !keys_is_current(k->public_key) || keys_write_public(folder, k->public_key);
}

int keys_write_new(int folder_fd, const char *name, const void *bytes, size_t len_bytes)
{
	auto_fd fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && file_write_whole(fd, bytes, len_bytes) && fsync(fd) == 0 ? 0 : -ERR_SYS;
}

int keys_write_secret(int folder_fd, const char *name, const struct keys *k)
{
	struct key_file *f = sodium_malloc(sizeof *f);
	int err;

	if (!f)
		return -ERR_NOMEM;
	memset(f, 0, sizeof *f);
	memcpy(f->magic, KEYS_MAGIC, sizeof f->magic);
	memcpy(f->algorithm, ALGORITHM, sizeof f->algorithm);
	key_id_of(k->public_key, f->key_id, sizeof f->key_id);
	f->made_us = k->made_us;
	memcpy(f->secret, k->secret, sizeof f->secret);
	err = keys_write_new(folder_fd, name, f, sizeof *f);
	sodium_free(f);
	return err;
}

/* A whole file under its name at once, and never over another's: two first
 * sessions at the same time end with one key. */
static int make_files(int folder_fd, const char *path, char **why)
{
	struct keys *k = NULL;
	int err = keys_new(&k);
	char name[64];

	if (err)
		return err;
	snprintf(name, sizeof name, "machine.%08x", randombytes_random());
	err = keys_write_secret(folder_fd, name, k);
	if (err != -ERR_NOMEM &&
	    (err || (linkat(folder_fd, name, folder_fd, KEYS_MACHINE, 0) != 0 && errno != EEXIST)))
		err = keys_refuse_errno(why, path);
	else if (!err && fsync(folder_fd) != 0)
		err = keys_refuse_errno(why, path);
	unlinkat(folder_fd, name, 0);
	keys_free(k);
	return err;
}

static int make_key(const char *folder, const char *path, char **why)
{
	auto_fd folder_fd = -1;

	if (folder_make(folder) != 0)
		return keys_refuse_errno(why, path);
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0)
		return keys_refuse_errno(why, path);
	return make_files(folder_fd, path, why);
}

/* Whether a file that could not be used is no longer the one of this name: a rotation
 * has put the next key there, and wiped this one. */
static bool was_replaced(int fd, const char *path)
{
	struct stat held;
	struct stat named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 &&
	       (held.st_ino != named.st_ino || held.st_dev != named.st_dev);
}

static int load(const char *path, struct keys **out, char **why)
{
	int err;

	for (unsigned i = 0; i < ROTATIONS_MEANWHILE; i++) {
		auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0 && errno == ENOENT)
			return -ERR_NOTFOUND;
		if (fd < 0)
			return keys_refuse_errno(why, path);
		err = take(fd, path, out, why);
		if (err != -ERR_DAMAGED || !was_replaced(fd, path))
			return err;
		free(*why);
		*why = NULL;
	}
	return -ERR_BUSY;
}

int keys_folder(struct buf *out)
{
	int err = keys_state_folder(out);

	if (err)
		return err;
	buf_str(out, "/keys");
	return buf_text(out) ? 0 : -ERR_NOMEM;
}

int keys_machine(bool make, struct keys **out, char **why)
{
	auto_buf folder = BUF_INIT;
	auto_buf path = BUF_INIT;
	int err = sodium_init() < 0 ? -ERR_CRYPTO : keys_folder(&folder);
	struct keys *k = NULL;

	*why = NULL;
	if (err)
		return keys_refuse(why, err, "machine", "there is no home folder to keep it in");
	buf_fmt(&path, "%s/" KEYS_MACHINE, folder.data);
	if (!buf_text(&path))
		return -ERR_NOMEM;
	if (make)
		keys_rotate_settle(folder.data);
	err = load(path.data, &k, why);
	if (err == -ERR_NOTFOUND && !make)
		return keys_refuse(why, err, path.data, "it does not exist");
	if (err == -ERR_NOTFOUND) {
		err = make_key(folder.data, path.data, why);
		if (!err)
			err = load(path.data, &k, why);
	}
	if (!err && make && !has_public(folder.data, k)) {
		err = keys_refuse_errno(why, path.data);
		keys_free(k);
	}
	if (!err)
		*out = k;
	return err;
}

/* The public half of a secret key's file, whose other half is not read.
 * Returns 0, -ERR_DAMAGED, or -ERR_SYS with errno. */
static int half_of(int fd, uint8_t out[ROWS_KEY_BYTES])
{
	static const size_t head_bytes = offsetof(struct key_file, secret);
	struct key_file head; /* up to its secret */
	uint8_t half[ROWS_KEY_BYTES];
	uint8_t id[sizeof head.key_id];
	ssize_t n = pread(fd, &head, head_bytes, 0);
	ssize_t half_n =
		n < 0 ? -1
		      : pread(fd, half, sizeof half, (off_t)head_bytes + crypto_sign_SEEDBYTES);

	if (n < 0 || half_n < 0)
		return -ERR_SYS;
	if (n != (ssize_t)head_bytes || half_n != (ssize_t)sizeof half)
		return -ERR_DAMAGED;
	key_id_of(half, id, sizeof id);
	if (memcmp(head.magic, KEYS_MAGIC, sizeof head.magic) != 0 ||
	    memcmp(head.key_id, id, sizeof id) != 0)
		return -ERR_DAMAGED;
	memcpy(out, half, sizeof half);
	return 0;
}

/* Of the key that is in force. Returns as keys_machine_public. */
static int public_half(const char *folder, uint8_t out[ROWS_KEY_BYTES], char **why)
{
	auto_buf path = BUF_INIT;
	int err = -ERR_DAMAGED;

	buf_fmt(&path, "%s/" KEYS_MACHINE, folder);
	if (!buf_text(&path))
		return -ERR_NOMEM;
	for (unsigned i = 0; i < ROTATIONS_MEANWHILE; i++) {
		auto_fd fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0 && errno == ENOENT)
			return -ERR_NOTFOUND;
		err = fd < 0 ? -ERR_SYS : half_of(fd, out);
		if (err == -ERR_SYS)
			return keys_refuse_errno(why, path.data);
		if (!err || !was_replaced(fd, path.data))
			break;
	}
	return err ? keys_refuse(why, err, path.data, DAMAGED_KEY) : 0;
}

bool keys_is_current(const uint8_t public_key[ROWS_KEY_BYTES])
{
	auto_buf folder = BUF_INIT;
	auto_free char *why = NULL;
	uint8_t now[ROWS_KEY_BYTES];

	return keys_folder(&folder) == 0 && public_half(folder.data, now, &why) == 0 &&
	       memcmp(now, public_key, sizeof now) == 0;
}

int keys_public_read(const char *file_or_hex, uint8_t out[ROWS_KEY_BYTES])
{
	auto_fd fd = -1;

	if (text_unhex(file_or_hex, strlen(file_or_hex), out, ROWS_KEY_BYTES) == 0)
		return 0;
	fd = open(file_or_hex, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ERR_NOTFOUND : take_public(fd, out);
}

int keys_machine_public(uint8_t out[ROWS_KEY_BYTES], char **why)
{
	auto_buf folder = BUF_INIT;
	int err = keys_folder(&folder);

	*why = NULL;
	if (err == -ERR_NOTFOUND)
		return keys_refuse(why, -ERR_PERM, "this machine's key",
		                   "there is no home folder to look for it in");
	if (!err)
		err = public_half(folder.data, out, why);
	/* machine.pub may be torn, or of another key; where it is alone it counts. */
	return err == -ERR_NOTFOUND ? read_own_public(folder.data, out, why) : err;
}
