#include "ask/control.h"

#include "ask/freeze.h"
#include "base/file.h"
#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

USES(accept4, geteuid, getsockopt, recvfrom, sendto, unlink);
USED_BEFORE(bind, listen, mkdir, socket, umask);

/* More than can stand in line for the socket. */
#define ACCEPTED_AT_ONCE (2 * CONTROL_CLIENTS_MAX)

struct client {
	int fd; /* -1: free */
	size_t len_bytes;
	char line[CONTROL_LINE_MAX];
};

struct control {
	int listen_fd;
	char *path, *session;
	pid_t guardian_pid;
	struct control_ops ops;
	struct client clients[CONTROL_CLIENTS_MAX];
};

/* The folder of the socket: the user's own, and nobody else's to change. */
static int make_folder(const char *path)
{
	auto_free char *folder = strdup(path);
	struct stat st;
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!slash || slash == folder)
		return folder ? -ERR_PERM : -ERR_NOMEM;
	*slash = '\0';
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return -ERR_SYS;
	if (lstat(folder, &st) != 0)
		return -ERR_SYS;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -ERR_PERM;
	return 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int bound;

	if (fd < 0)
		return -ERR_SYS;
	if (strlen(path) >= sizeof address.sun_path)
		return -ERR_TOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	(void)unlink(path); /* of a session that was killed: the id is ours now */
	mask = umask(0177);
	bound = bind(fd, (struct sockaddr *)&address, sizeof address);
	umask(mask);
	if (bound != 0 || listen(fd, CONTROL_CLIENTS_MAX) != 0)
		return -ERR_SYS;
	return fd_take(&fd);
}

