/* Where the sessions' control sockets are: for the session and `wary approve`. */
#ifndef WARY_CMD_APPROVE_H
#define WARY_CMD_APPROVE_H

#include "cmd/folders.h"

/** approve_folder: the folder of this user's sockets: below RUNTIME where there
 * is one, else below STATE; both are floor paths. NULL without memory;
 * free(3). */
char *approve_folder(const struct folders *f);

/** approve_socket: the path of a session's socket. NULL likewise. */
char *approve_socket(const struct folders *f, const char *session_id);

#endif
