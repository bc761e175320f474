/* package/: any program with any arguments, environment and files: recognised
 * or not, without a fault; the same twice; every package has a name. */
#include "base/err.h"
#include "package/package.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 128

/* The input is lines: the program, its arguments, "=" and an environment, then
 * "@" and a text that every file has. */
struct input {
	const char *argv[WORDS_MAX + 1];
	size_t argc;
	const char *envp[WORDS_MAX + 1];
	size_t env_n;
	const char *file;
};

static char *read_text(void *ctx, const char *path, size_t *len_bytes)
{
	const struct input *in = ctx;

	(void)path;
	if (!in->file)
		return NULL;
	*len_bytes = strlen(in->file);
	return strdup(in->file);
}

static bool exists(void *ctx, const char *path)
{
	const struct input *in = ctx;

	return in->file && strlen(path) % 2;
}

static void parse(char *text, struct input *in)
{
	char *save = NULL;
	char *file = strstr(text, "\n@");

	*in = (struct input){0};
	if (file) {
		*file = '\0';
		in->file = file + 2;
	}
	for (char *w = strtok_r(text, "\n", &save); w; w = strtok_r(NULL, "\n", &save)) {
		if (w[0] == '=' && in->env_n < WORDS_MAX)
			in->envp[in->env_n++] = w + 1;
		else if (w[0] != '=' && in->argc < WORDS_MAX)
			in->argv[in->argc++] = w;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	char *text = malloc(len_bytes + 1);
	struct input in;
	struct package_list list[2];

	invariant(text != NULL);
	memcpy(text, bytes, len_bytes);
	text[len_bytes] = '\0';
	parse(text, &in);
	for (size_t i = 0; in.argc && i < 2; i++) {
		struct package_program p = {
			.image = in.argv[0],
			.script = in.argc % 2 ? in.argv[0] : NULL,
			.invoked = in.argv[0],
			.argv = in.argv,
			.argc = in.argc,
		};
		struct package_world w = {
			.ctx = &in, .envp = in.envp, .read = read_text, .exists = exists};

		invariant(package_recognise(&p, &w, &list[i]) == 0);
		invariant(list[i].n <= PACKAGES_MAX);
		invariant(!list[i].installs || (list[i].manager && list[i].n > 0));
		for (size_t k = 0; k < list[i].n; k++)
			invariant(list[i].items[k].name != NULL);
	}
	if (in.argc) {
		invariant(list[0].n == list[1].n && list[0].installs == list[1].installs);
		package_list_free(&list[0]);
		package_list_free(&list[1]);
	}
	free(text);
	return 0;
}
