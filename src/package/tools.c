#include "package/tools.h"

#include <string.h>

/* Verbs of npm and their aliases.  What changes the tree of installed packages
 * completes it from package.json as well, whatever its arguments. */
static const struct verb npm_verbs[] = {
	{"install", VERB_ADD},
	{"i", VERB_ADD},
	{"in", VERB_ADD},
	{"ins", VERB_ADD},
	{"inst", VERB_ADD},
	{"insta", VERB_ADD},
	{"instal", VERB_ADD},
	{"isnt", VERB_ADD},
	{"isnta", VERB_ADD},
	{"isntal", VERB_ADD},
	{"isntall", VERB_ADD},
	{"add", VERB_ADD},
	{"install-test", VERB_ADD},
	{"it", VERB_ADD},
	{"link", VERB_ADD},
	{"ln", VERB_ADD},
	{"update", VERB_ADD},
	{"up", VERB_ADD},
	{"upgrade", VERB_ADD},
	{"udpate", VERB_ADD},
	{"ci", VERB_PROJECT},
	{"clean-install", VERB_PROJECT},
	{"ic", VERB_PROJECT},
	{"install-clean", VERB_PROJECT},
	{"isntall-clean", VERB_PROJECT},
	{"cit", VERB_PROJECT},
	{"install-ci-test", VERB_PROJECT},
	{"clean-install-test", VERB_PROJECT},
	{"sit", VERB_PROJECT},
	{"dedupe", VERB_PROJECT},
	{"ddp", VERB_PROJECT},
	{"prune", VERB_PROJECT},
	{"uninstall", VERB_PROJECT},
	{"unlink", VERB_PROJECT},
	{"remove", VERB_PROJECT},
	{"rm", VERB_PROJECT},
	{"r", VERB_PROJECT},
	{"un", VERB_PROJECT},
	{"audit", VERB_GROUP},
	{"audit fix", VERB_PROJECT},
	{"exec", VERB_RUN},
	{"x", VERB_RUN},
	{"init", VERB_CREATE},
	{"create", VERB_CREATE},
	{"innit", VERB_CREATE},
	/* The rest, so that a shortened verb is told from these. */
	{"access", VERB_NONE},
	{"adduser", VERB_NONE},
	{"bugs", VERB_NONE},
	{"issues", VERB_NONE},
	{"cache", VERB_NONE},
	{"completion", VERB_NONE},
	{"config", VERB_NONE},
	{"c", VERB_NONE},
	{"deprecate", VERB_NONE},
	{"diff", VERB_NONE},
	{"dist-tag", VERB_NONE},
	{"docs", VERB_NONE},
	{"doctor", VERB_NONE},
	{"edit", VERB_NONE},
	{"explain", VERB_NONE},
	{"why", VERB_NONE},
	{"explore", VERB_NONE},
	{"find-dupes", VERB_NONE},
	{"fund", VERB_NONE},
	{"get", VERB_NONE},
	{"help", VERB_NONE},
	{"hlep", VERB_NONE},
	{"help-search", VERB_NONE},
	{"hook", VERB_NONE},
	{"info", VERB_NONE},
	{"list", VERB_NONE},
	{"ll", VERB_NONE},
	{"login", VERB_NONE},
	{"logout", VERB_NONE},
	{"ls", VERB_NONE},
	{"la", VERB_NONE},
	{"org", VERB_NONE},
	{"outdated", VERB_NONE},
	{"owner", VERB_NONE},
	{"pack", VERB_NONE},
	{"ping", VERB_NONE},
	{"pkg", VERB_NONE},
	{"prefix", VERB_NONE},
	{"profile", VERB_NONE},
	{"publish", VERB_NONE},
	{"query", VERB_NONE},
	{"rebuild", VERB_NONE},
	{"rb", VERB_NONE},
	{"repo", VERB_NONE},
	{"restart", VERB_NONE},
	{"root", VERB_NONE},
	{"run", VERB_NONE},
	{"run-script", VERB_NONE},
	{"rum", VERB_NONE},
	{"urn", VERB_NONE},
	{"sbom", VERB_NONE},
	{"search", VERB_NONE},
	{"s", VERB_NONE},
	{"se", VERB_NONE},
	{"find", VERB_NONE},
	{"set", VERB_NONE},
	{"show", VERB_NONE},
	{"shrinkwrap", VERB_NONE},
	{"star", VERB_NONE},
	{"stars", VERB_NONE},
	{"start", VERB_NONE},
	{"stop", VERB_NONE},
	{"team", VERB_NONE},
	{"test", VERB_NONE},
	{"t", VERB_NONE},
	{"tst", VERB_NONE},
	{"token", VERB_NONE},
	{"undeprecate", VERB_NONE},
	{"unpublish", VERB_NONE},
	{"unstar", VERB_NONE},
	{"v", VERB_NONE},
	{"version", VERB_NONE},
	{"verison", VERB_NONE},
	{"view", VERB_NONE},
	{"whoami", VERB_NONE},
	{0},
};

