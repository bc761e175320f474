/* ask: questions on a terminal, played on a pty. One process is the person
 * (the pty's master); the other is a session with a guardian, a tree below it,
 * and threads that ask. */
#include "ask/ask.h"
#include "base/text.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 60000

/* What the session tells the person's side; shared memory. */
struct shared {
	_Atomic int answer, scope, remembered;
	_Atomic bool done, cancelled;
	_Atomic unsigned ticks; /* the tree's own clock: stands still when frozen */
	_Atomic bool terminal_same;
	char rule[512];
	char answers[512];
};

static struct shared *shared;

/* ---- the session -------------------------------------------------------- */

static struct facts reading(const char *object)
{
	return (struct facts){
		.class = CLASS_READ,
		.object = object,
		.by = {.path = "/usr/bin/cat", .fixed = true, .nameable = true},
		.under_known = true,
	};
}

static const struct verdict ask_verdict = {
	.answer = ANSWER_ASK, .file = "agent.wary", .line = 31, .text = "ask read ~/docs/**"};

/* A hostile tree: a grandchild that ticks, writes and types ahead. */
static void run_tree(void)
{
	const struct timespec pause = {.tv_nsec = 200000};

	if (fork() == 0) {
		signal(SIGTTOU, SIG_IGN);
		for (;;) {
			shared->ticks++;
			if (write(STDERR_FILENO, "\rHOSTILE\r", 9) < 0)
				_exit(1);
			nanosleep(&pause, NULL);
		}
	}
	for (;;)
		nanosleep(&pause, NULL);
}

static pid_t start_guardian(bool tree)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (tree && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_tree();
		}
		for (;;)
			pause();
	}
	return pid;
}

struct scenario {
	const char *object;
	struct verdict verdict;
	unsigned times; /* ask so often, one after the other */
	bool tree;
	bool cancel; /* the caller goes away after the question is shown */
};

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && a->c_cc[VMIN] == b->c_cc[VMIN] &&
	       a->c_cc[VTIME] == b->c_cc[VTIME];
}

static void session(const struct scenario *s)
{
	struct termios before;
	struct termios after;
	struct ask *a = NULL;
	struct facts f = reading(s->object);
	struct ask_question q = {.facts = &f,
	                         .verdicts = &s->verdict,
	                         .n = 1,
	                         .pid = 4790,
	                         .cancelled = s->cancel ? &shared->cancelled : NULL};
	struct ask_reply reply = {0};
	struct ask_config config = {.session_id = "a3f9", .home = "/home/ana"};

	tcgetattr(STDIN_FILENO, &before);
	if (ask_start(&a) != 0)
		_exit(3);
	config.guardian_pid = start_guardian(s->tree);
	config.answers_path = shared->answers;
	if (ask_begin(a, &config) != 0)
		_exit(4);
	for (unsigned i = 0; i < s->times; i++)
		shared->answer = ask_put(a, &q, &reply);
	shared->scope = (int)reply.scope;
	shared->remembered = reply.remembered;
	memcpy(shared->rule, reply.rule, sizeof shared->rule);
	if (s->cancel)
		ask_stop(a);
	tcgetattr(STDIN_FILENO, &after);
	shared->terminal_same = same_modes(&before, &after) && tcgetpgrp(STDIN_FILENO) == getpgrp();
	if (!s->cancel)
		ask_stop(a);
	shared->done = true;
	/* All of the tree is in this process group. */
	kill(0, SIGKILL);
	_exit(0);
}

/* ---- the person ----------------------------------------------------------- */

struct person {
	int fd;
	pid_t pid;
	struct buf seen;
};

static void person_start(struct person *p, const struct scenario *s)
{
	*p = (struct person){0};
	shared->done = shared->cancelled = false;
	shared->answer = -1;
	p->pid = forkpty(&p->fd, NULL, NULL, NULL);
	if (p->pid == 0)
		session(s);
}

/* Reads until @text has been seen; what was seen stays. Returns whether. */
static bool person_sees(struct person *p, const char *text)
{
	for (int waited = 0; waited < WAIT_MS;) {
		struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
		char bytes[4096];
		ssize_t n;

		if (p->seen.data && memmem(p->seen.data, p->seen.len_bytes, text, strlen(text)))
			return true;
		if (poll(&poll_fd, 1, 100) <= 0) {
			waited += 100;
			continue;
		}
		n = read(p->fd, bytes, sizeof bytes);
		if (n <= 0)
			return false;
		buf_add(&p->seen, bytes, (size_t)n);
	}
	return false;
}

