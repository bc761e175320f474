/* package/: which packages a command line would install, and which command
 * lines install none. */
#include "package/package.h"
#include "base/buf.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a world of its own ----------------------------------------------- */

struct file {
	const char *path;
	const char *text;
};

struct world {
	const struct file *files; /* ended by a NULL path */
};

static const char *look(const struct world *w, const char *path)
{
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	for (const struct file *f = w->files; f && f->path; f++)
		if (strcmp(f->path, path) == 0)
			return f->text;
	return NULL;
}

static char *read_text(void *ctx, const char *path, size_t *len_bytes)
{
	const char *text = look(ctx, path);

	if (text)
		*len_bytes = strlen(text);
	return text ? strdup(text) : NULL;
}

static bool exists(void *ctx, const char *path)
{
	return look(ctx, path) != NULL;
}

static bool is_fixed(void *ctx, const char *path)
{
	(void)ctx;
	return strcmp(path, "/opt/wheels") == 0;
}

#define WORDS_MAX 64

/* Splits at blanks; "~" stands for a blank within a word. */
static size_t split(char *line, const char **words)
{
	size_t n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " ", &save); w && n < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save)) {
		for (char *c = w; *c; c++)
			*c = *c == '~' ? ' ' : *c;
		words[n++] = w;
	}
	words[n] = NULL;
	return n;
}

static void show(const struct package_list *l, struct buf *out)
{
	if (!l->manager) {
		buf_str(out, "no manager");
		return;
	}
	buf_str(out, l->installs ? l->manager : "nothing");
	for (size_t i = 0; l->installs && i < l->n; i++) {
		const struct package *p = &l->items[i];

		buf_fmt(out, "%s %s", i ? "," : ":", p->name);
		if (p->version)
			buf_fmt(out, " %s", p->version);
		buf_fmt(out, "%s%s%s%s%s", p->unpinned ? " unpinned" : "", p->git ? " git" : "",
		        p->url ? " url" : "", p->path ? " path" : "", p->dependency ? " dep" : "");
		if (p->root)
			buf_fmt(out, " of %s", p->root);
		if (p->registry && strncmp(p->registry, "registry:", 9) != 0)
			buf_fmt(out, " from %s", p->registry);
		if (!p->registry && !p->path && !p->git && !p->url)
			buf_str(out, " from several");
	}
}

/* @line: NAME=value words, then the program and its arguments.  A program that
 * begins with #! is a script of the interpreter env. */
static void check_in(const struct file *files, const char *line, const char *want)
{
	struct world w = {.files = files};
	char text[2048];
	const char *words[WORDS_MAX + 1];
	const char *envp[WORDS_MAX + 1];
	size_t env_n = 0;
	size_t n;
	struct package_program p = {.image = "/usr/bin/env"};
	struct package_world world = {
		.ctx = &w, .envp = envp, .read = read_text, .exists = exists, .fixed = is_fixed};
	struct package_list list;
	auto_buf got = BUF_INIT;

	snprintf(text, sizeof text, "%s", line);
	n = split(text, words);
	while (env_n < n && strchr(words[env_n], '=')) {
		envp[env_n] = words[env_n];
		env_n++;
	}
	envp[env_n] = NULL;
	p.argv = words + env_n;
	p.argc = n - env_n;
	if (strncmp(p.argv[0], "#!", 2) == 0)
		p.script = p.argv[0] + 2;
	else
		p.image = p.argv[0];
	p.invoked = p.script ? p.script : p.image;
	if (package_recognise(&p, &world, &list) != 0)
		buf_str(&got, "failed");
	else
		show(&list, &got);
	package_list_free(&list);
	tap_is_str(buf_text(&got), want, "%s", line);
}

static void check(const char *line, const char *want)
{
	static const struct file project[] = {{"package.json", "{}"}, {0}};

	check_in(project, line, want);
}

/* ---- npm -------------------------------------------------------------- */

