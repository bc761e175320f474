#include "cmd/resolvers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_MAX = 64 };

/* The word that an address of the text becomes, or NULL. A zone ("%eth0") is
 * the link it is reached by and no part of the address that is judged. */
static char *word_of(const char *address)
{
	unsigned char bytes[16];
	char plain[ADDRESS_MAX];
	char *out = NULL;
	int n = -1;

	snprintf(plain, sizeof plain, "%.*s", (int)strcspn(address, "%"), address);
	if (inet_pton(AF_INET, plain, bytes) == 1)
		n = asprintf(&out, "%s:53", plain);
	else if (inet_pton(AF_INET6, plain, bytes) == 1)
		n = asprintf(&out, "[%s]:53", plain);
	return n < 0 ? NULL : out;
}

/* Reads "nameserver ADDRESS" at the beginning of a line. */
static bool address_of(const char *line, char address[ADDRESS_MAX])
{
	static const char keyword[] = "nameserver";
	size_t len = 0;

	if (strncmp(line, keyword, sizeof keyword - 1) != 0)
		return false;
	line += sizeof keyword - 1;
	if (*line != ' ' && *line != '\t')
		return false;
	line += strspn(line, " \t");
	while (line[len] && !isspace((unsigned char)line[len]) && len < ADDRESS_MAX - 1) {
		address[len] = line[len];
		len++;
	}
	address[len] = '\0';
	return len > 0;
}

char **resolvers_parse(const char *text)
{
	char **words = calloc(RESOLVERS_MAX + 1, sizeof *words);
	size_t n = 0;

	if (!words)
		return NULL;
	while (*text) {
		char address[ADDRESS_MAX];

		if (n < RESOLVERS_MAX && address_of(text, address)) {
			words[n] = word_of(address);
			n += words[n] != NULL;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (n == 0)
		words[0] = strdup("127.0.0.1:53");
	return words;
}

char **resolvers_words(const char *text)
{
	char **words = calloc(RESOLVERS_MAX + 1, sizeof *words);
	size_t n = 0;

	while (words && n < RESOLVERS_MAX && *(text += strspn(text, " \t"))) {
		size_t len = strcspn(text, " \t");

		words[n] = strndup(text, len);
		n += words[n] != NULL;
		text += len;
	}
	if (n == 0) {
		free(words);
		return NULL;
	}
	return words;
}

void resolvers_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