static void person_types(struct person *p, const char *text)
{
	if (write(p->fd, text, strlen(text)) < 0)
		tap_ok(false, "typing: %s", strerror(errno));
}

/* The code of the last "type  CODE  ". */
static bool person_reads_code(struct person *p, char *code)
{
	const char *at = NULL;

	if (!person_sees(p, ", type  "))
		return false;
	for (size_t i = 0; i + 12 < p->seen.len_bytes; i++)
		if (memcmp(p->seen.data + i, ", type  ", 8) == 0)
			at = p->seen.data + i + 8;
	if (!at || !person_sees(p, "›"))
		return false;
	memcpy(code, at, 4);
	code[4] = '\0';
	return true;
}

static bool wait_done(struct person *p)
{
	for (int waited = 0; waited < WAIT_MS && !shared->done; waited += 20) {
		struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
		char bytes[4096];
		ssize_t n;

		if (poll(&poll_fd, 1, 20) > 0) {
			n = read(p->fd, bytes, sizeof bytes);
			if (n > 0)
				buf_add(&p->seen, bytes, (size_t)n);
		}
	}
	return shared->done;
}

static void person_end(struct person *p, const char *what)
{
	tap_ok(wait_done(p), "%s: answered", what);
	tap_ok(shared->terminal_same, "%s: the terminal is as it was", what);
	kill(p->pid, SIGKILL);
	close(p->fd);
	waitpid(p->pid, NULL, 0);
	buf_free(&p->seen);
}

static void answer_with_code(struct person *p, const char *key)
{
	char code[5] = "";

	if (!person_sees(p, "[i] more"))
		tap_ok(false, "the question is shown");
	person_types(p, key);
	tap_ok(person_reads_code(p, code), "a code is asked for");
	person_types(p, code);
}

/* ---- cases ------------------------------------------------------------------ */

static void test_yes(void)
{
	struct scenario s = {.object = "/home/ana/docs/a", .verdict = ask_verdict, .times = 1};
	struct person p;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "cat (4790) wants to read ~/docs/a"), "who wants what is shown");
	tap_ok(person_sees(&p, "agent.wary:31  ask read ~/docs/**"), "and the rule");
	answer_with_code(&p, "y");
	person_end(&p, "yes");
	tap_is_int(shared->answer, ASK_YES, "a yes with its code is a yes");
	tap_is_int(shared->scope, ASK_ONCE, "once");
}

static void test_no(void)
{
	static const char *const keys[] = {"n", "\003", "\004"};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1};
		struct person p;

		person_start(&p, &s);
		tap_ok(person_sees(&p, "[i] more"), "the question is shown");
		person_types(&p, keys[i]);
		person_end(&p, "no");
		tap_is_int(shared->answer, ASK_NO, "key \\x%02x is a no", keys[i][0]);
	}
}

static void test_stop(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1};
	struct person p;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	person_types(&p, "k");
	person_end(&p, "stop");
	tap_is_int(shared->answer, ASK_STOP, "k stops all");
}

/* What a terminal could be made to send is no answer. */
static void test_reports(void)
{
	static const char *const reports[] = {
		"\033[?1;2c",
		"\033[0n",
		"\033[24;80R",
		"\033]lyyyy\033\\",
		"\033P1$rynNk\033\\",
		"\033[M nk",
		"\033]11;rgb:0000/nnnn/kkkk\a",
		"\033OA",
		"\033[<0;10;10M",
	};
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1};
	struct person p;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++)
		person_types(&p, reports[i]);
	answer_with_code(&p, "y");
	person_end(&p, "reports");
	tap_is_int(shared->answer, ASK_YES, "reports of the terminal are no keys");
}

static void test_wrong_code(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1};
	struct person p;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	person_types(&p, "y");
	tap_ok(person_sees(&p, ", type  "), "a code is asked for");
	person_types(&p, "0000");
	tap_ok(person_sees(&p, "that was not the code"), "a wrong code allows nothing");
	person_types(&p, "n");
	person_end(&p, "wrong code");
	tap_is_int(shared->answer, ASK_NO, "and then no");
}

