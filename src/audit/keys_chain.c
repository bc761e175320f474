#include "audit/keys_chain.h"

#include "audit/chain.h"
#include "audit/keys_inside.h"
#include "base/file.h"
#include "base/own.h"
#include "base/uses.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

USES(open_read);

/* The file: the links, the last of them the key that the machine has now, or had when
 * a rotation was cut short; then H of all before. */
struct former_file {
	char magic[8];
	struct keys_link links[KEYS_FORMER_MAX + 1];
	uint8_t hash[ROWS_HASH_BYTES];
};

#define FILE_BYTES(n) (offsetof(struct former_file, links) + (n) * sizeof(struct keys_link))

void keys_chain_free(struct keys_chain *c)
{
	sodium_free(c);
}

struct rows_signer keys_chain_row(const struct keys_chain *c, size_t i, bool back)
{
	const struct keys_link *l = &c->links[i];
	struct rows_signer s = {
		.role = SIGNER_MACHINE,
		.at_us = back ? c->links[i + 1].made_us : l->made_us,
	};

	invariant(i + back <= c->former_n);
	memcpy(s.public_key, l->public_key, sizeof s.public_key);
	memcpy(s.certificate, back ? l->back : l->certificate, sizeof s.certificate);
	return s;
}

static void hash_of(const struct former_file *f, size_t links_n, uint8_t out[ROWS_HASH_BYTES])
{
	invariant(crypto_generichash(out, ROWS_HASH_BYTES, (const uint8_t *)f, FILE_BYTES(links_n),
	                             NULL, 0) == 0);
}

/* Returns how many links there are, 0 where it is none of ours. */
static size_t links_in(const struct former_file *f, size_t len_bytes)
{
	size_t n = len_bytes < FILE_BYTES(0) + ROWS_HASH_BYTES
	                   ? 0
	                   : (len_bytes - FILE_BYTES(0) - ROWS_HASH_BYTES) / sizeof f->links[0];
	uint8_t hash[ROWS_HASH_BYTES];

	if (!n || n > KEYS_FORMER_MAX + 1 || len_bytes != FILE_BYTES(n) + ROWS_HASH_BYTES ||
	    memcmp(f->magic, KEYS_FORMER_MAGIC, sizeof f->magic) != 0)
		return 0;
	hash_of(f, n, hash);
	return memcmp(hash, (const uint8_t *)f + FILE_BYTES(n), sizeof hash) == 0 ? n : 0;
}

/* @n: set to how many links there are, 0 where there is no file. */
static int read_file(struct former_file *f, size_t *n, char **why)
{
	auto_buf path = BUF_INIT;
	auto_fd fd = -1;
	struct stat st;
	int err = keys_folder(&path);

	*n = 0;
	if (err)
		return err;
	buf_str(&path, "/" KEYS_FORMER);
	if (!buf_text(&path))
		return -ERR_NOMEM;
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) != 0)
		return keys_refuse_errno(why, path.data);
	if (!keys_is_private(&st))
		return keys_refuse_public(why, path.data);
	if (st.st_size <= (off_t)sizeof *f && file_read_whole(fd, f, (size_t)st.st_size))
		*n = links_in(f, (size_t)st.st_size);
	return *n ? 0
	          : keys_refuse(why, -ERR_DAMAGED, path.data,
	                        "it is damaged; restore it, or move it away: sessions of former "
	                        "keys then verify with these keys alone");
}

/* Where the machine's key is the first of its chain. */
static int first_link(const struct keys *machine, struct keys_link *out)
{
	struct rows_signer s = {.role = SIGNER_MACHINE, .at_us = machine->made_us};
	int err;

	memcpy(s.public_key, machine->public_key, sizeof s.public_key);
	err = chain_certificate_sign(&s, NULL, machine->secret);
	memcpy(out->public_key, s.public_key, sizeof out->public_key);
	memcpy(out->certificate, s.certificate, sizeof out->certificate);
	out->made_us = s.at_us;
	return err;
}

