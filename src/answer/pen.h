/* A pen: one step that the kernel itself confines to a folder, for effects whose
 * system call takes a name and would resolve it again. */
#ifndef WARY_ANSWER_PEN_H
#define WARY_ANSWER_PEN_H

#include "base/err.h"

enum pen_allow {
	PEN_MAKE_SOCKET, /* making sockets; all other making of sockets is refused */
};

/** pen_run: runs @step in a thread of its own that can do the named thing only
 * in @folder_fd and below (Landlock), with the credentials, umask and working
 * folder of the calling thread, and waits for it.  The thread shares the working
 * folder with the caller.
 * Returns 0, -ERR_UNSUPPORTED where the kernel has no Landlock (nothing was
 * done), -ERR_NOMEM, -ERR_SYS. */
must_check int pen_run(int folder_fd, enum pen_allow what, void (*step)(void *ctx), void *ctx);

#endif