#define NPM_VALUES                                                                                \
	"access audit-level auth-type before ca cache cache-max cache-min cafile call cert cidr " \
	"cpu depth diff diff-dst-prefix diff-src-prefix diff-unified dist-url editor "            \
	"expect-result-count expires fetch-retries fetch-retry-factor fetch-retry-maxtimeout "    \
	"fetch-retry-mintimeout fetch-timeout git globalconfig heading https-proxy include "      \
	"init-author-email init-author-name init-author-url init-license init-module "            \
	"init-type init-version init.author.email init.author.name init.author.url "              \
	"init.license init.module init.version install-strategy key libc local-address location " \
	"lockfile-version loglevel logs-dir logs-max maxsockets message name node-gyp "           \
	"node-options noproxy omit only only-allow os otp pack-destination package "              \
	"package-lock-only-reason preid prefix provenance-file proxy python registry "            \
	"replace-registry-host save-prefix sbom-format sbom-type scope script-shell "             \
	"searchexclude searchlimit searchopts searchstaleness shell tag tag-version-prefix tmp "  \
	"umask user-agent userconfig viewer which workspace"

static const struct verb runner_verbs[] = {{0}};

static const struct verb pnpm_verbs[] = {
	{"install", VERB_ADD},
	{"i", VERB_ADD},
	{"add", VERB_ADD},
	{"update", VERB_ADD},
	{"up", VERB_ADD},
	{"upgrade", VERB_ADD},
	{"install-test", VERB_ADD},
	{"it", VERB_ADD},
	{"link", VERB_ADD},
	{"ln", VERB_ADD},
	{"ci", VERB_PROJECT},
	{"clean-install", VERB_PROJECT},
	{"ic", VERB_PROJECT},
	{"install-clean", VERB_PROJECT},
	{"import", VERB_PROJECT},
	{"fetch", VERB_PROJECT},
	{"dedupe", VERB_PROJECT},
	{"prune", VERB_PROJECT},
	{"remove", VERB_PROJECT},
	{"rm", VERB_PROJECT},
	{"uninstall", VERB_PROJECT},
	{"un", VERB_PROJECT},
	{"deploy", VERB_PROJECT},
	{"dlx", VERB_RUN},
	{"create", VERB_CREATE},
	{0},
};

static const struct verb yarn_verbs[] = {
	{"install", VERB_PROJECT},
	{"add", VERB_ADD},
	{"up", VERB_ADD},
	{"upgrade", VERB_ADD},
	{"upgrade-interactive", VERB_PROJECT},
	{"link", VERB_ADD},
	{"remove", VERB_PROJECT},
	{"dedupe", VERB_PROJECT},
	{"import", VERB_PROJECT},
	{"rebuild", VERB_PROJECT},
	{"dlx", VERB_RUN},
	{"create", VERB_CREATE},
	{"global", VERB_GROUP},
	{"global add", VERB_NAMED},
	{"global upgrade", VERB_NAMED},
	{"plugin", VERB_GROUP},
	{"plugin import", VERB_NAMED},
	{"set", VERB_GROUP},
	{"set version", VERB_NAMED},
	{"workspaces", VERB_GROUP},
	{"workspaces focus", VERB_PROJECT},
	{0},
};

static const struct verb bun_verbs[] = {
	{"install", VERB_ADD},
	{"i", VERB_ADD},
	{"add", VERB_ADD},
	{"a", VERB_ADD},
	{"update", VERB_ADD},
	{"link", VERB_ADD},
	{"ci", VERB_PROJECT},
	{"remove", VERB_PROJECT},
	{"rm", VERB_PROJECT},
	{"x", VERB_RUN},
	{"create", VERB_CREATE},
	{"c", VERB_CREATE},
	{0},
};

