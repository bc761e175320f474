/* tracee/contents, tracee/parcel: hashes of folders that may be hostile. */
#include "tracee/parcel.h"

#include "base/clock.h"
#include "base/own.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct contents_bounds wide = {10000, UINT64_C(1) << 20, 0};

static void put(int dir_fd, const char *name, const char *text, mode_t mode)
{
	auto_fd fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode) != 0)
		tap_ok(false, "%s can be written", name);
}

static int folder(int dir_fd, const char *name)
{
	int fd;

	if (mkdirat(dir_fd, name, 0755) != 0)
		tap_ok(false, "%s can be made", name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	invariant(fd >= 0);
	return fd;
}

static void clear(int dir_fd, const char *name)
{
	auto_fd fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct contents_names names;

	if (fd >= 0 && contents_names(fd, 100000, &names) == 0) {
		for (size_t i = 0; i < names.n; i++)
			clear(fd, names.items[i]);
		contents_names_free(&names);
	}
	if (unlinkat(dir_fd, name, fd >= 0 ? AT_REMOVEDIR : 0) != 0)
		tap_ok(false, "%s can be removed", name);
}

static void is_hash(const uint8_t got[32], const char *lines, size_t len, const char *what)
{
	uint8_t want[32];

	crypto_hash_sha256(want, (const unsigned char *)lines, len);
	tap_ok(memcmp(got, want, 32) == 0, "%s", what);
}

/* SHA-256 of "x". */
#define X "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

static void test_lines(int at)
{
	static const char lines[] = "d - a\0f " X " a/f\0x " X " a/x\0f " X " a.b\0o - pipe";
	auto_fd site = folder(at, "site");
	auto_fd one = folder(site, "one");
	auto_fd inner = folder(one, "a");
	auto_fd modules = folder(one, "node_modules");
	struct parcel p;

	put(inner, "f", "x", 0644);
	put(inner, "x", "x", 0755);
	put(one, "a.b", "x", 0644);
	put(modules, "left-out", "x", 0644);
	tap_is_int(mkfifoat(one, "pipe", 0666), 0, "a FIFO");
	tap_is_int(parcel_node(site, "one", &wide, &p), 0, "a folder with a FIFO is read");
	tap_is_int(p.err, 0, "and hashed");
	tap_ok(p.state == PARCEL_STRAY, "as something without a package.json");
	tap_ok(p.entries == 5 && p.bytes == 3, "so many entries and bytes");
	is_hash(p.sha256, lines, sizeof lines, "as documented: kinds, hashes, names, in order");
	parcel_free(&p);
	clear(at, "site");
}

static void test_node(int at)
{
	auto_fd site = folder(at, "site");
	auto_fd scope = folder(site, "@s");
	auto_fd one = folder(scope, "a");
	struct parcel p;
	uint8_t before[32];

	put(one, "package.json", "{\"name\":\"liar\",\"version\":\"9\"}", 0644);
	tap_is_int(parcel_node(site, "@s/a", &wide, &p), 0, "a scoped package");
	tap_ok(p.state == PARCEL_INSTALLED && !p.err && !p.has_compiled, "is installed");
	tap_is_str(p.name, "@s/a", "its name is its folder's");
	tap_is_str(p.own.name, "liar", "whatever it calls itself");
	tap_is_str(p.own.version, "9", "its version is what it says");
	memcpy(before, p.sha256, sizeof before);
	parcel_free(&p);
	put(one, "package.json", "{\"name\":\"liar\",\"version\":\"8\"}", 0644);
	tap_is_int(parcel_node(site, "@s/a", &wide, &p), 0, "again");
	tap_ok(memcmp(before, p.sha256, sizeof before) != 0, "another content, another hash");
	parcel_free(&p);
	tap_is_int(parcel_node(site, "@s/b", &wide, &p), 0, "one that is not there");
	tap_ok(p.state == PARCEL_REMOVED && !p.err, "is gone");
	parcel_free(&p);
	tap_is_int(parcel_node(site, "@t/b", &wide, &p), 0, "nor its scope");
	tap_ok(p.state == PARCEL_REMOVED && !p.err, "likewise");
	parcel_free(&p);
	tap_is_int(symlinkat("/etc", site, "link"), 0, "a link that leads out");
	tap_is_int(parcel_node(site, "link", &wide, &p), 0, "in a package's place");
	tap_ok(p.state == PARCEL_LINK && p.entries == 1 && p.bytes == 0, "is not followed");
	tap_is_str(p.link, "/etc", "but named");
	parcel_free(&p);
	tap_is_int(symlinkat("/etc", site, "@l"), 0, "a scope that leads out");
	tap_is_int(parcel_node(site, "@l/ssl", &wide, &p), 0, "with a package in it");
	tap_ok(p.state == PARCEL_STRAY && p.err == -ERR_RACE, "is not followed either");
	parcel_free(&p);
	tap_is_int(mkfifoat(site, "fifo", 0666), 0, "a FIFO in a package's place");
	tap_is_int(parcel_node(site, "fifo", &wide, &p), 0, "is not opened");
	tap_ok(p.state == PARCEL_STRAY && !p.err, "but on record");
	parcel_free(&p);
	tap_is_int(unlinkat(one, "package.json", 0), 0, "no package.json");
	tap_is_int(mkfifoat(one, "package.json", 0666), 0, "but a FIFO of that name");
	tap_is_int(parcel_node(site, "@s/a", &wide, &p), 0, "is not waited for");
	tap_ok(p.state == PARCEL_STRAY && !p.err && p.entries == 1, "and the package says nothing");
	parcel_free(&p);
	clear(at, "site");
}

static void is_bound(int site, const struct contents_bounds *b, const char *why, const char *what)
{
	struct parcel p;

	tap_is_int(parcel_node(site, "one", b, &p), 0, "%s", what);
	tap_is_int(p.err, -ERR_BOUND, "is not hashed");
	tap_is_str(p.why, why, "and it is said why");
	parcel_free(&p);
}

/* A file that goes after its folder's names were read. */
static int going_fd = -1;

int closedir(DIR *d)
{
	int (*next)(DIR *) = (int (*)(DIR *))(uintptr_t)dlsym(RTLD_NEXT, "closedir");

	if (going_fd >= 0)
		(void)unlinkat(going_fd, "goes", 0);
	return next(d);
}

static void test_going(int at)
{
	auto_fd site = folder(at, "site");
	auto_fd code = folder(site, "code");
	struct contents c;

	put(code, "goes", "x", 0644);
	going_fd = code;
	tap_is_int(contents_begin(&c, &wide), 0, "a hash is begun");
	tap_is_int(contents_add(&c, site, "code"), -ERR_RACE, "what goes meanwhile is noticed");
	tap_is_str(c.why, "it was changed while it was read", "and said");
	contents_done(&c);
	going_fd = -1;
	tap_is_int(contents_begin(&c, &wide), 0, "another");
	tap_is_int(contents_add(&c, site, "gone"), -ERR_NOTFOUND, "what was not there");
	contents_done(&c);
	clear(at, "site");
}

/* What is said is read within bounds, also when no time is left. */
static void test_late(int at)
{
	static const struct contents_bounds late = {1000, 1 << 20, 1};
	auto_fd site = folder(at, "site");
	auto_fd one = folder(site, "one");
	char text[40000];
	struct parcel p;

	put(one, "package.json", "{\"name\":\"one\",\"version\":\"1\"}", 0644);
	tap_is_int(parcel_node(site, "one", &late, &p), 0, "late, a package that says little");
	tap_is_str(p.own.version, "1", "has said it");
	parcel_free(&p);
	snprintf(text, sizeof text, "%-39998s", "{\"name\":\"one\",\"version\":\"1\"}");
	put(one, "package.json", text, 0644);
	tap_is_int(parcel_node(site, "one", &late, &p), 0, "one with much to read");
	tap_ok(!p.own.version && p.err == -ERR_BOUND, "is not read");
	parcel_free(&p);
	tap_is_int(parcel_node(site, "one", &wide, &p), 0, "but in time");
	tap_is_str(p.own.version, "1", "it is");
	parcel_free(&p);
	clear(at, "site");
}

static void test_bounds(int at)
{
	auto_fd site = folder(at, "site");
	auto_fd one = folder(site, "one");
	auto_fd fd = openat(one, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	struct contents_bounds few = {3, 1000, 0};
	struct contents_bounds late = {1000, 1000, 1};
	char name[16];

	tap_is_int(ftruncate(fd, (off_t)1 << 42), 0, "a file of 4 TiB, all hole");
	is_bound(site, &wide, "it has too many bytes", "a package with that");
	tap_is_int(ftruncate(fd, 10), 0, "a small one");
	is_bound(site, &late, "no time was left", "no time for it");
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof name, "n%d", i);
		put(one, name, "", 0644);
	}
	is_bound(site, &few, "it has too many files", "six where three may be");
	clear(site, "one");
	fd_drop(&one);
	one = folder(site, "one");
	for (int i = 0; i <= CONTENTS_DEPTH_MAX + 1; i++) {
		int next = folder(one, "d");

		fd_drop(&one);
		one = next;
	}
	is_bound(site, &wide, "its folders are too deep", "folders in folders");
	clear(at, "site");
}

