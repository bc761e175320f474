#include "cmd/audit_args.h"

#include "base/own.h"
#include "cmd/audit.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

int audit_args_take(const char *name, int argc, char **argv, const char *takes, int min, int max,
                    struct audit_args *out)
{
	static const struct option longs[] = {
		{"db", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'},
		{"all", no_argument, NULL, 'a'},      {"output", required_argument, NULL, 'o'},
		{"check", no_argument, NULL, 'c'},    {"release", no_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},     {NULL, 0, NULL, 0}};
	int c;

	*out = (struct audit_args){0};
	optind = 0;
	while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) {
		if (c != 'd' && c != 'h' && !strchr(takes, c))
			return audit_usage(name);
		if (c == 'd')
			out->db = optarg;
		else if (c == 'o')
			out->output = optarg;
		out->json |= c == 'j';
		out->all |= c == 'a';
		out->check |= c == 'c';
		out->release |= c == 'r';
		out->help |= c == 'h';
	}
	if (out->help)
		return 0;
	while (optind < argc && out->words_n < AUDIT_ARGS_WORDS_MAX)
		out->words[out->words_n++] = argv[optind++];
	if (optind < argc || out->words_n < min || out->words_n > max)
		return audit_usage(name);
	return 0;
}

int audit_args_write(const char *file, const struct buf *text)
{
	auto_fd fd = -1;

	if (!file || strcmp(file, "-") == 0)
		return fwrite(text->data, 1, text->len_bytes, stdout) == text->len_bytes &&
		                       fflush(stdout) == 0
		               ? 0
		               : -ERR_SYS;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -ERR_SYS;
	for (size_t done = 0; done < text->len_bytes;) {
		ssize_t n = write(fd, text->data + done, text->len_bytes - done);

		if (n < 0 && errno != EINTR)
			return -ERR_SYS;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) == 0 ? 0 : -ERR_SYS;
}
