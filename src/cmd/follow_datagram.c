/* wary audit follow --to syslog|journald: a datagram for each row, over a local
 * socket.  Datagrams are not acknowledged; but the kernel tells how much of what
 * was sent has not been read yet, and whether the socket that it was sent to is
 * still there: both together say that all was read. */
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/follow.h"

#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* syslog's authpriv: only root reads it. */
#define FACILITY 10
enum severity { SEVERITY_ERROR = 3, SEVERITY_WARNING = 4, SEVERITY_INFO = 6 };
/* The rows of a batch are seldom longer than a socket's buffer then. */
#define SYSLOG_CUT_BYTES 1024
#define JOURNAL_CUT_BYTES 4096
#define MESSAGE_CUT_CHARS 512
#define POLL_FIRST_MS 1
#define POLL_LAST_MS 50
#define HOST_MAX_BYTES 255

static int check(struct follow_link *l)
{
	struct sockaddr_un sa;

	if (!l->argv[0] && *l->at && strlen(l->at) < sizeof sa.sun_path)
		return 0;
	log_error("audit follow --to %s: --at takes the path of a socket, shorter than %zu bytes",
	          l->kind->name, sizeof sa.sun_path);
	return AUDIT_USAGE;
}

static unsigned severity_of(const struct export_row *x)
{
	static const unsigned severities[] = {SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR};

	return severities[export_row_severity(x)];
}

/* ---- what is sent ---------------------------------------------------------- */

/* Of RFC 5424: printable ASCII, "-" for none. */
static void put_word(struct buf *out, const char *word)
{
	size_t n = 0;

	for (; n < HOST_MAX_BYTES && word[n]; n++)
		buf_chr(out, word[n] > ' ' && word[n] < 0x7f ? word[n] : '?');
	if (!n)
		buf_chr(out, '-');
}

static void put_syslog(struct buf *out, const struct export_row *x, bool again, size_t cut)
{
	time_t seconds = (time_t)(x->e->time_us / 1000000);
	struct tm tm = {0};

	(void)again;
	gmtime_r(&seconds, &tm);
	buf_fmt(out, "<%u>1 %04d-%02d-%02dT%02d:%02d:%02d.%06uZ ", FACILITY * 8 + severity_of(x),
	        tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
	        (unsigned)(x->e->time_us % 1000000));
	put_word(out, x->origin->host);
	buf_fmt(out, " wary %s ", x->origin->session);
	put_word(out, x->e->kind.bytes ? x->e->kind.bytes : "");
	buf_str(out, " - ");
	follow_json_line(out, x, cut);
}

#define EVENT(member) offsetof(struct read_event, member)
static const struct {
	const char *name;
	size_t at;
} texts[] =
	{
		{"KIND", EVENT(kind)},
		{"CLASS", EVENT(class)},
		{"ANSWER", EVENT(answer)},
		{"JUDGE", EVENT(judge)},
		{"PROGRAM", EVENT(program)},
		{"SYSCALL", EVENT(syscall)},
		{"OBJECT", EVENT(object)},
		{"OBJECT2", EVENT(object2)},
		{"RULE_FILE", EVENT(rule_file)},
		{"RULE_TEXT", EVENT(rule_text)},
		{"CWD", EVENT(cwd)},
		{"ARGV", EVENT(argv)},
		{"STACK", EVENT(stack)},
		{"SHA256", EVENT(sha256)},
},
  numbers[] =
	  {
		  {"ID", EVENT(id)},           {"SEQ", EVENT(seq)},
		  {"TIME_US", EVENT(time_us)}, {"TOOK_US", EVENT(took_us)},
		  {"FLAGS", EVENT(flags)},     {"RULE_LINE", EVENT(rule_line)},
},
  short_numbers[] = {
	  {"PID", EVENT(pid)}, {"TID", EVENT(tid)}, {"PPID", EVENT(ppid)}, {"UID", EVENT(uid)}};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void put_texts(struct buf *out, const struct export_row *x)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct rows_text t;

		memcpy(&t, (const char *)x->e + texts[i].at, sizeof t);
		if (!t.len_bytes)
			continue;
		buf_fmt(out, "WARY_%s=", texts[i].name);
		export_row_text(out, x, &t);
		buf_chr(out, '\n');
	}
}