static void test_python(int at)
{
	auto_fd site = folder(at, "site");
	auto_fd info = folder(site, "a_B-1.0.dist-info");
	auto_fd code = folder(site, "code");
	auto_fd compiled = folder(code, "__pycache__");
	auto_fd shared = folder(site, "__pycache__");
	auto_fd other = folder(site, "other");
	struct parcel p;
	uint8_t plain[32];

	put(info, "METADATA", "Name: a_B\nVersion: 1.0\n", 0644);
	put(info, "RECORD", "code/x.py,,\nmod.py,,\n__pycache__/mod.pyc,,\ngone.py,,\n../x,,\n",
	    0644);
	put(code, "x.py", "x", 0644);
	put(code, "not-in-record.py", "x", 0644);
	put(compiled, "x.pyc", "1", 0644);
	put(shared, "mod.pyc", "x", 0644);
	put(site, "mod.py", "x", 0644);
	put(other, "x.py", "x", 0644);
	tap_is_int(parcel_python(site, "a_B-1.0.dist-info", &wide, &p), 0, "a distribution");
	tap_ok(p.state == PARCEL_INSTALLED && !p.err, "is installed");
	tap_is_str(p.name, "a-b", "under its name's form");
	tap_is_str(p.own.version, "1.0", "with its version");
	tap_is_int((long long)p.entries, 9, "its own parts whole, and nothing else");
	tap_ok(p.has_compiled && memcmp(p.plain, p.sha256, 32) != 0, "with and without compiled");
	memcpy(plain, p.plain, sizeof plain);
	parcel_free(&p);
	put(compiled, "x.pyc", "2", 0644);
	tap_is_int(parcel_python(site, "a_B-1.0.dist-info", &wide, &p), 0, "compiled again");
	tap_ok(memcmp(p.plain, plain, 32) == 0 && memcmp(p.sha256, plain, 32) != 0,
	       "the plain hash is as it was");
	parcel_free(&p);
	tap_is_int(unlinkat(info, "RECORD", 0), 0, "no RECORD");
	tap_is_int(parcel_python(site, "a_B-1.0.dist-info", &wide, &p), 0, "is read");
	tap_ok(p.state == PARCEL_STRAY && !p.err, "as something that nothing describes");
	parcel_free(&p);
	tap_is_int(parcel_python(site, "c-2.0.dist-info", &wide, &p), 0, "one that is not there");
	tap_ok(p.state == PARCEL_REMOVED && !p.err, "is gone");
	tap_is_str(p.name, "c", "with a name");
	parcel_free(&p);
	clear(at, "site");
}

int main(void)
{
	char name[] = "parcel.XXXXXX";
	const char *made = mkdtemp(name);
	auto_fd at = made ? open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (at < 0 || sodium_init() < 0) {
		tap_ok(false, "a folder can be made");
		return tap_done();
	}
	test_lines(at);
	test_node(at);
	test_bounds(at);
	test_going(at);
	test_late(at);
	test_python(at);
	if (rmdir(made) != 0)
		tap_ok(false, "nothing is left behind");
	return tap_done();
}
