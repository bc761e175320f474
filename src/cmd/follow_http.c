/* wary audit follow --to otlp-http: each batch as one POST of OTLP in JSON, in
 * plain HTTP/1.1.  The answer acknowledges it. */
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/export_formats.h"
#include "cmd/follow.h"

#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX_BYTES ((size_t)64 << 10)
/* Without a byte for so long the receiver counts as away. */
#define PATIENCE_MS 30000
#define CONNECT_MS 10000
/* And in whole: one that sends a byte now and then holds up nothing for longer. */
#define REQUEST_MS 120000
#define SCHEME "http://"
#define DEFAULT_PATH "/v1/logs"

/* ---- where ------------------------------------------------------------------ */

static int bad_url(const struct follow_link *l, const char *why)
{
	auto_free char *shown = text_printable_str(l->at, 256);

	log_error("audit follow --to otlp-http: %s: %s", shown, why);
	return AUDIT_USAGE;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f)
			return false;
	return true;
}

/* HOST or [HOST], then :PORT where there is one. */
static int take_host(struct follow_link *l, const char *host, size_t len_bytes)
{
	const char *end = host + len_bytes;
	const char *close = *host == '[' ? memchr(host, ']', len_bytes) : NULL;
	const char *colon =
		memchr(close ? close : host, ':', (size_t)(end - (close ? close : host)));
	const char *last = colon ? colon : end;
	unsigned long long port = 80;

	l->host = close ? strndup(host + 1, (size_t)(close - host - 1))
	                : strndup(host, (size_t)(last - host));
	l->port = colon ? strndup(colon + 1, (size_t)(end - colon - 1)) : strdup("80");
	invariant(l->host && l->port);
	if (!*l->host || (close && close + 1 != last) || memchr(host, '@', len_bytes))
		return bad_url(l, "this is no host");
	if (text_number(l->port, UINT16_MAX, &port) != 0 || !port)
		return bad_url(l, "this is no port");
	return 0;
}

static int check(struct follow_link *l)
{
	const char *host;
	const char *slash;

	if (!l->at || l->argv[0])
		return audit_usage("follow");
	if (text_starts(l->at, "https://"))
		return bad_url(l,
		               "TLS is not spoken here: give the http:// address of a collector on "
		               "this machine, which may send it on");
	if (!text_starts(l->at, SCHEME) || !is_plain(l->at))
		return bad_url(l, "write http://HOST:PORT/v1/logs");
	host = l->at + strlen(SCHEME);
	slash = strchr(host, '/');
	l->path = strdup(slash && slash[1] ? slash : DEFAULT_PATH);
	invariant(l->path != NULL);
	return take_host(l, host, slash ? (size_t)(slash - host) : strlen(host));
}

static void put_row(struct buf *out, const struct export_row *x, bool again, size_t cut)
{
	(void)cut;
	export_otlp(out, x, again);
}

/* ---- the connection --------------------------------------------------------- */

/* Returns a connected descriptor, or -1. */
static int try_one(const struct follow_link *l, const struct addrinfo *to)
{
	auto_fd fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = 0;
	socklen_t len = sizeof error;

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd_take(&fd);
	if (errno != EINPROGRESS || follow_wait(l, fd, POLLOUT, CONNECT_MS) <= 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error)
		return -1;
	return fd_take(&fd);
}

static int reach(const struct follow_link *l)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int fd = -1;

	if (getaddrinfo(l->host, l->port, &hints, &list) != 0)
		return -1;
	for (const struct addrinfo *to = list; to && fd < 0; to = to->ai_next)
		fd = try_one(l, to);
	freeaddrinfo(list);
	return fd;
}

static bool send_all(const struct follow_link *l, int fd, const struct buf *text, uint64_t end_ns)
{
	size_t done = 0;

	while (done < text->len_bytes) {
		ssize_t n = send(fd, text->data + done, text->len_bytes - done, MSG_NOSIGNAL);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		else if (follow_wait(l, fd, POLLOUT, follow_left(end_ns, PATIENCE_MS)) <= 0)
			return false;
	}
	return true;
}

/* ---- the answer --------------------------------------------------------------- */

/* The value of a header, up to the line's end; NULL: it is not there. */
static const char *header(const char *head, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
		if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':')
			return line + 2 + n + 1 + strspn(line + 2 + n + 1, " \t");
	}
	return NULL;
}

/* Where the body begins; NULL while the head is not whole. */
static const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	return end ? end + 4 : NULL;
}

/* A number of a header or a chunk: digits of @base that end in one of @ends. */
static bool take_number(const char *text, int base, const char *ends, size_t *n)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char *end = NULL;
	unsigned long value;

	if (!*text || !memchr(digits, *text, base == 16 ? sizeof digits - 1 : 10))
		return false;
	errno = 0;
	value = strtoul(text, &end, base);
	if (errno || !*end || !strchr(ends, *end))
		return false;
	*n = value;
	return true;
}

static bool is_chunked(const char *head, const char *body)
{
	const char *coding = header(head, "transfer-encoding");

	return coding && coding < body && strncasecmp(coding, "chunked", 7) == 0;
}

/* A body in chunks, put together in @out (or NULL). Returns whether its end is
 * there; what is no chunk ends it too, since nothing after it can be read. */
