/* What kind of program a file is, read as the kernel's loaders read it: a
 * script with its interpreter, or an ELF image with its loader. */
#ifndef WARY_TRACEE_IMAGE_H
#define WARY_TRACEE_IMAGE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum image_kind {
	IMAGE_UNKNOWN, /* neither: the kernel says ENOEXEC */
	IMAGE_SCRIPT,  /* begins with a #! line that the kernel takes */
	IMAGE_ELF,     /* of this machine, 64 bits */
	IMAGE_FOREIGN, /* ELF of another machine or word size: refused */
};

/* The kernel looks at so many bytes of a script (BINPRM_BUF_SIZE). */
#define IMAGE_SCRIPT_BYTES 256

struct image {
	enum image_kind kind;
	/* SCRIPT: the interpreter as written.  ELF: the loader it asks for, ""
	 * if none (static, or a loader itself). */
	char interp[PATH_MAX];
	char arg[IMAGE_SCRIPT_BYTES]; /* SCRIPT: its one argument */
	bool has_arg;
	bool is_loader; /* ELF: a dynamic loader, which would run another file */
};

/** image_parse_script: the #! line, by the rules of the kernel's binfmt_script.
 * @bytes: the file's beginning, chosen by the child; padded with NULs to
 *   IMAGE_SCRIPT_BYTES by this function where @len_bytes is less.
 * Returns whether it is a script that the kernel would start. */
bool image_parse_script(const void *bytes, size_t len_bytes, struct image *out);

/* Reads a file's bytes: like pread(2), -1 on failure. */
struct image_source {
	ssize_t (*read_at)(void *ctx, void *out, size_t len_bytes, uint64_t at);
	void *ctx;
};

/** image_parse: kind, interpreter, loader.
 * @from: a file chosen by the child; it may change while it is read, so that
 *   what was loaded is compared again at the exec stop.
 * Returns 0 or -ERR_SYS where it cannot be read. */
must_check int image_parse(const struct image_source *from, struct image *out);

#endif