static const struct verb deno_verbs[] = {
	{"install", VERB_ADD},
	{"i", VERB_ADD},
	{"add", VERB_ADD},
	{"cache", VERB_NAMED},
	{"x", VERB_RUN},
	{"run", VERB_REMOTE},
	{0},
};

static const struct verb pip_verbs[] = {
	{"install", VERB_NAMED},
	{"download", VERB_NAMED},
	{"wheel", VERB_NAMED},
	{0},
};

#define PIP_VALUES                                                                             \
	"abi build-option cache-dir cert client-cert config-settings constraint dest "         \
	"editable exists-action extra-index-url find-links global-option group "               \
	"implementation index-url install-option keyring-provider log log-file no-binary "     \
	"only-binary only-final path platform prefix progress-bar proxy pypi-url python "      \
	"python-version report requirement resume-retries retries root root-user-action "      \
	"src source source-dir source-directory target timeout trusted-host upgrade-strategy " \
	"uploaded-prior-to use-deprecated use-feature wheel-dir local-log build build-dir "    \
	"build-constraint config-setting"

static const struct verb uv_verbs[] = {
	{"pip", VERB_GROUP},
	{"pip install", VERB_NAMED},
	{"pip sync", VERB_NAMED},
	{"add", VERB_ADD},
	{"sync", VERB_PROJECT},
	{"remove", VERB_PROJECT},
	{"tool", VERB_GROUP},
	{"tool install", VERB_NAMED},
	{"tool run", VERB_RUN},
	{"tool upgrade", VERB_NAMED},
	{"run", VERB_WITH},
	{"x", VERB_RUN},
	{0},
};

#define UV_VALUES                                                                             \
	"allow-insecure-host allow-index-insecure-host branch cache-dir color config-file "   \
	"config-setting config-settings-package constraint constraints default-index "        \
	"directory editable env-file exclude-newer exclude-newer-package extra "              \
	"extra-index-url find-links fork-strategy from group index index-strategy index-url " \
	"keyring-provider link-mode no-binary-package no-build-isolation-package "            \
	"no-build-package no-extra no-group only-binary only-group override overrides "       \
	"build-constraints optional package prefix prerelease project python "                \
	"python-platform python-preference python-version refresh-package reinstall-package " \
	"requirement requirements resolution rev script tag target upgrade-package with "     \
	"with-editable with-requirements with-executables-from torch-backend marker bounds"

static const struct verb pipx_verbs[] = {
	{"install", VERB_NAMED},       {"run", VERB_RUN},
	{"inject", VERB_NAMED},        {"upgrade", VERB_NAMED},
	{"upgrade-all", VERB_PROJECT}, {"install-all", VERB_PROJECT},
	{"reinstall", VERB_NAMED},     {"reinstall-all", VERB_PROJECT},
	{"runpip", VERB_NAMED},        {0},
};

static const struct verb poetry_verbs[] = {
	{"add", VERB_NAMED},
	{"install", VERB_PROJECT},
	{"update", VERB_PROJECT},
	{"sync", VERB_PROJECT},
	{"remove", VERB_PROJECT},
	{"self", VERB_GROUP},
	{"self add", VERB_NAMED},
	{"self update", VERB_PROJECT},
	{"self install", VERB_PROJECT},
	{"self sync", VERB_PROJECT},
	{0},
};

static const struct verb pdm_verbs[] = {
	{"add", VERB_NAMED},        {"install", VERB_PROJECT},
	{"update", VERB_PROJECT},   {"sync", VERB_PROJECT},
	{"remove", VERB_PROJECT},   {"self", VERB_GROUP},
	{"self add", VERB_NAMED},   {"plugin", VERB_GROUP},
	{"plugin add", VERB_NAMED}, {0},
};

static const struct verb conda_verbs[] = {
	{"install", VERB_ADD},        {"create", VERB_ADD},
	{"update", VERB_ADD},         {"upgrade", VERB_ADD},
	{"env", VERB_GROUP},          {"env create", VERB_PROJECT},
	{"env update", VERB_PROJECT}, {0},
};

static const struct verb cargo_verbs[] = {
	{"install", VERB_ADD},
	{"add", VERB_NAMED},
	{"binstall", VERB_NAMED},
	{0},
};

static const struct verb go_verbs[] = {
	{"install", VERB_NAMED},
	{"get", VERB_NAMED},
	{"run", VERB_REMOTE},
	{0},
};