static void test_npm_verbs(void)
{
	static const char *const verbs[] = {
		"install",      "i",      "add",         "in",     "ins",     "inst",
		"insta",        "instal", "isnt",        "isnta",  "isntal",  "isntall",
		"install-test", "it",     "update",      "up",     "upgrade", "udpate",
		"link",         "ln",     "installTest", "instal", "insta",
	};
	static const char *const none[] = {
		"test",
		"run install",
		"run-script install",
		"ls",
		"list",
		"view evilpkg",
		"--version",
		"config get registry",
		"pack",
		"publish",
		"run install-deps",
		"t",
		"start",
		"explain i",
		"help install",
		"search install",
		"rebuild",
		"pkg get name",
		"audit",
		"whoami",
		"",
	};
	char line[256];

	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		snprintf(line, sizeof line, "#!/usr/lib/node_modules/npm/bin/npm-cli.js %s evilpkg",
		         verbs[i]);
		check(line, "npm: evilpkg unpinned");
	}
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		snprintf(line, sizeof line, "#!/usr/bin/npm %s", none[i]);
		check(line, "nothing");
	}
}

static void test_npm_spellings(void)
{
	check("/usr/bin/node /usr/lib/node_modules/npm/bin/npm-cli.js i evilpkg",
	      "npm: evilpkg unpinned");
	check("/usr/bin/node --no-warnings -r ./x.js /usr/lib/node_modules/npm/bin/npm-cli.js i a",
	      "npm: a unpinned");
	check("/usr/bin/node -e npm install evilpkg", "no manager");
	check("#!/usr/bin/npm --registry http://r:81 --no-progress i a@1.2.3 b@^2",
	      "npm: a 1.2.3 from r:81, b ^2 unpinned from r:81");
	check("#!/usr/bin/npm i --reg http://r:81 a", "npm: http://r:81 unpinned url from r:81, "
	                                              "a unpinned from r:81");
	check("#!/usr/bin/npm --unknown x i evil", "npm: i unpinned, evil unpinned");
	check("#!/usr/bin/npm --unknown i evil", "npm: evil unpinned");
	check("#!/usr/bin/npm i -D -E @s/n@2.0.0", "npm: @s/n 2.0.0");
	check("#!/usr/bin/npm i good@npm:evil@1.0.0", "npm: evil 1.0.0");
	check("#!/usr/bin/npm i good@http://e:1/x.tgz",
	      "npm: http://e:1/x.tgz unpinned url from e:1");
	check("#!/usr/bin/npm i user/repo#main git+ssh://git@h/x.git ./dir a.tgz file:../b",
	      "npm: user/repo#main unpinned git, git+ssh://git@h/x.git unpinned git from h, "
	      "./dir unpinned path, a.tgz unpinned path, file:../b unpinned path");
	check("#!/usr/bin/npm i -- -weird", "npm: -weird unpinned");
	check("#!/usr/bin/npm install", "nothing");
	check_in(NULL, "#!/usr/bin/npm install", "npm: . unpinned path");
	check_in(NULL, "#!/usr/bin/npm i -g evil", "npm: evil unpinned");
	check("#!/usr/bin/npm audit fix", "nothing");
}

static void test_npm_run(void)
{
	static const struct file local[] = {
		{"package.json", "{}"}, {"node_modules/.bin/tsc", ""}, {0}};

	check("#!/usr/bin/npx -y evilpkg --help", "npm: evilpkg unpinned");
	check("#!/usr/bin/npx --package=a --package b@1.0.0 -- cmd", "npm: a unpinned, b 1.0.0");
	check("#!/usr/bin/npx -p a cmd x", "npm: a unpinned");
	check("#!/usr/bin/npm exec -y --package=evilpkg -- evilpkg", "npm: evilpkg unpinned");
	check("#!/usr/bin/npm x -y -- evilpkg", "npm: evilpkg unpinned");
	check("npm_config_package=evil #!/usr/bin/npm exec -- cmd", "npm: evil unpinned");
	check("#!/usr/bin/npm init", "nothing");
	check("#!/usr/bin/npm init foo", "npm: create-foo unpinned");
	check("#!/usr/bin/npm create foo@1.2.3 x", "npm: create-foo 1.2.3");
	check("#!/usr/bin/npm init @s", "npm: @s/create unpinned");
	check("#!/usr/bin/npm init @s@1", "npm: @s/create 1 unpinned");
	check("#!/usr/bin/npm init @s/foo@1.0.0", "npm: @s/create-foo 1.0.0");
	check_in(local, "#!/usr/bin/npx tsc -p .", "nothing");
	check_in(local, "#!/usr/bin/npx tsc@5 -p .", "npm: tsc 5 unpinned");
	check_in(local, "#!/usr/bin/npx other", "npm: other unpinned");
}

