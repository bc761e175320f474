/* Unix sockets that have a name in the file system: resolved like any other
 * name, judged by their canonical name, reached by the object that was judged. */
#ifndef WARY_ANSWER_SOCKPATH_H
#define WARY_ANSWER_SOCKPATH_H

#include "answer/request.h"
#include "answer/sock.h"

#include <sys/un.h>

/* A name by which the kernel finds what was judged. */
struct sockpath_name {
	struct sockaddr_un un;
};

/** sockpath_fetch: takes the next free target.place for an address and fetches
 * what its name starts from; mem_valid() must follow.
 * -ERR_BOUND where no place is left.
 * sockpath_resolve: resolves it, for ADDR_FOR_BIND to its folder. */
must_check int sockpath_fetch(struct request *r, struct sock_addr *a);
must_check int sockpath_resolve(struct request *r, struct sock_addr *a, enum addr_use use);

/** sockpath_drop: gives the place back. */
void sockpath_drop(struct request *r, struct sock_addr *a);

/** sockpath_know: sets facts.unix_name and own. */
void sockpath_know(struct request *r, struct sock_addr *a);

/** sockpath_question: what a question about a file has besides its address. */
void sockpath_question(struct request *r, const struct sock_addr *a, struct facts *f);

/** sockpath_name: the address to connect or send to.
 * @room: holds it. Returns it; its length in *len_bytes. */
const struct sockaddr *sockpath_name(struct request *r, const struct sock_addr *a,
                                     struct sockpath_name *room, socklen_t *len_bytes);

/** sockpath_bind: creates the socket's file where it was judged, under the name
 * as the caller wrote it. Returns 0 or -errno. */
long sockpath_bind(struct request *r, int socket_fd, struct sock_addr *a);

#endif