static const struct verb gem_verbs[] = {
	{"install", VERB_ADD}, {"i", VERB_ADD}, {"update", VERB_ADD}, {"exec", VERB_RUN}, {0},
};

static const struct verb bundle_verbs[] = {
	{"install", VERB_PROJECT},
	{"i", VERB_PROJECT},
	{"update", VERB_PROJECT},
	{"add", VERB_NAMED},
	{0},
};

static const struct verb composer_verbs[] = {
	{"install", VERB_PROJECT},
	{"i", VERB_PROJECT},
	{"update", VERB_PROJECT},
	{"upgrade", VERB_PROJECT},
	{"u", VERB_PROJECT},
	{"require", VERB_NAMED},
	{"r", VERB_NAMED},
	{"create-project", VERB_NAMED},
	{"global", VERB_GROUP},
	{"global require", VERB_NAMED},
	{"global install", VERB_PROJECT},
	{"global update", VERB_PROJECT},
	{0},
};

static const struct verb apt_verbs[] = {
	{"install", VERB_NAMED},
	{"reinstall", VERB_NAMED},
	{"upgrade", VERB_PROJECT},
	{"full-upgrade", VERB_PROJECT},
	{"dist-upgrade", VERB_PROJECT},
	{"build-dep", VERB_NAMED},
	{0},
};

