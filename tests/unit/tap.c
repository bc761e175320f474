#include "tests/unit/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int made;
static int failed;

static void __attribute__((format(printf, 2, 0))) result(bool ok, const char *fmt, va_list ap)
{
	made++;
	if (!ok)
		failed++;
	printf("%s %d - ", ok ? "ok" : "not ok", made);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
}

void tap_ok(bool ok, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	result(ok, fmt, ap);
	va_end(ap);
}

/* A diagnostic is a comment: each of its lines begins with "# ". */
static void show(const char *label, const char *text)
{
	printf("#   %s: ", label);
	for (; text && *text; text++) {
		putchar(*text);
		if (*text == '\n')
			printf("#   ");
	}
	printf("%s\n", text ? "" : "(null)");
	fflush(stdout);
}

void tap_is_str(const char *got, const char *want, const char *fmt, ...)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;
	va_list ap;

	va_start(ap, fmt);
	result(same, fmt, ap);
	va_end(ap);
	if (!same) {
		show("got ", got);
		show("want", want);
	}
}

void tap_is_int(long long got, long long want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	result(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		printf("#   got %lld, want %lld\n", got, want);
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

void tap_skip(const char *fmt, ...)
{
	va_list ap;

	made++;
	va_start(ap, fmt);
	printf("ok %d # SKIP ", made);
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

int tap_done(void)
{
	printf("1..%d\n", made);
	return failed || !made ? 1 : 0;
}
