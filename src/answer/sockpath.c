#include "answer/sockpath.h"

#include "answer/hand.h"
#include "answer/pen.h"
#include "base/own.h"
#include "base/uses.h"
#include "net/diag.h"
#include "net/own.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

USES(bind, chdir, fchdir);

#define PLACES_MAX (sizeof((struct target *)0)->place / sizeof(struct place))

int sockpath_fetch(struct request *r, struct sock *s, struct sock_addr *a)
{
	unsigned i = s->places_n;
	int err;

	if (i == PLACES_MAX)
		return -ERR_BOUND;
	memcpy(r->target.place[i].text, a->a.name, sizeof a->a.name);
	err = fetch_base(r, i, ROLE_DIRFD, 0);
	if (err != 0)
		return err;
	a->place = (int)i;
	s->places_n++;
	return 0;
}

void sockpath_drop(struct request *r, struct sock *s, struct sock_addr *a)
{
	struct place *p = &r->target.place[a->place];

	place_done(p);
	place_init(p);
	s->places_n--;
	a->place = -1;
}

static int question_connect(struct request *r, struct sock_addr *a, const struct place *p)
{
	struct buf text = BUF_INIT;
	struct facts *f;

	if (p->fd < 0 || p->error != 0) {
		a->nowhere = true;
		return state_failed(r, p);
	}
	a->a.facts.unix_name = p->canon;
	a->a.facts.own = own_file(r->sup->own, p->st.st_dev, p->st.st_ino);
	addr_text(&text, &a->a.facts);
	a->text = buf_take(&text);
	if (!a->text)
		return -ERR_NOMEM;
	f = state(r, CLASS_CONNECT, p);
	f->object = a->text;
	f->addr = a->a.facts;
	return 0;
}

static int question_bind(struct request *r, struct sock_addr *a, const struct place *p)
{
	a->a.facts.unix_name = p->canon;
	a->text = strdup(p->canon);
	if (!a->text)
		return -ERR_NOMEM;
	if (p->parent_fd < 0) {
		a->nowhere = true;
		return state_failed(r, p);
	}
	(void)state(r, CLASS_CREATE, p);
	return state_links(r, CLASS_CREATE, p);
}

int sockpath_question(struct request *r, struct sock_addr *a, enum policy_class class)
{
	const struct place *p = &r->target.place[a->place];
	bool bind = class == CLASS_BIND;
	int err = fetch_resolve(r, (unsigned)a->place, bind ? PLACE_PARENT : PLACE_FOLLOW, 0);

	if (err != 0)
		return err;
	return bind ? question_bind(r, a, p) : question_connect(r, a, p);
}

socklen_t sockpath_name(struct request *r, const struct sock_addr *a, struct sockaddr_un *room)
{
	char path[32];

	hand_self_path(r->target.place[a->place].fd, path);
	*room = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(room->sun_path, path, strlen(path) + 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
}

/* ---- bind ------------------------------------------------------------- */

struct binding {
	int socket_fd;
	int base_fd; /* where a relative name starts; -1: none */
	const struct sockaddr *sa;
	socklen_t len_bytes;
	long result;
};

static void bind_in(void *ctx)
{
	struct binding *b = ctx;

	if (b->base_fd >= 0 && fchdir(b->base_fd) != 0)
		b->result = -errno;
	else
		b->result = bind(b->socket_fd, b->sa, b->len_bytes) == 0 ? 0 : -errno;
}

/* Where the last name alone is given to the kernel, from the folder that was
 * judged: nothing can lead elsewhere. */
static long bind_by_name(int socket_fd, const struct place *p)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct binding b = {.socket_fd = socket_fd,
	                    .base_fd = p->parent_fd,
	                    .sa = (const struct sockaddr *)&un};
	char name[PLACE_NAME_MAX + 1];

	fetch_last_name(p, name);
	if (strlen(name) > sizeof un.sun_path)
		return -EINVAL;
	memcpy(un.sun_path, name, strlen(name));
	b.len_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	bind_in(&b);
	return b.result;
}

/* The name as written is resolved once more, by the kernel: from a thread that
 * can make sockets nowhere but below the folder that was judged. */
static long bind_as_written(int socket_fd, const struct sock_addr *a, const struct place *p)
{
	struct binding b = {.socket_fd = socket_fd,
	                    .base_fd = p->base_fd,
	                    .sa = (const struct sockaddr *)&a->a.sa,
	                    .len_bytes = a->a.len_bytes};
	int err = pen_run(p->parent_fd, PEN_MAKE_SOCKET, bind_in, &b);

	if (err == -ERR_UNSUPPORTED)
		return bind_by_name(socket_fd, p);
	return err != 0 ? -EACCES : b.result;
}

/* Whether the new socket is where it was judged to be; if not, its name was
 * led into a folder below. Notes it as the session's own. */
static bool is_there(struct request *r, int socket_fd, const struct place *p)
{
	struct stat st;

	if (fstatat(p->parent_fd, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	if (!diag_unix_is_file(socket_fd, (uint32_t)st.st_ino))
		return false;
	own_add_file(r->sup->own, socket_fd, st.st_dev, st.st_ino);
	return true;
}

long sockpath_bind(struct request *r, int socket_fd, struct sock_addr *a)
{
	const struct place *p = &r->target.place[a->place];
	bool plain = !strchr(a->a.name, '/');
	long n;

	if (a->nowhere)
		return p->error == -EEXIST ? -EADDRINUSE : p->error;
	if (hand_on(r) != 0)
		return -EACCES;
	n = plain ? bind_by_name(socket_fd, p) : bind_as_written(socket_fd, a, p);
	invariant(chdir("/") == 0);
	hand_off(r);
	if (n == 0 && !is_there(r, socket_fd, p))
		return -EACCES;
	return n;
}
