#include "ask/term.h"

#include "base/clock.h"
#include "base/uses.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

USES(getpgrp, ioctl_tty);

/* After ESC the rest of a sequence comes at once; a person's ESC comes alone. */
#define SEQUENCE_MS 150
/* How long to wait for a report that not every terminal sends. */
#define REPORT_MS 400
#define SEQUENCE_MAX 4096
#define COLUMNS_LEAST 40
#define COLUMNS_MOST 100

/* Ends what may be open (CAN ends a sequence, ST a string, synchronised output
 * 2026), then plain ASCII, no attributes, cursor shown, no other keyboard. */
#define RESET "\030\033\\\033[?2026l\033[0m\033(B\033)B\017\033[?25h\033[>0u"
/* Also where a full-screen program may have set them: origin mode, margins, a
 * scroll region. */
#define RESET_REGIONS "\033[?6l\033[?69l\033[r"
#define UNDO "\033[<u"

pid_t term_group(int fd)
{
	return tcgetpgrp(fd);
}

void term_write(struct term *t, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = write(t->fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* gone: the next key says so */
		text += n;
		len -= (size_t)n;
	}
}

/* One byte, or -1: nothing within the time, -2: gone, -3: the other one. */
static int next_byte(struct term *t, int timeout_ms, bool other)
{
	struct pollfd p[2] = {{.fd = t->fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	unsigned char c;
	ssize_t n;
	int ready;

	if (other)
		p[1].fd = t->other_fd;
	do
		ready = poll(p, 2, timeout_ms);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return -1;
	if (p[1].revents)
		return -3;
	do
		n = read(t->fd, &c, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? c : -2;
}

/* A control string (OSC, DCS…): up to ST or BEL, whatever it says. */
static void swallow_string(struct term *t)
{
	int before = 0;

	for (int i = 0; i < SEQUENCE_MAX; i++) {
		int c = next_byte(t, SEQUENCE_MS, false);

		if (c < 0 || c == '\a' || (before == '\033' && c == '\\'))
			return;
		before = c;
	}
}

/* CSI: parameters and a final byte. A mouse report has three bytes after it.
 * @params: of 64 bytes, "" where they are longer. Returns the final byte. */
static int read_csi(struct term *t, char *params)
{
	size_t n = 0;

	for (int i = 0; i < SEQUENCE_MAX; i++) {
		int c = next_byte(t, SEQUENCE_MS, false);

		if (c < 0)
			return 0;
		if (c >= 0x40 && c <= 0x7e) {
			params[n < 64 ? n : 0] = '\0';
			for (int k = 0; c == 'M' && n == 0 && k < 3; k++)
				(void)next_byte(t, SEQUENCE_MS, false);
			return c;
		}
		if (n < 64)
			params[n++] = (char)c;
	}
	return 0;
}

/* Behind an ESC. */
static enum term_key read_sequence(struct term *t, char *params, int *final)
{
	int c = next_byte(t, SEQUENCE_MS, false);

	*final = 0;
	switch (c) {
	case -1:
		return TERM_ESCAPE;
	case -2:
		return TERM_LOST;
	case '[':
		*final = read_csi(t, params);
		break;
	case 'O':
		*final = next_byte(t, SEQUENCE_MS, false);
		params[0] = '\0';
		break;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		swallow_string(t);
		return TERM_NONE;
	default:
		return TERM_NONE;
	}
	if (*final == 'A' && !params[0])
		return TERM_UP;
	if (*final == 'B' && !params[0])
		return TERM_DOWN;
	return TERM_NONE;
}

enum term_key term_key(struct term *t, char *key)
{
	char params[65] = "";
	int final;
	int c = next_byte(t, -1, true);

	*key = '\0';
	switch (c) {
	case -3:
		return TERM_OTHER;
	case -2:
	case -1:
		return TERM_LOST;
	case 3:
	case 4:
	case 28:
		return TERM_INTERRUPT;
	case '\r':
	case '\n':
		return TERM_ENTER;
	case 27:
		return read_sequence(t, params, &final);
	default:
		if (c < 0x20 || c > 0x7e)
			return TERM_NONE;
		*key = (char)c;
		return TERM_CHAR;
	}
}

/* Whether the alternate screen is on: DECRQM. Terminals that do not know the
 * question do not answer, and are taken for showing the main one. */
static bool on_alternate_screen(struct term *t)
{
	uint64_t end = clock_mono_ns() + (uint64_t)REPORT_MS * 1000000;
	char params[65] = "";
	int final;

	term_write(t, "\033[?1049$p");
	while (clock_mono_ns() < end) {
		int c = next_byte(t, REPORT_MS, false);

		if (c < 0)
			return false;
		if (c != 27)
			continue;
		if (read_sequence(t, params, &final) == TERM_LOST)
			return false;
		if (final == 'y' && strncmp(params, "?1049;", 6) == 0)
			return params[6] == '1' || params[6] == '3';
	}
	return false;
}

static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static void find_size(struct term *t)
{
	struct winsize size = {0};

	t->columns = 80;
	if (ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		t->columns = size.ws_col;
	if (t->columns < COLUMNS_LEAST)
		t->columns = COLUMNS_LEAST;
	if (t->columns > COLUMNS_MOST)
		t->columns = COLUMNS_MOST;
}

/* A program that reads single keys draws its own screen: it gets it back as it
 * was where the terminal has a second one, else it is made to draw again. */
static void choose_screen(struct term *t)
{
	bool raw = !(t->saved.c_lflag & ICANON);

	if (!raw) {
		term_write(t, RESET "\n");
		return;
	}
	term_write(t, "\0337" RESET RESET_REGIONS);
	t->cleared = on_alternate_screen(t);
	t->screen = !t->cleared;
	term_write(t, t->screen ? "\033[?1049h\033[H\033[J" : "\033[H\033[J");
}

int term_take(struct term *t, int fd, int other_fd)
{
	struct termios raw;

	*t = (struct term){.fd = fd, .other_fd = other_fd, .utf8 = locale_is_utf8()};
	t->saved_group = tcgetpgrp(fd);
	if (t->saved_group < 0 || tcgetattr(fd, &t->saved) != 0)
		return -ERR_SYS;
	if (tcsetpgrp(fd, getpgrp()) != 0)
		return -ERR_SYS;
	raw = t->saved;
	raw.c_iflag &=
		~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	raw.c_oflag |= OPOST | ONLCR;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	/* FLUSH: what was typed before the question is not an answer to it. */
	if (tcsetattr(fd, TCSAFLUSH, &raw) != 0) {
		(void)tcsetpgrp(fd, t->saved_group);
		return -ERR_SYS;
	}
	find_size(t);
	choose_screen(t);
	return 0;
}

/* A window of another size for a moment: a full-screen program then draws
 * itself again. */
static void nudge(struct term *t)
{
	struct winsize size;
	struct winsize other;

	if (ioctl(t->fd, TIOCGWINSZ, &size) != 0 || size.ws_row < 2)
		return;
	other = size;
	other.ws_row--;
	(void)ioctl(t->fd, TIOCSWINSZ, &other);
	(void)ioctl(t->fd, TIOCSWINSZ, &size);
}

void term_give_back(struct term *t)
{
	term_write(t, UNDO);
	if (t->screen)
		term_write(t, "\033[?1049l\0338");
	if (t->cleared)
		term_write(t, "\033[H\033[J\0338");
	(void)tcsetattr(t->fd, TCSAFLUSH, &t->saved);
	(void)tcsetpgrp(t->fd, t->saved_group);
	if (t->screen || t->cleared)
		nudge(t);
}
