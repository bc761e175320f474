/* The program that is to receive a secret: shows what it has of the variable
 * TOKEN, and starts others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What the kernel shows of this process's environment. */
static void show_proc(void)
{
	static char bytes[1 << 20];
	FILE *f = fopen("/proc/self/environ", "re");
	size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;

	for (size_t i = 0; i < n; i++)
		putchar(bytes[i] ? bytes[i] : '\n');
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	const char *token = getenv("TOKEN");
	const char *what = argc > 1 ? argv[1] : "len";

	if (strcmp(what, "len") == 0) {
		printf("length %zu\n", token ? strlen(token) : 0);
	} else if (strcmp(what, "proc") == 0) {
		show_proc();
	} else if (strcmp(what, "names") == 0) {
		for (char **e = environ; *e; e++)
			printf("%.*s\n", (int)strcspn(*e, "="), *e);
	} else if (strcmp(what, "hold") == 0) {
		printf("length %zu\n", token ? strlen(token) : 0);
		fflush(stdout);
		return getchar() == EOF ? 0 : 1;
	} else if (strcmp(what, "exec") == 0 && argc > 2) {
		execvp(argv[2], argv + 2);
		return 127;
	}
	return 0;
}
