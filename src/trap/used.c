#include "trap/used.h"

#include "base/buf.h"
#include "base/own.h"
#include "base/uses.h"
#include "tracee/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

USES(open_read, pidfd_send_signal);

/* /proc/PID/status: most of it are the groups, of which a process has up to 65,536. */
#define STATUS_MAX_BYTES ((size_t)1 << 20)

static uint64_t ms_of_ticks(uint64_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);

	return per_second > 0 ? ticks * 1000 / (uint64_t)per_second : 0;
}

/* Of all its threads, also of those that have ended. */
static bool read_times(pid_t pid, struct used *out)
{
	char path[64];
	char text[1024];
	const char *state;
	const char *in_user;
	const char *in_kernel;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (procfs_read(path, text, sizeof text) <= 0)
		return false;
	state = procfs_field(text, PROCFS_STATE);
	in_user = procfs_field(text, PROCFS_USER);
	in_kernel = procfs_field(text, PROCFS_SYSTEM);
	if (!state || !in_user || !in_kernel)
		return false;
	out->is_final = *state == 'Z' || *state == 'X';
	out->user_ms = ms_of_ticks(strtoull(in_user, NULL, 10));
	out->system_ms = ms_of_ticks(strtoull(in_kernel, NULL, 10));
	out->timed = true;
	return true;
}

/* Of the program that it runs now: an exec begins anew. */
static uint64_t read_peak_kib(pid_t pid)
{
	char path[64];
	auto_buf text = {.max_bytes = STATUS_MAX_BYTES};
	const char *at;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || buf_read_file(&text, fd) != 0 || !buf_text(&text))
		return 0;
	at = strstr(text.data, "\nVmHWM:");
	return at ? strtoull(at + strlen("\nVmHWM:"), NULL, 10) : 0;
}

void used_look(struct used *u, pid_t pid, int pidfd)
{
	struct used now = *u;
	uint64_t peak_kib = 0;

	if (!read_times(pid, &now))
		return;
	if (!now.is_final)
		peak_kib = read_peak_kib(pid);
	if (peak_kib > now.peak_kib)
		now.peak_kib = peak_kib;
	/* Until it is reaped its number is its own (law 3: asked after reading). */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0)
		*u = now;
}

unsigned used_words(const struct used *u, char out[USED_WORDS_MAX][USED_WORD_BYTES])
{
	unsigned n = 0;

	if (u->timed) {
		snprintf(out[n++], USED_WORD_BYTES, "user-ms=%" PRIu64, u->user_ms);
		snprintf(out[n++], USED_WORD_BYTES, "system-ms=%" PRIu64, u->system_ms);
		snprintf(out[n++], USED_WORD_BYTES, "times=%s", u->is_final ? "final" : "seen");
	}
	if (u->peak_kib)
		snprintf(out[n++], USED_WORD_BYTES, "peak-kib=%" PRIu64, u->peak_kib);
	return n;
}
