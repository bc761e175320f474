/* Runs a command as a machine would that lacks or forbids something: one
 * system call (or one request, or one flag of it) fails with an errno.
 * outer NR ERRNO COMMAND…            the call itself
 * outer NR:ARG=VALUE ERRNO COMMAND…  … where that argument has that value
 * outer NR:ARG&BITS ERRNO COMMAND…   … where it has these bits */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))

int main(int argc, char **argv)
{
	char *at;
	unsigned nr, arg = 0, value = 0, how = BPF_JSET;

	if (argc < 4)
		return 2;
	nr = (unsigned)strtoul(argv[1], &at, 10);
	if (*at == ':') {
		arg = (unsigned)strtoul(at + 1, &at, 10);
		how = *at == '=' ? BPF_JEQ : BPF_JSET;
		value = (unsigned)strtoul(at + 1, NULL, 0);
	} else {
		/* Always true: the number itself, which is loaded again. */
		how = BPF_JEQ;
		value = nr;
	}
	struct sock_filter code[] = {
		LOAD(offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		LOAD(strchr(argv[1], ':') ? offsetof(struct seccomp_data, args) + 8u * arg
	                                  : offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | how | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)strtoul(argv[2], NULL, 10)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