static void put_numbers(struct buf *out, const struct export_row *x)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		uint64_t n;

		memcpy(&n, (const char *)x->e + numbers[i].at, sizeof n);
		buf_fmt(out, "WARY_%s=%llu\n", numbers[i].name, (unsigned long long)n);
	}
	for (size_t i = 0; i < COUNT(short_numbers); i++) {
		uint32_t n;

		memcpy(&n, (const char *)x->e + short_numbers[i].at, sizeof n);
		buf_fmt(out, "WARY_%s=%u\n", short_numbers[i].name, n);
	}
	buf_fmt(out, "WARY_REASON=%lld\n", (long long)x->e->reason);
	if (x->e->known)
		buf_fmt(out, "WARY_RESULT=%lld\n", (long long)x->e->result);
	if (x->e->has_size)
		buf_fmt(out, "WARY_SIZE_BEFORE=%llu\nWARY_LINKS_LEFT=%llu\n",
		        (unsigned long long)x->e->size_before,
		        (unsigned long long)x->e->links_left);
}

/* Printable text has no line ends: every field is NAME=VALUE on one line. */
static void put_journal(struct buf *out, const struct export_row *x, bool again, size_t cut)
{
	struct export_row message = *x;

	(void)again;
	message.cut_chars = MESSAGE_CUT_CHARS;
	buf_str(out, "MESSAGE=");
	export_row_message(out, &message);
	buf_fmt(out, "\nPRIORITY=%u\nSYSLOG_FACILITY=%u\nSYSLOG_IDENTIFIER=wary\nWARY_SESSION=%s\n",
	        severity_of(x), FACILITY, x->origin->session);
	if (cut)
		buf_fmt(out, "WARY_CUT=%zu\n", cut);
	put_numbers(out, x);
	put_texts(out, x);
}

/* ---- sending --------------------------------------------------------------- */

static enum follow_result failed(struct follow_link *l, int error)
{
	fd_drop(&l->fd);
	if (error == EMSGSIZE)
		return FOLLOW_SMALLER;
	if (error != EPROTOTYPE && error != EACCES && error != EPERM)
		return FOLLOW_AWAY;
	log_error("audit follow: %s: %s", l->at,
	          error == EPROTOTYPE ? "this is not a socket for datagrams"
	                              : strerrordesc_np(error));
	return FOLLOW_REFUSED;
}

static enum follow_result reach(struct follow_link *l)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (l->fd >= 0)
		return FOLLOW_TAKEN;
	memcpy(sa.sun_path, l->at, strlen(l->at));
	l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return FOLLOW_AWAY;
	if (connect(l->fd, (const struct sockaddr *)&sa, sizeof sa) != 0)
		return failed(l, errno);
	return FOLLOW_TAKEN;
}

static enum follow_result send_one(struct follow_link *l, const char *bytes, size_t len_bytes)
{
	while (send(l->fd, bytes, len_bytes, MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS)
			return failed(l, errno);
		if (follow_wait(l, l->fd, POLLOUT, errno == ENOBUFS ? POLL_LAST_MS : -1) < 0)
			return FOLLOW_AWAY;
	}
	return FOLLOW_TAKEN;
}

/* A receiver that is gone has read nothing more, and what it had not read is
 * not counted any longer: whether it is gone is asked after, with an empty
 * datagram, which receivers pass over. */
static enum follow_result wait_until_read(struct follow_link *l)
{
	int unread = 1;

	for (int ms = POLL_FIRST_MS;; ms = ms < POLL_LAST_MS ? ms * 2 : POLL_LAST_MS) {
		if (ioctl(l->fd, SIOCOUTQ, &unread) != 0)
			return failed(l, errno);
		if (!unread)
			return send_one(l, "", 0);
		if (follow_wait(l, -1, 0, ms) < 0)
			return FOLLOW_AWAY;
	}
}

static enum follow_result deliver(struct follow_link *l, const struct follow_batch *b)
{
	enum follow_result got = reach(l);
	size_t begin = 0;

	for (unsigned i = 0; i < b->rows && got == FOLLOW_TAKEN; i++) {
		got = send_one(l, b->text.data + begin, b->ends[i] - begin);
		begin = b->ends[i];
	}
	return got == FOLLOW_TAKEN ? wait_until_read(l) : got;
}

const struct follow_kind follow_syslog = {
	.name = "syslog",
	.at = "/dev/log",
	.cut_bytes = SYSLOG_CUT_BYTES,
	.check = check,
	.row = put_syslog,
	.deliver = deliver,
};

const struct follow_kind follow_journald = {
	.name = "journald",
	.at = "/run/systemd/journal/socket",
	.cut_bytes = JOURNAL_CUT_BYTES,
	.check = check,
	.row = put_journal,
	.deliver = deliver,
};