static void test_npm_project(void)
{
	static const struct file bare[] = {
		{"package.json",
	         "{\"dependencies\":{\"a\":\"^1.0.0\",\"b\":\"1.2.3\"},"
	         "\"devDependencies\":{\"c\":\"http://h/c.tgz\",\"d\":\"npm:e@2.0.0\"},"
	         "\"overrides\":{\"f\":{\"g\":\"npm:evil@1.0.0\"},\"h\":\"1.0\"}}"},
		{0}};
	static const struct file locked[] = {
		{"package.json", "{\"dependencies\":{\"a\":\"^1.0.0\"}}"},
		{"package-lock.json",
	         "{\"lockfileVersion\":3,\"packages\":{\"\":{\"dependencies\":{\"a\":\"^1.0.0\"}},"
	         "\"node_modules/a\":{\"version\":\"1.4.0\","
	         "\"resolved\":\"https://registry.npmjs.org/a/-/a-1.4.0.tgz\","
	         "\"integrity\":\"sha512-x\",\"dependencies\":{\"b\":\"*\"}},"
	         "\"node_modules/b\":{\"version\":\"2.0.0\",\"dependencies\":{\"c\":\"1\"},"
	         "\"resolved\":\"http://evil:8/b.tgz\"},"
	         "\"node_modules/b/node_modules/c\":{\"version\":\"1.0.0\"},"
	         "\"node_modules/stray\":{\"version\":\"9.9.9\"},"
	         "\"packages/x\":{\"version\":\"0.0.0\"}}}"},
		{0}};
	static const struct file old[] = {
		{"package.json", "{\"dependencies\":{\"a\":\"1\"}}"},
		{"package-lock.json",
	         "{\"lockfileVersion\":1,\"dependencies\":{\"a\":{\"version\":\"1.0.0\","
	         "\"dependencies\":{\"b\":{\"version\":\"2.0.0\"}}},"
	         "\"c\":{\"version\":\"http://h/c.tgz\"}}}"},
		{0}};
	static const struct file broken[] = {{"package.json", "{\"dependencies\":{\"a\":"}, {0}};
	static const struct file above[] = {
		{"../../package.json", "{\"dependencies\":{\"a\":\"1\"}}"}, {0}};
	static const struct file spaces[] = {
		{"package.json", "{\"workspaces\":[\"x\"],\"dependencies\":{\"a\":\"1\"}}"}, {0}};

	check_in(bare, "#!/usr/bin/npm install",
	         "npm: a ^1.0.0 unpinned, b 1.2.3, http://h/c.tgz unpinned url from h, e 2.0.0, "
	         "evil 1.0.0");
	check_in(bare, "#!/usr/bin/npm update",
	         "npm: a ^1.0.0 unpinned, b 1.2.3, http://h/c.tgz unpinned url from h, e 2.0.0, "
	         "evil 1.0.0");
	check_in(locked, "#!/usr/bin/npm ci",
	         "npm: a 1.4.0, b 2.0.0 dep of a from evil:8, c 1.0.0 dep of a, stray 9.9.9 dep");
	check_in(old, "#!/usr/bin/npm ci",
	         "npm: a 1.0.0, b 2.0.0 dep of a, http://h/c.tgz unpinned url from h");
	check_in(broken, "#!/usr/bin/npm i", "npm: . unpinned path");
	check_in(above, "#!/usr/bin/npm i", "npm: a 1 unpinned");
	check_in(spaces, "#!/usr/bin/npm i", "npm: a 1 unpinned, . unpinned path");
	check_in(bare, "#!/usr/bin/npm i x",
	         "npm: x unpinned, a ^1.0.0 unpinned, b 1.2.3, http://h/c.tgz unpinned url from h, "
	         "e 2.0.0, evil 1.0.0");
	check_in(bare, "#!/usr/bin/npm i -g x", "npm: x unpinned");
	check_in(bare, "#!/usr/bin/yarn",
	         "yarn: a ^1.0.0 unpinned, b 1.2.3, "
	         "http://h/c.tgz unpinned url from h, e 2.0.0, evil 1.0.0");
	check_in(bare, "#!/usr/bin/npm uninstall a",
	         "npm: a ^1.0.0 unpinned, b 1.2.3, http://h/c.tgz unpinned url from h, e 2.0.0, "
	         "evil 1.0.0");
}

