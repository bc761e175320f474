/* The nth allocation fails while a policy is loaded, checked, laid out or
 * explained: it is refused, nothing crashes and nothing is lost. */
#include "base/buf.h"
#include "tests/lib/sanitized.h"
#include "tests/unit/policy_world.h"

/* Allocations left before one fails; negative: none does. */
static long left = -1;
static bool failed;
/* Pieces of memory that are held. */
static long held;

#if !SANITIZED
/* The C library's own, under the names it keeps for those who replace them. */
void *__libc_malloc(size_t len);
void *__libc_calloc(size_t n, size_t len);
void *__libc_realloc(void *mem, size_t len);
void __libc_free(void *mem);

static void *counted(void *mem)
{
	held += mem != NULL;
	return mem;
}

static bool fails(void)
{
	bool now = left >= 0 && left-- == 0;

	failed |= now;
	return now;
}

void *malloc(size_t len)
{
	return fails() ? NULL : counted(__libc_malloc(len));
}

void *calloc(size_t n, size_t len)
{
	return fails() ? NULL : counted(__libc_calloc(n, len));
}

void *realloc(void *mem, size_t len)
{
	void *grown;

	if (fails())
		return NULL;
	grown = __libc_realloc(mem, len);
	held += !mem && grown;
	return grown;
}

void free(void *mem)
{
	held -= mem != NULL;
	__libc_free(mem);
}
#endif

static struct made_world w;

static const char text[] =
	"wary 1\ninclude \"other\"\nlet X = /x /y\nallow read ${X}/** ~/a{b,c}\n"
	"deny read ~/.ssh/** /link/y\nallow connect a.org:443 *.b.org:* 10.0.0.0/8:1 registry:npm\n"
	"ask exec /usr/bin/git when has push each\nallow install npm:express version \">=4\"\n"
	"secret A from env:A to /usr/bin/gh as env\nlimit wall 1m\nenv drop X\n"
	"expect deny read ~/.ssh/id\nallow read /k by /usr/bin/ssh under /usr/bin/git\n";

static void made_texts(void)
{
	static const struct made_node nodes[] = {
		{"/link", POLICY_LINK, "real", 1},
		{"/real", POLICY_FOLDER, NULL, 2},
		{"/usr", POLICY_FOLDER, NULL, 3},
	};

	memcpy(w.nodes, nodes, sizeof nodes);
	made_file_is(&w, "user.wary", text);
	made_file_is(&w, "other", "wary 1\nallow read /o\n");
}

/* Returns whether it went through without a failure. */
static bool load_once(void)
{
	static const char *const files[] = {"user.wary", NULL};
	struct policy_report *r = NULL;
	struct policy *p = NULL;
	int err = policy_check(&w.world, files, &p, &r);
	bool refused = err == -ERR_NOMEM || err == -ERR_POLICY;

	left = -1;
	if (err && !refused)
		tap_ok(false, "a failed load says %d", err);
	/* A world that is out of memory reads no text: that is refused as well. */
	if (err == -ERR_POLICY && r && !policy_report_errors(r))
		tap_ok(false, "refused without an error");
	if (!err)
		policy_free(p);
	policy_report_free(r);
	return !err;
}

static bool fmt_once(void)
{
	struct policy_report *r = NULL;
	struct buf out = BUF_INIT;
	int err = policy_fmt("x", text, sizeof text - 1, &out, &r);

	left = -1;
	if (err && err != -ERR_NOMEM)
		tap_ok(false, "a failed fmt says %d", err);
	policy_report_free(r);
	buf_free(&out);
	return !err;
}

static struct policy *loaded;

static bool explain_once(void)
{
	struct policy_question *q = NULL;
	const struct facts *f = NULL;
	struct policy_report *r = NULL;
	struct policy_explanation *e = NULL;
	int err =
		policy_question_new(loaded, &w.world, "read ~/.ssh/id by /usr/bin/ssh", &q, &f, &r);

	if (!err)
		err = policy_explain(loaded, f, &e);
	left = -1;
	if (err && err != -ERR_NOMEM)
		tap_ok(false, "a failed explanation says %d", err);
	policy_explanation_free(e);
	policy_question_free(q);
	policy_report_free(r);
	return !err;
}

static void each_allocation(const char *what, bool (*once)(void))
{
	long n = 0;
	long lost = 0;
	bool went_through;

	do {
		long before = held;

		left = n++;
		failed = false;
		went_through = once();
		lost += held - before;
	} while (failed);
	tap_ok(went_through && n > 5, "%s: each of %ld allocations failed once", what, n - 1);
	tap_is_int(lost, 0, "%s: and nothing was lost", what);
}

int main(void)
{
#if SANITIZED
	tap_skip("the sanitizer has malloc for itself");
	return tap_done();
#endif
	made_begin(&w);
	made_texts();
	loaded =
		made_load(&w, "wary 1\ndeny read ~/.ssh/**\nallow read ~/.ssh/x by /usr/bin/ssh\n");
	made_texts();
	each_allocation("loading", load_once);
	each_allocation("fmt", fmt_once);
	each_allocation("explaining", explain_once);
	policy_free(loaded);
	return tap_done();
}
