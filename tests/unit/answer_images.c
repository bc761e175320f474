/* The hash of a program, as far as a worker may read. */
#include "answer/images.h"

#include "tests/unit/tap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* SHA-256 of "abc" (FIPS 180-4, appendix). */
static const uint8_t abc[IMAGES_SHA256_BYTES] = {
	0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
	0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
	0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
};

int main(void)
{
	uint8_t hash[IMAGES_SHA256_BYTES];
	int fd = memfd_create("image", MFD_CLOEXEC);

	tap_ok(write(fd, "abc", 3) == 3 && images_hash_fd(fd, hash) == 0 &&
	               memcmp(hash, abc, sizeof hash) == 0,
	       "three bytes");
	tap_ok(ftruncate(fd, IMAGES_HASHED_MAX_BYTES + 1) == 0,
	       "a file that is too large, of holes");
	tap_is_int(images_hash_fd(fd, hash), -ERR_BOUND, "has no hash");
	close(fd);
	tap_is_int(images_hash_fd(fd, hash), -ERR_SYS, "nor has what is closed");
	return tap_done();
}