static bool take_chunks(struct buf *out, const char *body, const char *end)
{
	for (;;) {
		const char *line = memchr(body, '\n', (size_t)(end - body));
		size_t n;

		if (!line)
			return false;
		if (!take_number(body, 16, " ;\t\r\n", &n))
			return true;
		line++;
		/* After the last one come trailers, and an empty line. */
		if (!n)
			return strncmp(line, "\r\n", 2) == 0 || strstr(line, "\r\n\r\n");
		if (n > (size_t)(end - line))
			n = (size_t)(end - line);
		if (out)
			buf_add(out, line, n);
		body = line + n;
		if (end - body < 2)
			return false;
		body += 2;
	}
}

/* Whether all of it is there: where the length is told, or where it comes in
 * chunks. What has neither ends with the connection. */
static bool is_whole(const struct buf *answer)
{
	const char *body = body_of(answer->data);
	const char *end = answer->data + answer->len_bytes;
	const char *told = body ? header(answer->data, "content-length") : NULL;
	size_t n;

	if (!body)
		return false;
	if (is_chunked(answer->data, body))
		return take_chunks(NULL, body, end);
	return told && told < body && take_number(told, 10, " \t\r", &n) &&
	       (size_t)(end - body) >= n;
}

static unsigned long status_of(const struct buf *answer)
{
	return text_starts(answer->data, "HTTP/1.") && answer->len_bytes > 12
	               ? strtoul(answer->data + 9, NULL, 10)
	               : 0;
}

/* An answer of 1xx has no body, and says only that the answer comes. */
static void drop_interim(struct buf *answer)
{
	const char *body;

	while ((body = body_of(answer->data)) && status_of(answer) / 100 == 1) {
		size_t left = (size_t)(answer->data + answer->len_bytes - body);

		memmove(answer->data, body, left + 1);
		answer->len_bytes = left;
	}
}

/* Reads until it is whole, ends, or is as long as anybody wants to know. */
static bool read_answer(const struct follow_link *l, int fd, struct buf *answer, uint64_t end_ns)
{
	char block[4096];

	while (answer->len_bytes < ANSWER_MAX_BYTES) {
		ssize_t n = recv(fd, block, sizeof block, 0);

		if (n == 0)
			break;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n < 0) {
			if (follow_wait(l, fd, POLLIN, follow_left(end_ns, PATIENCE_MS)) <= 0)
				return false;
			continue;
		}
		if (follow_left(end_ns, 1) == 0)
			return false;
		buf_add(answer, block, (size_t)n);
		if (!buf_text(answer))
			return false;
		drop_interim(answer);
		if (is_whole(answer))
			break;
	}
	return answer->len_bytes && buf_text(answer) && body_of(answer->data);
}

/* What a receiver says that it did not want, although it took the request: by
 * the protocol that is not sent again. */
static void tell_rejected(const struct follow_link *l, const struct buf *head, unsigned rows)
{
	const char *body = body_of(head->data);
	auto_buf text = BUF_INIT;
	json_t *answer;
	json_t *partial;
	json_t *n;
	const char *why;

	if (is_chunked(head->data, body))
		(void)take_chunks(&text, body, head->data + head->len_bytes);
	else
		buf_str(&text, body);
	answer = json_loads(buf_text(&text) ? text.data : "", 0, NULL);
	partial = json_object_get(answer, "partialSuccess");
	n = json_object_get(partial, "rejectedLogRecords");
	why = json_string_value(json_object_get(partial, "errorMessage"));
	if (json_integer_value(n) > 0 ||
	    (json_is_string(n) && strcmp(json_string_value(n), "0") != 0)) {
		auto_free char *shown = text_printable_str(why ? why : "no reason told", 256);

		log_error("audit follow: %s did not want some of %u rows: %s", l->at, rows, shown);
	}
	json_decref(answer);
}

static enum follow_result judge(const struct follow_link *l, const struct buf *answer,
                                unsigned rows)
{
	/* Those after which OTLP says to try again, and a timeout. */
	static const unsigned again[] = {408, 429, 502, 503, 504};
	unsigned long status = status_of(answer);

	if (status >= 200 && status < 300) {
		tell_rejected(l, answer, rows);
		return FOLLOW_TAKEN;
	}
	for (size_t i = 0; i < sizeof again / sizeof again[0]; i++)
		if (status == again[i])
			return FOLLOW_AWAY;
	log_error("audit follow: %s answers with status %lu: the rows are not sent again and again",
	          l->at, status);
	return FOLLOW_REFUSED;
}

static enum follow_result deliver(struct follow_link *l, const struct follow_batch *b)
{
	bool v6 = strchr(l->host, ':') != NULL;
	auto_buf request = BUF_INIT;
	auto_buf answer = BUF_INIT;
	auto_fd fd = reach(l);
	uint64_t end_ns = clock_mono_ns() + (uint64_t)REQUEST_MS * 1000000;

	if (fd < 0)
		return FOLLOW_AWAY;
	buf_fmt(&request,
	        "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nContent-Type: application/json\r\n"
	        "User-Agent: wary/" PACKAGE_VERSION "\r\nContent-Length: %zu\r\n"
	        "Connection: close\r\n\r\n",
	        l->path, v6 ? "[" : "", l->host, v6 ? "]" : "", l->port, b->text.len_bytes);
	buf_add(&request, b->text.data, b->text.len_bytes);
	invariant(buf_text(&request) != NULL);
	if (!send_all(l, fd, &request, end_ns) || !read_answer(l, fd, &answer, end_ns))
		return FOLLOW_AWAY;
	return judge(l, &answer, b->rows);
}

const struct follow_kind follow_http = {
	.name = "otlp-http",
	.one_session = true,
	.cut_bytes = FOLLOW_CUT_BYTES,
	.check = check,
	.begin = export_otlp_open,
	.row = put_row,
	.end = export_otlp_close,
	.deliver = deliver,
};
