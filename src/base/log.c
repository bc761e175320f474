#include "base/log.h"

#include "base/own.h"
#include "base/uses.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

USES(ioctl_tty_look);

static struct {
	bool quiet;
	bool verbose;
} level;

void log_set_level(bool quiet, bool verbose)
{
	level.quiet = quiet;
	level.verbose = verbose;
}

bool log_is_quiet(void)
{
	return level.quiet;
}

bool log_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return isatty(STDERR_FILENO) && !(no && *no);
}

static int __attribute__((format(printf, 3, 0)))
message(char *line, size_t size, const char *fmt, va_list ap)
{
	int head = snprintf(line, size, "wary: ");
	int body = vsnprintf(line + head, size - (size_t)head, fmt, ap);

	return body < 0 ? head : head + body;
}

/* One write(2) a message, so that lines of several threads stay whole.  Most fit into
 * a short one: a message may be that the stack is too small, and it has to come out on
 * that stack.  What fits neither there nor in memory is cut off. */
static void __attribute__((format(printf, 1, 0))) emit(const char *fmt, va_list ap)
{
	char small[512];
	int kept = errno;
	va_list again;
	va_copy(again, ap);
	size_t len = (size_t)message(small, sizeof small, fmt, ap);
	auto_free char *large = len + 2 > sizeof small ? malloc(len + 2) : NULL;
	char *line = large ? large : small;

	if (large)
		(void)message(large, len + 2, fmt, again);
	else if (len > sizeof small - 2)
		len = sizeof small - 2;
	va_end(again);
	line[len++] = '\n';
	for (size_t done = 0; done < len;) {
		ssize_t n = write(STDERR_FILENO, line + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	errno = kept;
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(fmt, ap);
	va_end(ap);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	if (level.quiet)
		return;
	va_start(ap, fmt);
	emit(fmt, ap);
	va_end(ap);
}

void log_detail(const char *fmt, ...)
{
	va_list ap;

	if (!level.verbose)
		return;
	va_start(ap, fmt);
	emit(fmt, ap);
	va_end(ap);
}
