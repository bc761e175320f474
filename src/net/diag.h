/* What sockets there are, by the kernel's own account (NETLINK_SOCK_DIAG):
 * each has a cookie that is never given to another socket, unlike its inode. */
#ifndef WARY_NET_DIAG_H
#define WARY_NET_DIAG_H

#include "base/err.h"
#include "policy/facts.h"

#include <stdbool.h>
#include <stdint.h>

/** diag_open: a descriptor for one of the questions below: a second one could
 * meet what is left of the first answer.
 * Returns it, or -ERR_UNSUPPORTED, -ERR_NOFD. */
must_check int diag_open(void);

/** diag_cookie: the cookie of a socket that wary holds; 0 where the kernel
 * does not say. */
uint64_t diag_cookie(int socket_fd);

/** diag_receivers: calls @each with the cookie of every socket that could take
 * a connection (PROTO_TCP: listening) or a datagram (else: UDP) sent to @to in
 * wary's network namespace; more than the one that will, never fewer.  Blocks
 * on the kernel only.
 * Returns 0 or -ERR_UNSUPPORTED, -ERR_SYS, -ERR_FORMAT. */
must_check int diag_receivers(int fd, const struct facts_addr *to,
                              void (*each)(void *ctx, uint64_t cookie), void *ctx);

/** diag_unix_alive: whether the unix socket with this inode and cookie still
 * exists.  False too where the kernel does not say. */
bool diag_unix_alive(int fd, uint32_t inode, uint64_t cookie);

/** diag_unix_is_file: whether the file that a unix socket is bound to has this
 * inode number (its low 32 bits). True where the kernel does not say. */
bool diag_unix_is_file(int socket_fd, uint32_t file_inode);

#endif
