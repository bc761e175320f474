/* wary audit follow --to otlp-http: each batch as one POST of OTLP in JSON, in
 * plain HTTP/1.1.  The answer acknowledges it. */
#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/audit.h"
#include "cmd/export_formats.h"
#include "cmd/follow.h"

#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX_BYTES ((size_t)64 << 10)
/* Without a byte for so long the receiver counts as away. */
#define PATIENCE_MS 30000
#define CONNECT_MS 10000
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

static bool send_all(const struct follow_link *l, int fd, const struct buf *text)
{
	size_t done = 0;

	while (done < text->len_bytes) {
		ssize_t n = send(fd, text->data + done, text->len_bytes - done, MSG_NOSIGNAL);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		else if (follow_wait(l, fd, POLLOUT, PATIENCE_MS) <= 0)
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

/* Whether all of it is there: where the length is told. What has none ends
 * with the connection. */
static bool is_whole(const struct buf *answer)
{
	const char *body = body_of(answer->data);
	const char *told = body ? header(answer->data, "content-length") : NULL;
	char digits[20] = "";
	unsigned long long n = 0;
	size_t len;

	if (!told || told >= body)
		return false;
	len = strspn(told, "0123456789");
	if (len >= sizeof digits)
		return false;
	memcpy(digits, told, len);
	return text_number(digits, ANSWER_MAX_BYTES, &n) == 0 &&
	       (size_t)(answer->data + answer->len_bytes - body) >= n;
}

/* Reads until it is whole, ends, or is as long as anybody wants to know. */
static bool read_answer(const struct follow_link *l, int fd, struct buf *answer)
{
	char block[4096];

	while (answer->len_bytes < ANSWER_MAX_BYTES) {
		ssize_t n = recv(fd, block, sizeof block, 0);

		if (n > 0)
			buf_add(answer, block, (size_t)n);
		else if (n == 0)
			break;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
		else if (follow_wait(l, fd, POLLIN, PATIENCE_MS) <= 0)
			return false;
		if (answer->len_bytes && is_whole(answer))
			break;
	}
	return answer->len_bytes && buf_text(answer) && body_of(answer->data);
}

/* A body in chunks, put together; what is no chunk ends it. */
static void put_chunks(struct buf *out, const char *body)
{
	for (;;) {
		char *end = NULL;
		unsigned long n = strtoul(body, &end, 16);
		size_t left;

		if (end == body || !n)
			return;
		end += strcspn(end, "\n");
		end += *end == '\n';
		left = strlen(end);
		n = n < left ? n : left;
		buf_add(out, end, n);
		body = end + n;
	}
}

/* What a receiver says that it did not want, although it took the request: by
 * the protocol that is not sent again. */
static void tell_rejected(const struct follow_link *l, const char *head, const char *body,
                          unsigned rows)
{
	const char *coding = header(head, "transfer-encoding");
	auto_buf text = BUF_INIT;
	json_t *answer;
	json_t *partial;
	json_t *n;
	const char *why;

	if (coding && coding < body && strncasecmp(coding, "chunked", 7) == 0)
		put_chunks(&text, body);
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
	unsigned long status = 0;

	if (text_starts(answer->data, "HTTP/1.") && answer->len_bytes > 12)
		status = strtoul(answer->data + 9, NULL, 10);
	if (status >= 200 && status < 300) {
		tell_rejected(l, answer->data, body_of(answer->data), rows);
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

	if (fd < 0)
		return FOLLOW_AWAY;
	buf_fmt(&request,
	        "POST %s HTTP/1.1\r\nHost: %s%s%s:%s\r\nContent-Type: application/json\r\n"
	        "User-Agent: wary/" PACKAGE_VERSION "\r\nContent-Length: %zu\r\n"
	        "Connection: close\r\n\r\n",
	        l->path, v6 ? "[" : "", l->host, v6 ? "]" : "", l->port, b->text.len_bytes);
	buf_add(&request, b->text.data, b->text.len_bytes);
	invariant(buf_text(&request) != NULL);
	if (!send_all(l, fd, &request) || !read_answer(l, fd, &answer))
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