static void test_typed_ahead(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1, .tree = true};
	struct person p;

	person_start(&p, &s);
	for (int i = 0; i < 20; i++)
		person_types(&p, "nk");
	answer_with_code(&p, "y");
	person_end(&p, "typed ahead");
	/* What came before the question was flushed; what raced with its start
	 * may have been read as a key, and then only as a refusal. */
	tap_ok(shared->answer == ASK_YES || shared->answer == ASK_NO || shared->answer == ASK_STOP,
	       "keys typed ahead never allow");
}

static void test_session_and_memory(void)
{
	struct scenario s = {.object = "/home/ana/docs/a", .verdict = ask_verdict, .times = 3};
	struct person p;

	person_start(&p, &s);
	answer_with_code(&p, "s");
	person_end(&p, "session");
	tap_is_int(shared->answer, ASK_YES, "a yes for the session holds");
	tap_is_int(shared->remembered, 1, "nobody was asked again");
}

static void test_for(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 2};
	struct person p;

	s.verdict.for_s = 600;
	person_start(&p, &s);
	answer_with_code(&p, "y");
	person_end(&p, "for");
	tap_is_int(shared->remembered, 1, "a yes is kept for the time that the rule says");
}

static void test_each(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 2};
	struct person p;

	s.verdict.each = true;
	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	tap_ok(!memmem(p.seen.data, p.seen.len_bytes, "[s]", 3) &&
	               !memmem(p.seen.data, p.seen.len_bytes, "[a]", 3) &&
	               !memmem(p.seen.data, p.seen.len_bytes, "[N]", 3),
	       "each: nothing lasting is offered");
	person_types(&p, "s");
	answer_with_code(&p, "y");
	buf_reset(&p.seen);
	tap_ok(person_sees(&p, "[i] more"), "each: asked again");
	person_types(&p, "n");
	person_end(&p, "each");
	tap_is_int(shared->answer, ASK_NO, "and answered by itself");
}

static char *read_answers(void)
{
	struct buf text = BUF_INIT;
	int fd = open(shared->answers, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || buf_read_file(&text, fd) != 0)
		buf_str(&text, "");
	if (fd >= 0)
		close(fd);
	return buf_take(&text);
}

static void test_always(void)
{
	struct scenario s = {.object = "/home/ana/docs/a b", .verdict = ask_verdict, .times = 2};
	struct person p;
	struct stat st = {0};
	char code[5] = "";
	char *text;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	person_types(&p, "a");
	tap_ok(person_sees(&p, "allow read \"/home/ana/docs/a b\" by /usr/bin/cat"),
	       "the narrowest rule is offered first");
	person_types(&p, "\033[B");
	tap_ok(person_sees(&p, "allow read \"/home/ana/docs/a b\"\r\n"), "then a wider one");
	person_types(&p, "\033[B\033[B\033[B\033[B");
	tap_ok(person_sees(&p, "allow read /home/ana/docs/**\r\n"), "and the widest");
	person_types(&p, "\033[A");
	person_types(&p, "\r");
	tap_ok(person_reads_code(&p, code), "a code is asked for");
	text = read_answers();
	tap_is_str(text, "", "nothing is written before the code");
	free(text);
	person_types(&p, code);
	person_end(&p, "always");
	tap_is_int(shared->answer, ASK_YES, "always is a yes");
	tap_is_int(shared->remembered, 1, "and holds at once");
	text = read_answers();
	tap_ok(text && strncmp(text, "wary 1\n", 7) == 0, "a policy file");
	tap_ok(text && strstr(text, "session a3f9\nallow read /home/ana/docs/** by /usr/bin/cat\n"),
	       "the rule is in it, dated");
	free(text);
	tap_ok(stat(shared->answers, &st) == 0 && (st.st_mode & 0777) == 0600, "mode 0600");
}

static void test_never(void)
{
	struct scenario s = {.object = "/b", .verdict = ask_verdict, .times = 2};
	struct person p;
	char *text;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	person_types(&p, "N");
	tap_ok(person_sees(&p, "deny read /b\r\n"), "the rule is shown");
	person_types(&p, "\r");
	person_end(&p, "never");
	tap_is_int(shared->answer, ASK_NO, "never is a no");
	tap_is_int(shared->remembered, 1, "that is not asked again");
	text = read_answers();
	tap_ok(text && strstr(text, "\ndeny read /b\n"), "the rule is in the answers");
	free(text);
}