int control_open(const char *path, const char *session, pid_t guardian_pid,
                 const struct control_ops *ops, struct control **out)
{
	struct control *c;
	int err = make_folder(path);

	if (err)
		return err;
	c = calloc(1, sizeof *c);
	if (!c)
		return -ERR_NOMEM;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		c->clients[i].fd = -1;
	c->path = strdup(path);
	c->session = strdup(session);
	c->guardian_pid = guardian_pid;
	c->ops = *ops;
	c->listen_fd = c->path && c->session ? listen_at(path) : -ERR_NOMEM;
	if (c->listen_fd < 0) {
		err = c->listen_fd;
		free(c->path);
		free(c->session);
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

static void drop(struct client *client)
{
	fd_drop(&client->fd);
	client->len_bytes = 0;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		drop(&c->clients[i]);
	(void)unlink(c->path);
	close(c->listen_fd);
	free(c->path);
	free(c->session);
	free(c);
}

size_t control_clients(const struct control *c)
{
	size_t n = 0;

	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		n += c->clients[i].fd >= 0;
	return n;
}

size_t control_poll(struct control *c, struct pollfd *p)
{
	p[0] = (struct pollfd){.fd = c->listen_fd, .events = POLLIN};
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		p[i + 1] = (struct pollfd){.fd = c->clients[i].fd, .events = POLLIN};
	return CONTROL_CLIENTS_MAX + 1;
}

/* ---- to clients ----------------------------------------------------------- */

/* Takes @message. A client that does not read is dropped: it must not make a
 * question wait. */
static void send_json(struct control *c, int only, json_t *message)
{
	auto_free char *text = NULL;
	struct buf line = BUF_INIT;

	if (!message)
		return;
	json_object_set_new(message, "session", json_string(c->session));
	text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	if (!text)
		return;
	buf_str(&line, text);
	buf_chr(&line, '\n');
	for (int i = 0; buf_text(&line) && i < CONTROL_CLIENTS_MAX; i++) {
		struct client *client = &c->clients[i];

		if (client->fd < 0 || (only >= 0 && only != i))
			continue;
		if (send(client->fd, line.data, line.len_bytes, MSG_NOSIGNAL | MSG_DONTWAIT) !=
		    (ssize_t)line.len_bytes)
			drop(client);
	}
	buf_free(&line);
}

static json_t *lines_of(const struct card *card)
{
	static const char *const names[CARD_LINES] = {
		[CARD_HEADLINE] = "headline",  [CARD_OBJECTS] = "objects",
		[CARD_STARTED] = "started_by", [CARD_BECAUSE] = "because",
		[CARD_REASON] = "reason",      [CARD_SEEN] = "seen_before",
		[CARD_NOTE] = "note",          [CARD_MORE] = "more",
	};
	json_t *lines = json_object();

	for (size_t i = 0; i < CARD_LINES; i++)
		if (names[i] && card->line[i])
			json_object_set_new(lines, names[i], json_string(card->line[i]));
	return lines;
}

void control_tell(struct control *c, int client, const struct card *card)
{
	json_t *rules = json_array();
	json_t *scopes = json_array();
	json_t *message;

	for (size_t i = 0; i < card->choices_n; i++)
		json_array_append_new(rules, json_string(card->allow[i]));
	json_array_append_new(scopes, json_string("once"));
	if (card->may_session)
		json_array_append_new(scopes, json_string("session"));
	if (card->may_always)
		json_array_append_new(scopes, json_string("always"));
	message = json_pack("{s:s, s:I, s:o, s:o, s:o}", "type", "question", "id",
	                    (json_int_t)card->id, "lines", lines_of(card), "rules", rules, "scopes",
	                    scopes);
	if (message && card->may_always)
		json_object_set_new(message, "never", json_string(card->deny));
	send_json(c, client, message);
}

void control_withdrawn(struct control *c, uint64_t id)
{
	send_json(c, -1, json_pack("{s:s, s:I}", "type", "withdrawn", "id", (json_int_t)id));
}

static void complain(struct control *c, int client, const char *text)
{
	send_json(c, client, json_pack("{s:s, s:s}", "type", "error", "text", text));
}

/* ---- from clients --------------------------------------------------------- */

static int word_of(const json_t *value, const char *const *words, int otherwise)
{
	const char *word = json_string_value(value);

	if (!value)
		return otherwise;
	for (int i = 0; word && words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

static bool parse_answer(const char *line, size_t len, struct control_answer *out)
{
	/* In the order of the enums. */
	static const char *const answers[] = {"no", "yes", "stop", NULL};
	static const char *const scopes[] = {"once", "session", "always", NULL};
	json_t *message = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *id = json_object_get(message, "id");
	json_int_t rule = json_integer_value(json_object_get(message, "rule"));
	int answer = word_of(json_object_get(message, "answer"), answers, -1);
	int scope = word_of(json_object_get(message, "scope"), scopes, 0);
	bool good = json_is_integer(id) && answer >= 0 && scope >= 0 && rule >= 0 &&
	            rule < RULE_CHOICES_MAX;

	if (good)
		*out = (struct control_answer){
			.id = (uint64_t)json_integer_value(id),
			.result = {.answer = (enum dialog_answer)answer,
		                   .scope = (enum dialog_scope)scope,
		                   .choice = (unsigned)rule},
		};
	json_decref(message);
	return good;
}

static void take_line(struct control *c, int i, const char *line, size_t len)
{
	struct control_answer answer;

	if (parse_answer(line, len, &answer))
		c->ops.answered(c->ops.ctx, &answer);
	else
		complain(c, i, "an answer is {\"id\":N,\"answer\":\"yes\"|\"no\"|\"stop\"}");
}

static void read_client(struct control *c, int i)
{
	struct client *client = &c->clients[i];
	ssize_t n = recv(client->fd, client->line + client->len_bytes,
	                 sizeof client->line - client->len_bytes, MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(client);
		return;
	}
	client->len_bytes += (size_t)n;
	while (client->fd >= 0 && (end = memchr(client->line, '\n', client->len_bytes))) {
		size_t len = (size_t)(end - client->line);

		take_line(c, i, client->line, len);
		client->len_bytes -= len + 1;
		memmove(client->line, end + 1, client->len_bytes);
	}
	if (client->len_bytes == sizeof client->line)
		drop(client);
}

/* Whether a peer may answer: see the head of control.h. */
static bool is_welcome(const struct control *c, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	if (peer.uid != geteuid() && peer.uid != 0)
		return false;
	return peer.pid > 0 && peer.pid != getpid() && peer.pid != c->guardian_pid &&
	       !freeze_tree_has(c->guardian_pid, peer.pid);
}

/* Never waits: the listening socket is non-blocking. Returns false: none is there. */
static bool accept_client(struct control *c)
{
	auto_fd fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED;
	if (!is_welcome(c, fd))
		return true;
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (c->clients[i].fd >= 0)
			continue;
		c->clients[i].fd = fd_take(&fd);
		c->clients[i].len_bytes = 0;
		c->ops.came(c->ops.ctx, c, i);
		break;
	}
	return true;
}

bool control_waits(const struct control *c)
{
	int events = file_ready(c->listen_fd, POLLIN);

	return events > 0 && (events & POLLIN);
}

void control_serve(struct control *c, const struct pollfd *p)
{
	for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (p[i + 1].revents && c->clients[i].fd == p[i + 1].fd && c->clients[i].fd >= 0)
			read_client(c, i);
	/* What poll(2) saw may be older than who has come. */
	for (int i = 0; i < ACCEPTED_AT_ONCE && accept_client(c); i++)
		continue;
}
