#include "answer/images.h"

#include "base/uses.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

USES(pread64);

/* Programs that a session runs again and again are few. */
#define SLOTS 256u

struct kept {
	struct stat st;
	char *canon;
	char *interp;
	bool is_loader;
	/* What PT_INTERP led to; NULL: nothing. */
	char *loader;
	struct stat loader_st;
	bool loader_is_loader;
	bool hashed;
	uint8_t sha256[IMAGES_SHA256_BYTES];
};

struct images {
	bool hash;
	pthread_mutex_t lock;
	struct kept *slots[SLOTS]; /* by inode, or NULL; the later takes the place */
};

int images_new(bool hash, struct images **out)
{
	struct images *i = calloc(1, sizeof *i);

	if (!i)
		return -ERR_NOMEM;
	i->hash = hash;
	pthread_mutex_init(&i->lock, NULL);
	*out = i;
	return 0;
}

static void kept_free(struct kept *k)
{
	if (!k)
		return;
	free(k->canon);
	free(k->interp);
	free(k->loader);
	free(k);
}

void images_free(struct images *i)
{
	if (!i)
		return;
	for (unsigned n = 0; n < SLOTS; n++)
		kept_free(i->slots[n]);
	pthread_mutex_destroy(&i->lock);
	free(i);
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct kept *k, const struct place *p)
{
	return k && k->st.st_dev == p->st.st_dev && k->st.st_ino == p->st.st_ino &&
	       k->st.st_size == p->st.st_size && same_time(k->st.st_mtim, p->st.st_mtim) &&
	       same_time(k->st.st_ctim, p->st.st_ctim) && strcmp(k->canon, p->canon) == 0;
}

static void fill(struct image *out, const char *interp, bool is_loader)
{
	out->kind = IMAGE_ELF;
	out->has_arg = false;
	out->arg[0] = '\0';
	out->is_loader = is_loader;
	memcpy(out->interp, interp, strlen(interp) + 1);
}

static struct kept **slot_of(struct images *i, const struct place *p)
{
	return &i->slots[p->st.st_ino % SLOTS];
}

bool images_find(struct images *i, const struct place *p, struct image *out, struct place *loader,
                 struct image *loader_image)
{
	const struct kept *k;
	bool found;

	pthread_mutex_lock(&i->lock);
	k = *slot_of(i, p);
	found = is_same(k, p);
	if (found) {
		fill(out, k->interp, k->is_loader);
		if (k->loader) {
			memcpy(loader->canon, k->loader, strlen(k->loader) + 1);
			loader->st = k->loader_st;
			fill(loader_image, "", k->loader_is_loader);
		}
	}
	pthread_mutex_unlock(&i->lock);
	return found;
}

/* NULL where there is no memory. */
static struct kept *kept_new(const struct place *p, const struct image *image,
                             const struct place *loader, const struct image *loader_image)
{
	struct kept *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->st = p->st;
	k->is_loader = image->is_loader;
	k->canon = strdup(p->canon);
	k->interp = strdup(image->interp);
	if (loader) {
		k->loader = strdup(loader->canon);
		k->loader_st = loader->st;
		k->loader_is_loader = loader_image->is_loader;
	}
	if (k->canon && k->interp && (!loader || k->loader))
		return k;
	kept_free(k);
	return NULL;
}

void images_keep(struct images *i, const struct place *p, const struct image *image,
                 const struct place *loader, const struct image *loader_image)
{
	struct kept *made = kept_new(p, image, loader, loader_image);
	struct kept **slot = slot_of(i, p);
	struct kept *before;

	pthread_mutex_lock(&i->lock);
	before = *slot;
	*slot = made;
	pthread_mutex_unlock(&i->lock);
	kept_free(before);
}

int images_hash_fd(int fd, uint8_t out[IMAGES_SHA256_BYTES])
{
	crypto_hash_sha256_state h;
	unsigned char chunk[32768];
	off_t at = 0;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -ERR_SYS;
	if (st.st_size > IMAGES_HASHED_MAX_BYTES)
		return -ERR_BOUND;
	crypto_hash_sha256_init(&h);
	for (;;) {
		ssize_t n = pread(fd, chunk, sizeof chunk, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -ERR_SYS;
		if (n == 0)
			break;
		/* Its writer may go on: a file has no end that it must come to. */
		if (at >= IMAGES_HASHED_MAX_BYTES)
			return -ERR_BOUND;
		crypto_hash_sha256_update(&h, chunk, (unsigned long long)n);
		at += n;
	}
	crypto_hash_sha256_final(&h, out);
	return 0;
}

bool images_sha256(struct images *i, const struct place *p, int fd,
                   uint8_t out[IMAGES_SHA256_BYTES])
{
	struct kept *k;
	bool known;

	if (!i->hash)
		return false;
	pthread_mutex_lock(&i->lock);
	k = *slot_of(i, p);
	known = is_same(k, p) && k->hashed;
	if (known)
		memcpy(out, k->sha256, IMAGES_SHA256_BYTES);
	pthread_mutex_unlock(&i->lock);
	if (known)
		return true;
	if (images_hash_fd(fd, out) != 0)
		return false;
	pthread_mutex_lock(&i->lock);
	k = *slot_of(i, p);
	if (is_same(k, p)) {
		memcpy(k->sha256, out, IMAGES_SHA256_BYTES);
		k->hashed = true;
	}
	pthread_mutex_unlock(&i->lock);
	return true;
}
