/* base/err: every code has a text and an errno that closes. */
#include "base/err.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_rows(void)
{
	for (int code = ERR_BASE + 1; code < ERR_END; code++) {
		const char *text = err_text(-code);

		tap_ok(text && *text && strcmp(text, "unknown error") != 0, "code %d has a text",
		       code);
		tap_ok(err_errno(-code) > 0 && err_errno(-code) < 4096,
		       "code %d has an errno for the caller", code);
		tap_is_str(err_text(code), text, "code %d: the sign does not matter", code);
	}
}

static void test_unknown(void)
{
	static const int odd[] = {0, -1, 1, ERR_BASE, -ERR_BASE, ERR_END, -ERR_END, -99999};

	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		tap_is_int(err_errno(odd[i]), EACCES, "%d is no code: refused", odd[i]);
		tap_is_str(err_text(odd[i]), "unknown error", "%d is no code: text", odd[i]);
	}
}

static void test_known(void)
{
	tap_is_int(err_errno(-ERR_POLICY), EACCES, "a refusal is EACCES");
	tap_is_int(err_errno(-ERR_FULL), ENOSPC, "a full disk is ENOSPC");
	tap_ok(ERR_BASE > 4095, "codes cannot be taken for errnos");
}

static void test_invariant(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		invariant(1 == 1);
		close(STDERR_FILENO);
		invariant(1 == 2);
		_exit(0);
	}
	tap_ok(pid > 0 && waitpid(pid, &status, 0) == pid, "a child breaks an invariant");
	tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "it aborts");
}

int main(void)
{
	test_rows();
	test_unknown();
	test_known();
	test_invariant();
	return tap_done();
}
