/* `wary approve`: answers the questions of running sessions from another
 * terminal, or as lines of JSON for a program. */
#include "cmd/approve.h"

#include "ask/control.h"
#include "ask/dialog.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SESSIONS_MAX 64
#define SESSION_NAME_MAX 32
/* How often to look for sessions that have begun. */
#define LOOK_MS 1000

static const char usage[] =
	"usage: wary approve [--json]\n"
	"\n"
	"Shows the questions of this user's running sessions and answers them, until it is\n"
	"ended with Ctrl-C. Run it on a terminal that no supervised program shares.\n"
	"\n"
	"      --json   print questions as lines of JSON, read answers from standard input:\n"
	"               {\"session\":\"a3f9\",\"id\":7,\"answer\":\"yes\",\"scope\":\"once\"}\n"
	"      --help   this text\n";

struct link {
	int fd; /* -1: free */
	char session[SESSION_NAME_MAX];
	struct buf text; /* read and not taken yet */
};

struct approve {
	char *folder;
	bool json;
	int tty_fd;
	struct link links[SESSIONS_MAX];
	json_t *queue;    /* questions that came and are not answered yet */
	struct buf input; /* --json: of standard input */
	bool input_ended;
};

/* ---- where ------------------------------------------------------------------ */

char *approve_folder(const struct folders *f)
{
	struct stat st;
	bool runtime = lstat(f->runtime, &st) == 0 && S_ISDIR(st.st_mode) &&
	               st.st_uid == geteuid() && !(st.st_mode & 022);

	return runtime ? paths_join(f->runtime, "wary") : paths_join(f->state, "wary/run");
}

char *approve_socket(const struct folders *f, const char *session_id)
{
	auto_free char *folder = approve_folder(f);
	struct buf path = BUF_INIT;

	if (!folder)
		return NULL;
	buf_fmt(&path, "%s/%s.sock", folder, session_id);
	return buf_take(&path);
}

/* ---- links to sessions ------------------------------------------------------ */

static struct link *link_named(struct approve *a, const char *session)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->links[i].fd >= 0 && strcmp(a->links[i].session, session) == 0)
			return &a->links[i];
	return NULL;
}

static struct link *link_free(struct approve *a)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (a->links[i].fd < 0)
			return &a->links[i];
	return NULL;
}

static void link_close(struct link *l)
{
	fd_drop(&l->fd);
	buf_free(&l->text);
}

static void link_open(struct approve *a, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(name) - strlen(".sock");
	struct link *l = link_free(a);
	auto_fd fd = -1;
	char session[SESSION_NAME_MAX];

	if (!l || len >= sizeof session)
		return;
	memcpy(session, name, len);
	session[len] = '\0';
	if (link_named(a, session) ||
	    (size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", a->folder, name) >=
	            sizeof address.sun_path)
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Of a session that was killed: nobody listens. */
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
		return;
	l->fd = fd_take(&fd);
	memcpy(l->session, session, sizeof session);
}

static void find_sessions(struct approve *a)
{
	DIR *dir = opendir(a->folder);

	if (!dir)
		return;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		size_t len = strlen(e->d_name);

		if (len > 5 && strcmp(e->d_name + len - 5, ".sock") == 0)
			link_open(a, e->d_name);
	}
	closedir(dir);
}