static void test_npm_registries(void)
{
	static const struct file rc[] = {
		{"package.json", "{}"},
		{".npmrc",
	         "; comment\nregistry=http://evil:1/\n@corp:registry=https://Corp.Example/npm/\n"},
		{0}};
	static const struct file user[] = {
		{"package.json", "{}"}, {"urc", "registry = http://u:p@evil:2"}, {0}};
	static const struct file home[] = {
		{"package.json", "{}"}, {"/h/.npmrc", "registry=http://evil:3"}, {0}};

	check("npm_config_registry=http://evil:9 #!/usr/bin/npm i a",
	      "npm: a unpinned from evil:9");
	check("NPM_CONFIG_REGISTRY=http://evil:9 #!/usr/bin/npm i a",
	      "npm: a unpinned from evil:9");
	check("npm_config_registry=http://evil:9 #!/usr/bin/npm i --registry=https://good a",
	      "npm: a unpinned from good");
	check_in(rc, "#!/usr/bin/npm i a @corp/b",
	         "npm: a unpinned from evil:1, "
	         "@corp/b unpinned from corp.example");
	check_in(user, "#!/usr/bin/npm i --userconfig urc a", "npm: a unpinned from evil:2");
	check_in(user, "npm_config_userconfig=urc #!/usr/bin/npm i a",
	         "npm: a unpinned from evil:2");
	check_in(home, "HOME=/h #!/usr/bin/npm i a", "npm: a unpinned from evil:3");
	check("#!/usr/bin/npm i --@s:registry=http://evil:4 @s/a b",
	      "npm: @s/a unpinned from evil:4, b unpinned");
}

/* ---- pip -------------------------------------------------------------- */

