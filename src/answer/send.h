/* Messages to be sent: copied from the caller, with the descriptors and
 * credentials that travel with them. */
#ifndef WARY_ANSWER_SEND_H
#define WARY_ANSWER_SEND_H

#include "answer/request.h"
#include "answer/sock.h"
#include "answer/sockpath.h"
#include "net/dns.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Bytes copied at once; a longer write to a stream goes in such pieces. */
#define SEND_PIECE_BYTES ((size_t)1 << 20)
/* The kernel's own bound on control messages is some 20 to 128 KiB. */
#define SEND_CONTROL_BYTES ((size_t)128 << 10)
/* SCM_MAX_FD: so many descriptors pass with one message. */
#define SEND_FDS_MAX 253
/* UIO_MAXIOV: of pieces, and of messages in one sendmmsg. */
#define SEND_VECTOR_MAX 1024

struct send_message {
	struct iovec *remote; /* pieces in the caller's memory; owned */
	size_t remote_n;
	size_t total_bytes; /* as the caller asks for */
	uint8_t *data;      /* the copy of what follows done_bytes; owned */
	size_t data_bytes;
	size_t map_bytes; /* not 0: data is a mapping of its own */
	uint8_t *control; /* copied, descriptors already wary's; owned */
	size_t control_bytes;
	int *fds; /* wary's, that control speaks of; owned */
	size_t fds_n;
	struct ucred *credentials; /* in control; NULL: none */
	bool named;                /* the caller gave a destination … */
	struct sock_addr *addr;    /* … that matters; NULL: as connected */
	struct sockaddr_un name;
	struct dns_query *query; /* it goes to a name server; owned; else NULL */
};

/* One call: sendto and sendmsg have one message. */
struct send {
	struct sock sock; /* first: as sock_new wants it */
	bool kind_known;
	unsigned flags;
	struct send_message *messages; /* owned */
	unsigned messages_n;
	unsigned asked_n; /* sendmmsg: how many the caller gave */
	uint64_t vector;  /* sendmmsg: address of the array */
};

/** send_fetch: copies one message of the caller: header, pieces, data, control.
 * fetch_end() must follow.  Returns as fetch.h says.
 * @head: the address of its struct msghdr. */
must_check int send_fetch(struct request *r, struct send *t, struct send_message *m, uint64_t head);

/** send_fetch_flat: the same for sendto, whose arguments are registers. */
must_check int send_fetch_flat(struct request *r, struct send *t, struct send_message *m);

/** send_fetch_more: copies the piece that begins at @done_bytes.
 * Returns 0, -EFAULT or -ERR_. */
must_check int send_fetch_more(struct request *r, struct send *t, struct send_message *m,
                               size_t done_bytes);

/** send_perform: sends one message. Returns bytes or -errno, as the call. */
long send_perform(struct request *r, struct send *t, struct send_message *m);

void send_message_free(struct send_message *m);

/** send_goes_somewhere: whether a destination matters to this socket: streams
 * ignore or refuse it, unless it opens the connection. */
bool send_goes_somewhere(const struct send *t);

#endif