static void send_line(struct link *l, const char *text)
{
	size_t len = strlen(text);

	if (send(l->fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		link_close(l);
}

/* ---- on a terminal ---------------------------------------------------------- */

static char *string_of(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return s ? strdup(s) : NULL;
}

/* The card of a question as the session sent it. The session's own text is
 * printable; it is not trusted to be. */
static void card_from(const json_t *message, struct card *c)
{
	static const char *const names[CARD_LINES] = {
		[CARD_HEADLINE] = "headline",  [CARD_OBJECTS] = "objects",
		[CARD_STARTED] = "started_by", [CARD_BECAUSE] = "because",
		[CARD_REASON] = "reason",      [CARD_SEEN] = "seen_before",
		[CARD_NOTE] = "note",          [CARD_MORE] = "more",
	};
	const json_t *lines = json_object_get(message, "lines");
	const json_t *rules = json_object_get(message, "rules");
	const json_t *scopes = json_object_get(message, "scopes");

	*c = (struct card){.id = (uint64_t)json_integer_value(json_object_get(message, "id"))};
	for (size_t i = 0; i < CARD_LINES; i++)
		c->line[i] = names[i] ? string_of(lines, names[i]) : NULL;
	c->deny = string_of(message, "never");
	for (size_t i = 0; i < json_array_size(rules) && i < RULE_CHOICES_MAX; i++) {
		const char *rule = json_string_value(json_array_get(rules, i));

		c->allow[i] = rule ? strdup(rule) : NULL;
		if (!c->allow[i])
			break;
		c->choices_n++;
	}
	c->may_session = json_array_size(scopes) > 1;
	c->may_always = json_array_size(scopes) > 2 && c->choices_n && c->deny;
}

static void send_answer(struct link *l, uint64_t id, const struct dialog_result *r)
{
	static const char *const answers[] = {"no", "yes", "stop"};
	static const char *const scopes[] = {"once", "session", "always"};
	struct buf line = BUF_INIT;

	buf_fmt(&line, "{\"id\":%llu,\"answer\":\"%s\",\"scope\":\"%s\",\"rule\":%u}\n",
	        (unsigned long long)id, answers[r->answer], scopes[r->scope], r->choice);
	if (buf_text(&line))
		send_line(l, buf_text(&line));
	buf_free(&line);
}

static bool is_about(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "id"), json_object_get(b, "id")) &&
	       json_equal(json_object_get(a, "session"), json_object_get(b, "session"));
}

static void unqueue(struct approve *a, const json_t *message)
{
	for (size_t i = json_array_size(a->queue); i--;)
		if (is_about(json_array_get(a->queue, i), message))
			json_array_remove(a->queue, i);
}

/* Shows a question. It stays in the queue until it is answered: another message
 * of its session ends the dialog, which is begun again if it was not about this
 * one. Returns false where the terminal is gone. */
static bool show_question(struct approve *a, struct link *l, const json_t *message)
{
	struct dialog_result result = {.answer = DIALOG_LOST};
	struct card c;
	struct term t;

	card_from(message, &c);
	if (c.line[CARD_HEADLINE] && term_take(&t, a->tty_fd, l->fd) == 0) {
		dialog_run(&t, &c, &result);
		term_give_back(&t);
		if (result.answer <= DIALOG_STOP)
			send_answer(l, c.id, &result);
	}
	card_free(&c);
	if (result.answer <= DIALOG_STOP)
		unqueue(a, message);
	return result.answer != DIALOG_LOST;
}

/* The first of the queue whose session still runs. */
static bool show_first(struct approve *a)
{
	const json_t *message = json_array_get(a->queue, 0);
	const char *session = json_string_value(json_object_get(message, "session"));
	struct link *l = session ? link_named(a, session) : NULL;

	if (!message)
		return true;
	if (l)
		return show_question(a, l, message);
	json_array_remove(a->queue, 0);
	return true;
}

/* ---- messages --------------------------------------------------------------- */

/* One line of a session. Returns false where there is nobody to show it to. */
static bool take_message(struct approve *a, const char *line, size_t len)
{
	json_t *message;
	const char *type;

	if (a->json) {
		printf("%.*s\n", (int)len, line);
		return fflush(stdout) == 0;
	}
	message = json_loadb(line, len, 0, NULL);
	type = json_string_value(json_object_get(message, "type"));
	if (type && strcmp(type, "question") == 0)
		json_array_append(a->queue, message);
	else if (type && strcmp(type, "withdrawn") == 0)
		unqueue(a, message);
	json_decref(message);
	return true;
}

/* Drops the first @n bytes. */
static void forget(struct buf *b, size_t n)
{
	memmove(b->data, b->data + n, b->len_bytes - n + 1);
	b->len_bytes -= n;
}

static bool read_link(struct approve *a, struct link *l)
{
	char bytes[8192];
	ssize_t n = recv(l->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		link_close(l);
		return true;
	}
	buf_add(&l->text, bytes, (size_t)n);
	while (l->text.len_bytes && (end = memchr(l->text.data, '\n', l->text.len_bytes))) {
		size_t len = (size_t)(end - l->text.data);
		auto_buf line = BUF_INIT;

		buf_add(&line, l->text.data, len);
		forget(&l->text, len + 1);
		if (buf_text(&line) && !take_message(a, buf_text(&line), len))
			return false;
	}
	return !l->text.failed;
}