static void test_pip(void)
{
	static const struct file files[] = {
		{"r.txt",
	         "-i http://evil:5/simple\ngoodpkg==1.0 --hash=sha256:x # why\n-r more.txt\n"
	         "# nothing\n\nfoo \\\n >= 2 ; python_version < '4'\n"},
		{"more.txt", "-e git+https://h/x.git\n-rr.txt\nBar_Baz.qux~=1.0\n"},
		{0}};

	check("#!/usr/bin/pip install evilpkg", "pip: evilpkg unpinned");
	check("#!/usr/bin/pip3.11 install Evil_Pkg.x==1.0", "pip: evil-pkg-x ==1.0");
	check("/usr/bin/python3 -m pip install evilpkg", "pip: evilpkg unpinned");
	check("/usr/bin/python3.11 -W ignore -u -mpip install evilpkg", "pip: evilpkg unpinned");
	check("/usr/bin/python -Im pip install a", "pip: a unpinned");
	check("/usr/bin/python3 -I -X utf8 -m pip._internal install a", "pip: a unpinned");
	check("/usr/bin/python3 /usr/lib/python3/dist-packages/pip/__main__.py install a",
	      "pip: a unpinned");
	check("/usr/bin/python3 /usr/lib/python3/dist-packages/pip install a", "pip: a unpinned");
	check("/usr/bin/python3 pip/install.py", "no manager");
	check("/usr/bin/python3 -c import~sys pip install evilpkg", "no manager");
	check("/usr/bin/python3 -m http.server pip install", "no manager");
	check("#!/usr/bin/pip --no-input -q --log pip.log install -- evilpkg",
	      "pip: evilpkg unpinned");
	check("#!/usr/bin/pip install --pre evil", "pip: evil unpinned");
	check("#!/usr/bin/pip list", "nothing");
	check("#!/usr/bin/pip show install", "nothing");
	check("#!/usr/bin/pip --version", "nothing");
	check("#!/usr/bin/pip config list", "nothing");
	check("#!/usr/bin/pip download a", "pip: a unpinned");
	check("#!/usr/bin/pip install a[x,y]>=1,<2 b~@~http://h/b.whl ./c.whl /d.tar.gz .",
	      "pip: a >=1,<2 unpinned, http://h/b.whl unpinned url from h, ./c.whl unpinned path, "
	      "/d.tar.gz unpinned path, . unpinned path");
	check("#!/usr/bin/pip install -qt dir a -ihttp://evil:6", "pip: a unpinned from evil:6");
	check("#!/usr/bin/pip install --index-url http://r/none --extra-index-url http://evil:7 a",
	      "pip: a unpinned from several");
	check("#!/usr/bin/pip install --extra-index-url http://evil:7 a",
	      "pip: a unpinned from several");
	check("#!/usr/bin/pip install --no-index --find-links http://evil:8/g/ a",
	      "pip: a unpinned from evil:8");
	check("PIP_INDEX_URL=http://evil:9 #!/usr/bin/pip install a",
	      "pip: a unpinned from evil:9");
	check("PIP_EXTRA_INDEX_URL=http://evil:9 #!/usr/bin/pip install --index-url http://r a",
	      "pip: a unpinned from several");
	check("PIP_FIND_LINKS=/opt/wheels #!/usr/bin/pip install a", "pip: a unpinned");
	check("PIP_FIND_LINKS=/w/wheels #!/usr/bin/pip install a", "pip: a unpinned from several");
	check("YARN_REGISTRY=http://evil:9 #!/usr/bin/pip install a", "pip: a unpinned");
	check("PIP_FIND_LINKS=/w/wheels PIP_INDEX_URL=http://evil:9 #!/usr/bin/npm install a",
	      "npm: a unpinned");
	check_in(files, "#!/usr/bin/pip install -r r.txt",
	         "pip: goodpkg ==1.0 from evil:5, git+https://h/x.git unpinned git from h, "
	         "bar-baz-qux ~=1.0 unpinned from evil:5, foo >=2 unpinned from evil:5");
	check_in(files, "#!/usr/bin/pip install -r absent.txt", "pip: . unpinned path");
}

static void test_pip_config(void)
{
	static const struct file files[] = {
		{"p.conf", "[global]\nindex-url = http://evil:5/simple\n"},
		{"/h/.config/pip/pip.conf",
	         "[global]\nextra-index-url =\n  http://a:1/x\n  http://b:2\n"},
		{"/v/bin/../pip.conf", "[install]\nindex-url: http://evil:6\n"},
		{0}};

	check_in(files, "PIP_CONFIG_FILE=p.conf #!/usr/bin/pip install a",
	         "pip: a unpinned from evil:5");
	check_in(files, "HOME=/h #!/usr/bin/pip install a", "pip: a unpinned from several");
	check_in(files, "#!/v/bin/pip install a", "pip: a unpinned from evil:6");
}

/* ---- others ----------------------------------------------------------- */

