/* Unix sockets that have a name in the file system: resolved like any other
 * name, judged by their canonical name, reached by the object that was judged. */
#ifndef WARY_ANSWER_SOCKPATH_H
#define WARY_ANSWER_SOCKPATH_H

#include "answer/request.h"
#include "answer/sock.h"

#include <sys/un.h>

/** sockpath_fetch: takes a free target.place for an address and fetches what its
 * name starts from; fetch_end() must follow.  As in fetch.h; -ERR_BOUND where
 * no place is left.
 * sockpath_drop: gives the last one back. */
must_check int sockpath_fetch(struct request *r, struct sock *s, struct sock_addr *a);
void sockpath_drop(struct request *r, struct sock *s, struct sock_addr *a);

/** sockpath_question: resolves the name and states what is asked about it. */
must_check int sockpath_question(struct request *r, struct sock_addr *a, enum policy_class class);

/** sockpath_name: the address to connect or send to: the object that was judged.
 * @room: holds it. Returns its length in bytes. */
socklen_t sockpath_name(struct request *r, const struct sock_addr *a, struct sockaddr_un *room);

/** sockpath_bind: creates the socket's file where it was judged, under the name
 * as the caller wrote it (getsockname and peers see that).  Blocks on the file
 * system only.  Returns 0 or -errno. */
long sockpath_bind(struct request *r, int socket_fd, struct sock_addr *a);

#endif