/* --json: an answer goes to the session that it names. */
static void take_input(struct approve *a, const char *line, size_t len)
{
	json_t *answer = json_loadb(line, len, 0, NULL);
	const char *session = json_string_value(json_object_get(answer, "session"));
	struct link *l = session ? link_named(a, session) : NULL;
	auto_buf text = BUF_INIT;

	buf_add(&text, line, len);
	buf_chr(&text, '\n');
	if (l && len < CONTROL_LINE_MAX && buf_text(&text))
		send_line(l, buf_text(&text));
	else
		log_error("approve: no running session is named by this line");
	json_decref(answer);
}

static void read_input(struct approve *a)
{
	char bytes[4096];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	char *end;

	if (n <= 0) {
		a->input_ended = true;
		return;
	}
	buf_add(&a->input, bytes, (size_t)n);
	while (a->input.len_bytes && (end = memchr(a->input.data, '\n', a->input.len_bytes))) {
		size_t len = (size_t)(end - a->input.data);

		take_input(a, a->input.data, len);
		forget(&a->input, len + 1);
	}
	a->input_ended = a->input_ended || a->input.failed;
}

static int serve(struct approve *a)
{
	for (;;) {
		struct pollfd p[SESSIONS_MAX + 1];

		find_sessions(a);
		for (size_t i = 0; i < SESSIONS_MAX; i++)
			p[i] = (struct pollfd){.fd = a->links[i].fd, .events = POLLIN};
		p[SESSIONS_MAX] =
			(struct pollfd){.fd = a->json ? STDIN_FILENO : -1, .events = POLLIN};
		if (poll(p, SESSIONS_MAX + 1, json_array_size(a->queue) ? 0 : LOOK_MS) < 0 &&
		    errno != EINTR)
			return CMD_FAILED;
		for (size_t i = 0; i < SESSIONS_MAX; i++)
			if (p[i].revents && p[i].fd >= 0 && !read_link(a, &a->links[i]))
				return CMD_FAILED;
		if (p[SESSIONS_MAX].revents)
			read_input(a);
		if (!show_first(a))
			return CMD_FAILED;
		if (a->input_ended)
			return 0;
	}
}

/* A terminal of this process's own group, where keys are read raw. */
static int open_terminal(struct approve *a)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	a->tty_fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (a->tty_fd < 0) {
		log_error("approve: no terminal to ask on (see --json)");
		return CMD_FAILED;
	}
	(void)sigaction(SIGTTOU, &ignore, NULL);
	printf("waiting for questions; Ctrl-C ends this\n");
	return fflush(stdout) == 0 ? 0 : CMD_FAILED;
}

static int run(struct approve *a)
{
	struct folders folders;
	int status = folders_find(&folders) ? CMD_FAILED : 0;

	a->folder = status ? NULL : approve_folder(&folders);
	folders_free(&folders);
	if (!a->folder)
		return CMD_FAILED;
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		a->links[i].fd = -1;
	if (!a->json)
		status = open_terminal(a);
	if (!status)
		status = serve(a);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		link_close(&a->links[i]);
	fd_drop(&a->tty_fd);
	buf_free(&a->input);
	free(a->folder);
	return status;
}

int cmd_approve(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct approve *a;
	bool json = false;
	int status;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'j')
			json = true;
		else if (option == 'h')
			return fputs(usage, stdout) < 0 || fflush(stdout) != 0 ? CMD_FAILED : 0;
		else
			return CMD_FAILED;
	}
	if (optind < argc) {
		log_error("approve: takes no arguments; see \"wary approve --help\"");
		return CMD_FAILED;
	}
	a = calloc(1, sizeof *a);
	if (!a)
		return CMD_FAILED;
	a->json = json;
	a->tty_fd = -1;
	a->queue = json_array();
	status = a->queue ? run(a) : CMD_FAILED;
	json_decref(a->queue);
	free(a);
	return status;
}