static void test_others(void)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{"#!/s/pnpm add evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/pnpm dlx evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/pnpm -C . --silent add evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/pnpm run install", "nothing"},
		{"#!/s/yarn add evilpkg", "yarn: evilpkg unpinned"},
		{"#!/s/yarn dlx evilpkg", "yarn: evilpkg unpinned"},
		{"#!/s/yarn global add evilpkg", "yarn: evilpkg unpinned"},
		{"#!/s/yarn test", "nothing"},
		{"#!/s/bun add evilpkg", "bun: evilpkg unpinned"},
		{"/s/bun x evilpkg", "bun: evilpkg unpinned"},
		{"#!/s/bunx evilpkg", "bun: evilpkg unpinned"},
		{"#!/s/pnpx evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/uv pip install evilpkg", "uv: evilpkg unpinned"},
		{"#!/s/uv --quiet pip install evilpkg", "uv: evilpkg unpinned"},
		{"#!/s/uv pip list", "nothing"},
		{"#!/s/uv add evilpkg", "uv: evilpkg unpinned"},
		{"#!/s/uv run --with evilpkg,b x.py", "uv: evilpkg unpinned, b unpinned"},
		{"#!/s/uv run x.py", "nothing"},
		{"#!/s/uv tool install evilpkg", "uv: evilpkg unpinned"},
		{"#!/s/uvx evilpkg@1.0 install", "uv: evilpkg 1.0 unpinned"},
		{"#!/s/uvx --from evilpkg cmd", "uv: evilpkg unpinned"},
		{"#!/s/pipx install evilpkg", "pipx: evilpkg unpinned"},
		{"#!/s/pipx run evilpkg install", "pipx: evilpkg unpinned"},
		{"#!/s/poetry add evilpkg", "poetry: evilpkg unpinned"},
		{"#!/s/poetry install", "poetry: . unpinned path"},
		{"#!/s/pdm add evilpkg", "pdm: evilpkg unpinned"},
		{"#!/s/conda install -y evilpkg", "conda: evilpkg unpinned"},
		{"#!/s/easy_install evilpkg", "pip: evilpkg unpinned"},
		{"#!/s/corepack pnpm dlx evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/corepack pnpm@9 add evilpkg", "pnpm: evilpkg unpinned"},
		{"#!/s/corepack enable", "no manager"},
		{"/s/deno install npm:evilpkg", "deno: evilpkg unpinned"},
		{"/s/deno run -A npm:evilpkg@1.0.0", "deno: evilpkg 1.0.0"},
		{"/s/deno run main.ts", "nothing"},
		{"/usr/bin/node /x/pnpm.cjs dlx evilpkg", "pnpm: evilpkg unpinned"},
		{"/usr/bin/node /x/.yarn/releases/yarn-3.6.1.cjs add evilpkg",
	         "yarn: evilpkg unpinned"},
		{"/usr/bin/node /x/corepack.js yarn add evilpkg", "yarn: evilpkg unpinned"},
		{"/usr/bin/cargo install evil@1.2.3", "cargo: evil 1.2.3"},
		{"/usr/bin/cargo install --git https://h/x",
	         "cargo: https://h/x unpinned url from h"},
		{"/usr/bin/cargo build", "nothing"},
		{"/usr/bin/go install h/x@v1.2.3", "go: h/x v1.2.3"},
		{"/usr/bin/go get -u h/x", "go: h/x unpinned"},
		{"/usr/bin/go run h/x@latest", "go: h/x latest unpinned"},
		{"/usr/bin/go run .", "nothing"},
		{"/usr/bin/go build ./...", "nothing"},
		{"/usr/bin/gem install evil -v 1.0.0", "gem: evil unpinned"},
		{"/usr/bin/bundle", "gem: . unpinned path"},
		{"/usr/bin/composer require v/p:^1", "composer: v/p ^1 unpinned"},
		{"/usr/bin/apt-get -y install evil=1.2-3", "apt: evil 1.2-3 unpinned"},
		{"/usr/bin/apt list", "nothing"},
		{"/usr/bin/grep npm install", "no manager"},
		{"/usr/bin/git commit -m pip~install~evilpkg", "no manager"},
		{"/usr/bin/bash -c npm~install~x", "no manager"},
		{"/usr/bin/bash /s/pnpm add x", "pnpm: x unpinned"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check(cases[i].line, cases[i].want);
	check_in(NULL, "#!/s/pnpm install", "pnpm: . unpinned path");
	check_in(NULL, "#!/s/yarn", "yarn: . unpinned path");
}

int main(void)
{
	test_npm_verbs();
	test_npm_spellings();
	test_npm_run();
	test_npm_project();
	test_npm_registries();
	test_pip();
	test_pip_config();
	test_others();
	return tap_done();
}