/* While the box is shown the tree neither runs nor writes; afterwards it does. */
static void test_frozen(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1, .tree = true};
	struct person p;
	unsigned ticks;
	size_t at;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	at = (size_t)((char *)memmem(p.seen.data, p.seen.len_bytes, "wary asks", 9) - p.seen.data);
	ticks = shared->ticks;
	person_types(&p, "i");
	for (int i = 0; i < 5; i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		nanosleep(&pause, NULL);
	}
	tap_is_int(shared->ticks, ticks, "the tree stands still");
	person_types(&p, "?");
	tap_ok(!memmem(p.seen.data + at, p.seen.len_bytes - at, "HOSTILE", 7),
	       "nothing is written over the box");
	ticks = shared->ticks;
	person_types(&p, "n");
	for (int waited = 0; waited < WAIT_MS && !shared->done && shared->ticks == ticks;
	     waited += 5)
		(void)poll(NULL, 0, 5);
	tap_ok(shared->ticks != ticks || shared->done, "it goes on afterwards");
	person_end(&p, "frozen");
}

static void test_cancelled(void)
{
	struct scenario s = {.object = "/a", .verdict = ask_verdict, .times = 1, .cancel = true};
	struct person p;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	shared->cancelled = true;
	person_end(&p, "cancelled");
	tap_is_int(shared->answer, ASK_GONE, "a caller that goes takes its question along");
}

static void test_hostile_name(void)
{
	struct scenario s = {.object = "/a/x\x1b[2K\rAllow?\b\xe2\x80\xae\x9b\nfake",
	                     .verdict = ask_verdict,
	                     .times = 1};
	struct person p;
	const char *box;
	size_t len;

	person_start(&p, &s);
	tap_ok(person_sees(&p, "[i] more"), "the question is shown");
	box = memmem(p.seen.data, p.seen.len_bytes, "/a/x", 4);
	len = box ? p.seen.len_bytes - (size_t)(box - p.seen.data) : 0;
	tap_ok(box && memmem(box, len, "\\nfake", 6), "the whole name is shown, escaped");
	tap_ok(box && !memchr(box, 27, len) && !memchr(box, '\b', len) && !memchr(box, 0x9b, len) &&
	               !memmem(box, len, "\xe2\x80\xae", 3) && !memmem(box, len, "\nfake", 5),
	       "nothing of it reaches the terminal raw");
	person_types(&p, "n");
	person_end(&p, "hostile name");
}

static void *put_in_thread(void *arg)
{
	static const struct verdict verdict = {.answer = ANSWER_ASK, .file = "x", .line = 1};
	struct facts f = reading("/same");
	struct ask_question q = {.facts = &f, .verdicts = &verdict, .n = 1, .pid = 1};
	struct ask_reply reply;

	return (void *)(long)ask_put(arg, &q, &reply);
}

/* Without a terminal and socket: at once. Many threads: each is answered. */
static void test_nobody(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct ask_config config = {.guardian_pid = 1, .session_id = "a3f9"};
		pthread_t threads[16];
		struct ask *a = NULL;
		long wrong = 0;

		setsid();
		if (ask_start(&a) != 0 || ask_is_terminal(a) || ask_begin(a, &config) != 0)
			_exit(2);
		for (size_t i = 0; i < 16; i++)
			if (pthread_create(&threads[i], NULL, put_in_thread, a) != 0)
				_exit(3);
		for (size_t i = 0; i < 16; i++) {
			void *answer;

			pthread_join(threads[i], &answer);
			wrong += (long)answer != ASK_NOBODY;
		}
		ask_stop(a);
		_exit(wrong ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "no terminal: nobody, at once");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[256];

	setenv("LANG", "C.UTF-8", 1);
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	signal(SIGPIPE, SIG_IGN);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (shared == MAP_FAILED)
		return 1;
	snprintf(path, sizeof path, "%s/ask_terminal.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path))
		return 1;
	snprintf(shared->answers, sizeof shared->answers, "%s/answers/default.wary", path);
	test_nobody();
	test_yes();
	test_no();
	test_stop();
	test_reports();
	test_wrong_code();
	test_typed_ahead();
	test_session_and_memory();
	test_for();
	test_each();
	test_always();
	test_never();
	test_frozen();
	test_cancelled();
	test_hostile_name();
	unlink(shared->answers);
	*strrchr(shared->answers, '/') = '\0';
	rmdir(shared->answers);
	rmdir(path);
	return tap_done();
}
