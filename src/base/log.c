#include "base/log.h"

#include "base/buf.h"
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

/* One write(2) a message, so that lines of several threads stay whole. */
static void __attribute__((format(printf, 1, 0))) emit(const char *fmt, va_list ap)
{
	char line[8192];
	int kept = errno;
	int head = snprintf(line, sizeof line, "wary: ");
	int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, fmt, ap);
	size_t len = (size_t)head;

	if (body > 0)
		len += (size_t)body;
	if (len > sizeof line - 2)
		len = sizeof line - 2;
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