int keys_chain_load(const struct keys *machine, struct keys_chain **out, char **why)
{
	struct former_file *f = sodium_malloc(sizeof *f);
	struct keys_chain *c = sodium_malloc(sizeof *c);
	size_t n = 0;
	int err = f && c ? read_file(f, &n, why) : -ERR_NOMEM;

	if (!err) {
		memset(c, 0, sizeof *c);
		memcpy(c->links, f->links, n * sizeof c->links[0]);
		c->known_n = n;
		while (c->former_n < n && memcmp(c->links[c->former_n].public_key,
		                                 machine->public_key, ROWS_KEY_BYTES) != 0)
			c->former_n++;
		/* Not of this chain: it begins anew. The seals may be of use all the same. */
		if (c->former_n == n) {
			c->former_n = 0;
			memmove(&c->links[1], &c->links[0],
			        (n < KEYS_FORMER_MAX ? n : KEYS_FORMER_MAX) * sizeof c->links[0]);
			c->known_n = n < KEYS_FORMER_MAX ? n + 1 : n;
			err = first_link(machine, &c->links[0]);
		}
	}
	sodium_free(f);
	if (err)
		keys_chain_free(c);
	else
		*out = c;
	return err;
}

int keys_chain_extend(struct keys_chain *c, const struct keys *machine, const struct keys *fresh)
{
	struct keys_link *last = &c->links[c->former_n];
	struct rows_signer next = {.role = SIGNER_MACHINE, .at_us = fresh->made_us};
	struct rows_signer back = next;
	int err;

	if (c->former_n == KEYS_FORMER_MAX)
		return -ERR_BOUND;
	memcpy(next.public_key, fresh->public_key, sizeof next.public_key);
	memcpy(back.public_key, machine->public_key, sizeof back.public_key);
	err = chain_certificate_sign(&next, NULL, machine->secret);
	if (!err)
		err = chain_certificate_sign(&back, NULL, fresh->secret);
	if (err)
		return err;
	memcpy(last->back, back.certificate, sizeof last->back);
	keys_seal_key(machine, last->seal);
	c->former_n++;
	c->known_n = c->former_n + 1;
	last++;
	memset(last, 0, sizeof *last);
	memcpy(last->public_key, next.public_key, sizeof last->public_key);
	memcpy(last->certificate, next.certificate, sizeof last->certificate);
	last->made_us = next.at_us;
	return 0;
}

int keys_chain_write(const struct keys_chain *c, int folder_fd, const char *name)
{
	struct former_file *f = sodium_malloc(sizeof *f);
	size_t n = c->former_n + 1;
	size_t len_bytes = FILE_BYTES(n);
	int err;

	if (!f)
		return -ERR_NOMEM;
	memset(f, 0, sizeof *f);
	memcpy(f->magic, KEYS_FORMER_MAGIC, sizeof f->magic);
	memcpy(f->links, c->links, n * sizeof f->links[0]);
	hash_of(f, n, (uint8_t *)f + len_bytes);
	err = keys_write_new(folder_fd, name, f, len_bytes + ROWS_HASH_BYTES);
	sodium_free(f);
	return err;
}

/* The former keys of the machine's, which is keys[0], into keys from 1 on. */
static int add_former(uint8_t (*keys)[ROWS_KEY_BYTES], size_t *n, char **why)
{
	struct former_file *f = sodium_malloc(sizeof *f);
	size_t links_n = 0;
	size_t i = 0;
	int err = f ? read_file(f, &links_n, why) : -ERR_NOMEM;

	while (!err && i < links_n && memcmp(f->links[i].public_key, keys[0], ROWS_KEY_BYTES) != 0)
		i++;
	/* What comes after it never was in force: of a rotation that was cut short. */
	for (size_t j = !err && i < links_n ? i : 0; j-- > 0;)
		memcpy(keys[(*n)++], f->links[j].public_key, ROWS_KEY_BYTES);
	sodium_free(f);
	return err;
}

int keys_trusted(uint8_t (**out)[ROWS_KEY_BYTES], size_t *n, char **why)
{
	uint8_t(*keys)[ROWS_KEY_BYTES] = calloc(KEYS_FORMER_MAX + 1, sizeof *keys);
	int err = keys && sodium_init() >= 0 ? 0 : -ERR_NOMEM;

	*n = 0;
	*why = NULL;
	if (!err)
		err = keys_machine_public(keys[0], why);
	if (!err) {
		*n = 1;
		err = add_former(keys, n, why);
	} else if (err == -ERR_NOTFOUND) {
		err = 0;
	}
	if (!err) {
		*out = keys;
		return 0;
	}
	*n = 0;
	free(keys);
	return err;
}
