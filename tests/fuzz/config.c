/* net/config: any text gives words of the form host:port, and no others. */
#include "net/config.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check(struct config_hosts *h)
{
	for (size_t i = 0; i < h->n; i++) {
		const char *word = h->words[i];
		const char *port = strrchr(word, ':');

		invariant(port && port != word && port[1] >= '1' && port[1] <= '9');
		invariant(strpbrk(word, " \t\r\n/@*?#") == NULL);
	}
	invariant(h->n <= CONFIG_HOSTS_MAX && h->words[h->n] == NULL);
	config_hosts_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes)
{
	struct config_hosts a = {.n = 0};
	struct config_hosts b = {.n = 0};
	char *text = malloc(len_bytes + 1);

	invariant(text != NULL);
	memcpy(text, bytes, len_bytes);
	text[len_bytes] = '\0';
	config_npm_default(text, &a);
	config_npmrc(text, NULL, &a, &b);
	config_pip_default(text, &a);
	config_pip(text, &a, &b);
	config_pip_words(text, &b);
	config_apt_list(text, &a);
	config_apt_sources(text, &b);
	check(&a);
	check(&b);
	free(text);
	return 0;
}
