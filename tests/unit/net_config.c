/* net/config: the hosts that configuration files of package managers name. */
#include "net/config.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <string.h>

static void is_words(struct config_hosts *h, const char *want, const char *what)
{
	char got[1024] = "";
	size_t at = 0;

	for (size_t i = 0; i < h->n; i++) {
		size_t len = strlen(h->words[i]);

		if (at + len + 2 > sizeof got)
			break;
		if (at > 0)
			got[at++] = ' ';
		memcpy(got + at, h->words[i], len + 1);
		at += len;
	}
	tap_is_str(got, want, "%s", what);
	config_hosts_free(h);
}

static void urls(void)
{
	static const struct {
		const char *url, *word;
	} rows[] = {
		{"https://Registry.Example.org/", "registry.example.org:443"},
		{"http://registry.example.org", "registry.example.org:80"},
		{"https://registry.example.org:8443/npm/", "registry.example.org:8443"},
		{"https://ana:s3cret@registry.example.org/x", "registry.example.org:443"},
		{"https://a@b:c@registry.example.org?x", "registry.example.org:443"},
		{"https://[2001:db8::1]:4873/", "[2001:db8::1]:4873"},
		{"HTTPS://registry.example.org.:443/", "registry.example.org:443"},
		{"https://127.0.0.1:4873", "127.0.0.1:4873"},
		{"https://registry.example.org:/", "registry.example.org:443"},
		{"https://registry.example.org:0/", ""},
		{"https://registry.example.org:99999/", ""},
		{"https://registry.example.org:x/", ""},
		{"https:///path", ""},
		{"https://*/", ""},
		{"https://a b/", ""},
		{"file:///srv/wheels", ""},
		{"registry.example.org", ""},
		{"https://[2001:db8::1", ""},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct config_hosts h = {.n = 0};
		bool is = config_add_url(&h, rows[i].url, strlen(rows[i].url));

		tap_ok(is == (rows[i].word[0] != '\0'), "%s", rows[i].url);
		is_words(&h, rows[i].word, rows[i].url);
	}
}

static const char *lookup(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "HOST") == 0 ? "inner.example.org" : NULL;
}

static void npm(void)
{
	const struct config_env env = {.get = lookup};
	struct config_hosts registry = {.n = 0};
	struct config_hosts scopes = {.n = 0};

	config_npm_default("x\n  registry: new Definition('registry', {\n    default: "
	                   "'https://first.example.org/',\n",
	                   &registry);
	tap_is_int((long long)registry.n, 1, "npm's own default is read from npm");
	config_npmrc("; registry=https://no.example.org\n"
	             "# registry=https://no.example.org\n"
	             "//first.example.org/:_authToken=abc\n"
	             "@team:registry = \"https://team.example.org:4873/\"\n"
	             "@other:registry=http://${HOST}/x\n"
	             "@odd:registry=http://${NONE}/x\n",
	             &env, &registry, &scopes);
	is_words(&registry, "first.example.org:443", "a npmrc without a registry keeps it");
	is_words(&scopes, "team.example.org:4873 inner.example.org:80", "registries of scopes");
	config_npm_default("define('registry', { default: \"https://old.example.org/\" })",
	                   &registry);
	config_npmrc("registry=https://mine.example.org/\nregistry = https://last.example.org",
	             &env, &registry, &scopes);
	is_words(&registry, "last.example.org:443", "the last one counts");
	config_npm_default("no definition here", &registry);
	is_words(&registry, "", "nothing found, nothing named");
}

static void pip(void)
{
	struct config_hosts index = {.n = 0};
	struct config_hosts extra = {.n = 0};

	config_pip_default("\n\nPyPI = PackageIndex(\"https://index.example.org/\", "
	                   "file_storage_domain=\"files.example.org\")\n"
	                   "TestPyPI = PackageIndex(\"https://test.example.org/\", "
	                   "file_storage_domain=\"no.example.org\")\n",
	                   &index);
	config_pip("[global]\n"
	           "timeout = 60\n"
	           "extra-index-url =\n"
	           "    https://one.example.org/simple\n"
	           "    https://two.example.org/simple\n"
	           "find-links = /srv/wheels https://three.example.org/w\n"
	           "[list]\n"
	           "index-url = https://no.example.org\n",
	           &index, &extra);
	is_words(&index, "index.example.org:443 files.example.org:443", "the default index");
	is_words(&extra, "one.example.org:443 two.example.org:443 three.example.org:443",
	         "further ones");
	config_pip("[global]\nindex-url: https://mine.example.org/simple\n", &index, &extra);
	is_words(&index, "mine.example.org:443", "one of the user's own");
	config_pip_words("https://a.example.org /x\thttp://b.example.org", &extra);
	is_words(&extra, "a.example.org:443 b.example.org:80", "a list of words");
}

static void apt(void)
{
	struct config_hosts h = {.n = 0};

	config_apt_list(
		"# deb http://no.example.org x main\n"
		"deb [signed-by=/usr/share/k.gpg arch=amd64] http://one.example.org/debian s m\n"
		"deb-src https://two.example.org/debian s m\n"
		"deb cdrom:[Debian] s m\n",
		&h);
	is_words(&h, "one.example.org:80 two.example.org:443", "lines");
	config_apt_sources("Types: deb\n"
	                   "URIs: http://one.example.org/debian\n"
	                   "# https://no.example.org\n"
	                   " https://two.example.org/debian\n"
	                   "Suites: stable\n"
	                   " https://no.example.org/\n",
	                   &h);
	is_words(&h, "one.example.org:80 two.example.org:443", "paragraphs");
}

static void bounds(void)
{
	struct config_hosts h = {.n = 0};

	for (int i = 0; i < 70; i++) {
		char url[64];
		int len = snprintf(url, sizeof url, "http://h%d.example.org/", i);

		(void)config_add_url(&h, url, (size_t)len);
	}
	tap_ok(h.n == CONFIG_HOSTS_MAX && h.overflow, "the set is bounded, and says so");
	tap_ok(config_add_url(&h, "http://h1.example.org", 21) && h.n == CONFIG_HOSTS_MAX,
	       "the same again is no more");
	config_hosts_free(&h);
}

int main(void)
{
	urls();
	npm();
	pip();
	apt();
	bounds();
	return tap_done();
}