/* A tool without the verb of its family: npx is `npm exec`. */
const struct tool tools[] = {
	{.names = "npm",
         .manager = "npm",
         .verbs = npm_verbs,
         .prefixes = true,
         .spec = SPEC_NPM,
         .short_values = "CwLcm",
         .long_values = NPM_VALUES,
         .package_options = "package",
         .registry_options = "registry reg",
         .folder_options = "C prefix"},
	{.names = "npx",
         .manager = "npm",
         .verbs = runner_verbs,
         .other = VERB_RUN,
         .prefixes = true,
         .spec = SPEC_NPM,
         .short_values = "CwLcmpn",
         .long_values = NPM_VALUES,
         .package_options = "p package",
         .registry_options = "registry reg",
         .folder_options = "C prefix"},
	{.names = "pnpm",
         .manager = "pnpm",
         .verbs = pnpm_verbs,
         .spec = SPEC_NPM,
         .short_values = "CwF",
         .long_values =
                 "dir filter filter-prod loglevel reporter registry store-dir virtual-store-dir "
                 "package lockfile-dir modules-dir global-dir network-concurrency cache-dir "
                 "use-node-version workspace-concurrency package-import-method prefix",
         .package_options = "package",
         .registry_options = "registry",
         .folder_options = "C dir prefix"},
	{.names = "pnpx pnx",
         .manager = "pnpm",
         .verbs = runner_verbs,
         .other = VERB_RUN,
         .spec = SPEC_NPM,
         .short_values = "C",
         .long_values = "package registry dir",
         .package_options = "package",
         .registry_options = "registry"},
	{.names = "yarn yarnpkg",
         .manager = "yarn",
         .verbs = yarn_verbs,
         .bare = VERB_PROJECT,
         .spec = SPEC_NPM,
         .short_values = "p",
         .long_values = "cwd registry cache-folder modules-folder global-folder link-folder mutex "
                        "network-timeout network-concurrency otp proxy https-proxy package "
                        "preferred-cache-folder use-yarnrc emoji",
         .package_options = "p package",
         .registry_options = "registry",
         .folder_options = "cwd"},
	{.names = "bun",
         .manager = "bun",
         .verbs = bun_verbs,
         .spec = SPEC_NPM,
         .short_values = "c",
         .long_values =
                 "config cwd registry cache-dir backend concurrent-scripts network-concurrency "
                 "omit cafile ca filter package",
         .package_options = "package",
         .registry_options = "registry",
         .folder_options = "cwd"},
	{.names = "bunx",
         .manager = "bun",
         .verbs = runner_verbs,
         .other = VERB_RUN,
         .spec = SPEC_NPM,
         .short_values = "p",
         .long_values = "package",
         .package_options = "p package"},
	{.names = "deno",
         .manager = "deno",
         .verbs = deno_verbs,
         .other = VERB_REMOTE,
         .spec = SPEC_NPM,
         .short_values = "nLc",
         .long_values = "name root config import-map lock reload node-modules-dir log-level"},
	{.names = "pip",
         .manager = "pip",
         .verbs = pip_verbs,
         .spec = SPEC_PYTHON,
         .short_values = "rcetifCdwb",
         .long_values = PIP_VALUES,
         .package_options = "e editable",
         .file_options = "r requirement",
         .registry_options = "i index-url pypi-url extra-index-url f find-links"},
	{.names = "uv",
         .manager = "uv",
         .verbs = uv_verbs,
         .spec = SPEC_PYTHON,
         .short_values = "rcebfipPCw",
         .long_values = UV_VALUES,
         .package_options = "e editable with with-editable from w",
         .file_options = "r requirement requirements with-requirements",
         .registry_options = "i index-url default-index index extra-index-url f find-links",
         .folder_options = "directory project"},
	{.names = "uvx",
         .manager = "uv",
         .verbs = runner_verbs,
         .other = VERB_RUN,
         .spec = SPEC_PYTHON,
         .short_values = "rcebfipPCw",
         .long_values = UV_VALUES,
         .package_options = "e editable with with-editable from w",
         .file_options = "r requirement requirements with-requirements",
         .registry_options = "i index-url default-index index extra-index-url f find-links",
         .folder_options = "directory project"},
	{.names = "pipx",
         .manager = "pipx",
         .verbs = pipx_verbs,
         .spec = SPEC_PYTHON,
         .short_values = "i",
         .long_values = "spec index-url pip-args python suffix preinstall with backend",
         .package_options = "spec preinstall with",
         .registry_options = "i index-url"},
	{.names = "poetry",
         .manager = "poetry",
         .verbs = poetry_verbs,
         .spec = SPEC_PYTHON,
         .short_values = "CGPE",
         .long_values =
                 "directory project group extras python platform source optional markers with "
                 "without only",
         .registry_options = "source",
         .folder_options = "C directory P project"},
	{.names = "pdm",
         .manager = "pdm",
         .verbs = pdm_verbs,
         .spec = SPEC_PYTHON,
         .short_values = "pGLe",
         .long_values = "project group lockfile editable venv config with without override",
         .package_options = "e editable",
         .folder_options = "p project"},
	{.names = "easy_install",
         .manager = "pip",
         .verbs = runner_verbs,
         .bare = VERB_PROJECT,
         .other = VERB_NAMED,
         .spec = SPEC_PYTHON,
         .short_values = "dsifbHS",
         .long_values = "install-dir script-dir index-url find-links build-directory record prefix",
         .registry_options = "i index-url f find-links"},
	{.names = "conda mamba micromamba",
         .manager = "conda",
         .verbs = conda_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "ncpfr",
         .long_values =
                 "name channel prefix file root-prefix subdir solver platform rc-file repodata-fn",
         .registry_options = "c channel"},
	{.names = "cargo",
         .manager = "cargo",
         .verbs = cargo_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "FjpZ",
         .long_values = "version git branch tag rev path root registry index features bin example "
                        "profile target target-dir jobs color config package manifest-path "
                        "message-format rename",
         .package_options = "git path",
         .registry_options = "registry index"},
	{.names = "go",
         .manager = "go",
         .verbs = go_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "Cpo",
         .long_values = ""},
	{.names = "gem",
         .manager = "gem",
         .verbs = gem_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "vinsPg",
         .long_values = "version install-dir bindir source trust-policy file platform document "
                        "http-proxy target-rbconfig build-root",
         .package_options = "g file",
         .registry_options = "s source"},
	{.names = "bundle bundler",
         .manager = "gem",
         .verbs = bundle_verbs,
         .bare = VERB_PROJECT,
         .spec = SPEC_PLAIN,
         .short_values = "jvsg",
         .long_values = "jobs gemfile path version source group with without retry git branch",
         .registry_options = "s source git"},
	{.names = "composer",
         .manager = "composer",
         .verbs = composer_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "ds",
         .long_values = "working-dir repository stability",
         .registry_options = "repository",
         .folder_options = "d working-dir"},
	{.names = "apt apt-get aptitude",
         .manager = "apt",
         .verbs = apt_verbs,
         .spec = SPEC_PLAIN,
         .short_values = "otc",
         .long_values = "option target-release default-release config-file"},
};
const size_t tools_n = sizeof tools / sizeof tools[0];

bool word_in(const char *list, const char *word, size_t len)
{
	while (list && *list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

const struct tool *tools_named(const char *name, size_t len)
{
	for (size_t i = 0; i < tools_n; i++)
		if (word_in(tools[i].names, name, len))
			return &tools[i];
	return NULL;
}
