/* What configuration files of package managers say about where packages come
 * from: "host:port" words.  Pure; the texts were read outside the tree. */
#ifndef WARY_NET_CONFIG_H
#define WARY_NET_CONFIG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_HOSTS_MAX 64

/* A set of words; more than fit are left out, and said so. */
struct config_hosts {
	char *words[CONFIG_HOSTS_MAX + 1]; /* owned; NULL-terminated */
	size_t n;
	bool overflow;
};

void config_hosts_free(struct config_hosts *h);

/** config_hosts_join: adds the words of another set. */
void config_hosts_join(struct config_hosts *h, const struct config_hosts *more);

/** config_add_url: adds the host of an http or https address, in lower case, and
 * its port, or the one of its scheme.  User names and paths are left out.
 * @len_bytes: of @url; it need not be terminated.
 * Returns whether it is such an address. */
bool config_add_url(struct config_hosts *h, const char *url, size_t len_bytes);

/* Looks a variable up (`${NAME}` in a npmrc), or NULL. */
struct config_env {
	const char *(*get)(void *ctx, const char *name);
	void *ctx;
};

/** config_npmrc: `registry` and `@scope:registry` of a npmrc(5) text.
 * @registry: where the text sets it, it becomes the only word (a later file
 *   overrides an earlier one); @scopes: added to. */
void config_npmrc(const char *text, const struct config_env *env, struct config_hosts *registry,
                  struct config_hosts *scopes);

/** config_npm_default: the registry that npm's own definitions name. */
void config_npm_default(const char *text, struct config_hosts *out);

/** config_pip: index-url (it overrides), extra-index-url and find-links of the
 * sections [global] and [install] of a pip.conf. */
void config_pip(const char *text, struct config_hosts *index, struct config_hosts *extra);

/** config_pip_words: the addresses in a list divided by blanks (PIP_FIND_LINKS). */
void config_pip_words(const char *text, struct config_hosts *out);

/** config_pip_default: index and file store that pip's own module names. */
void config_pip_default(const char *text, struct config_hosts *out);

/** config_apt_list, config_apt_sources: the addresses of sources.list(5) texts,
 * in the line and in the deb822 form. */
void config_apt_list(const char *text, struct config_hosts *out);
void config_apt_sources(const char *text, struct config_hosts *out);

#endif
