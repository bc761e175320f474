/* Runs a fuzz target without libFuzzer: over files and folders given as
 * arguments, and over bounded, repeatable mutations of each of them.
 * With libFuzzer (--enable-fuzz) this file is empty and its main is used. */
#include "tests/fuzz/fuzz.h"

#ifndef WARY_LIBFUZZER
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX_BYTES 65536
#define MUTATIONS 200

static unsigned long state = 1;
static unsigned long runs;

/* A fixed sequence: a failure comes back at the next run. */
static unsigned long next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void run(const unsigned char *bytes, size_t len)
{
	/* Memory of exactly this size, so that a read beyond it is seen. */
	unsigned char *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
	runs++;
}

static size_t mutate(unsigned char *bytes, size_t len)
{
	static const unsigned char odd[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '"', '\\', '/', '*', '$'};
	size_t at = len ? next() % len : 0;

	switch (next() % 5) {
	case 0:
		if (len)
			bytes[at] ^= (unsigned char)(1u << (next() % 8));
		return len;
	case 1:
		if (len)
			bytes[at] = odd[next() % sizeof odd];
		return len;
	case 2:
		return len ? next() % len : 0;
	case 3:
		if (!len || len >= INPUT_MAX_BYTES)
			return len;
		memmove(bytes + at + 1, bytes + at, len - at);
		return len + 1;
	default:
		if (len < 2)
			return len;
		memmove(bytes + at, bytes + at + 1, len - at - 1);
		return len - 1;
	}
}

static void run_file(const char *path)
{
	static unsigned char bytes[INPUT_MAX_BYTES];
	static unsigned char changed[INPUT_MAX_BYTES];
	FILE *f = fopen(path, "rbe");
	size_t len;

	if (!f) {
		perror(path);
		exit(1);
	}
	len = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	run(bytes, len);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t n = len;

		memcpy(changed, bytes, len);
		for (unsigned long k = next() % 4 + 1; k; k--)
			n = mutate(changed, n);
		run(changed, n);
	}
}

static void run_folder(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);

	if (n < 0) {
		perror(path);
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		char name[4096];

		if (names[i]->d_name[0] != '.' &&
		    snprintf(name, sizeof name, "%s/%s", path, names[i]->d_name) < (int)sizeof name)
			run_file(name);
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			run_folder(argv[i]);
		else
			run_file(argv[i]);
	}
	printf("%lu inputs\n", runs);
	return runs ? 0 : 1;
}
#endif
