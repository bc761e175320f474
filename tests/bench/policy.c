/* What a policy costs: loading, and deciding with few and with many rules.
 * One line a measure: name, value, unit (TSV). */
#include "policy/policy.h"
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 10000
#define KINDS 4
#define QUESTIONS 4096
#define ROUNDS 50
#define LOADS 9

static const char *text;
static size_t text_len;

static int read_text(void *ctx, const char *from_file, const char *word, char **out, size_t *len,
                     char **path)
{
	(void)ctx;
	(void)from_file;
	(void)word;
	*out = malloc(text_len + 1);
	*path = strdup("bench.wary");
	if (!*out || !*path)
		return -ERR_NOTFOUND;
	memcpy(*out, text, text_len + 1);
	*len = text_len;
	return 0;
}

static const char *variable(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "HOME") == 0 ? "/home/ana" : "/home/ana/src/site";
}

static const struct policy_world world = {.read = read_text, .variable = variable};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return v[n / 2];
}

/* @n rules of each of four kinds. */
static void write_policy(struct buf *b, unsigned n)
{
	buf_str(b, "wary 1\ndefault ask\nallow edit ${PROJECT}/**\ndeny file ~/.ssh/**\n");
	for (unsigned i = 0; i < n; i++) {
		buf_fmt(b, "allow read /opt/d%u/lib%u/file%u.so\n", i % 100, i % 1000, i);
		buf_fmt(b, "deny connect 10.%u.%u.%u:443\n", i / 65536, i / 256 % 256, i % 256);
		buf_fmt(b, "allow connect host-%u.example:443\n", i);
		buf_fmt(b, "ask install npm:package-%u\n", i);
	}
}

static struct policy *load(void)
{
	const char *files[] = {"bench", NULL};
	struct policy_report *r = NULL;
	struct policy *p = NULL;

	if (policy_load(&world, files, &p, &r)) {
		const struct policy_message *m = policy_report_at(r, 0);

		fprintf(stderr, "%s:%u: %s\n", m->file, m->line, m->text);
		exit(1);
	}
	policy_report_free(r);
	return p;
}

static void ask_path(struct facts *f, unsigned k, char *name, size_t len)
{
	f->class = CLASS_READ;
	snprintf(name, len, "/opt/d%u/lib%u/file%u.so", k % 100, k % 1000, k);
}

static void ask_address(struct facts *f, unsigned k, char *name, size_t len)
{
	f->class = CLASS_CONNECT;
	f->addr.family = ADDR_INET;
	f->addr.proto = PROTO_TCP;
	f->addr.port = 443;
	f->addr.ip[0] = 10;
	f->addr.ip[2] = (uint8_t)(k / 256);
	f->addr.ip[3] = (uint8_t)k;
	snprintf(name, len, "10.0.%u.%u:443", k / 256 % 256, k % 256);
}

/* An address that the DNS guard knows by a name. */
static void ask_name(struct facts *f, unsigned k, char *name, size_t len)
{
	const char **hosts = calloc(2, sizeof *hosts);

	ask_address(f, k, name, len);
	f->addr.ip[0] = 203;
	snprintf(name, len, "host-%u.example", k);
	hosts[0] = strdup(name);
	f->addr.hosts = hosts;
}

static void ask_package(struct facts *f, unsigned k, char *name, size_t len)
{
	f->class = CLASS_INSTALL;
	f->package.manager = "npm";
	snprintf(name, len, "npm:package-%u", k);
}

/* The questions: half of them about what some rule names. */
static struct facts *questions(unsigned n)
{
	static void (*const asks[])(struct facts *, unsigned, char *,
	                            size_t) = {ask_path, ask_address, ask_name, ask_package};
	struct facts *f = calloc(QUESTIONS, sizeof *f);

	for (unsigned i = 0; f && i < QUESTIONS; i++) {
		char name[128];

		f[i].by.path = "/usr/bin/node";
		f[i].under_known = true;
		asks[i % KINDS](&f[i], i * 7919u % (2 * n), name, sizeof name);
		f[i].object = strdup(name);
	}
	return f;
}

static void measure_decisions(const char *name, unsigned n)
{
	static const char *const kinds[KINDS] = {"path", "address", "name", "package"};
	struct policy *p = load();
	struct facts *f = questions(n);
	double times[ROUNDS];
	struct verdict v;

	for (unsigned kind = 0; f && kind < KINDS; kind++) {
		for (unsigned r = 0; r < ROUNDS; r++) {
			double start = now_us();
			unsigned done = 0;

			for (unsigned i = kind; i < QUESTIONS; i += KINDS, done++)
				policy_decide(p, &f[i], &v);
			times[r] = (now_us() - start) * 1000 / done;
		}
		printf("policy_decide_%s_%s\t%.0f\tns\n", kinds[kind], name, median(times, ROUNDS));
	}
	for (unsigned i = 0; f && i < QUESTIONS; i++) {
		if (f[i].addr.hosts)
			free((void *)(size_t)f[i].addr.hosts[0]);
		free((void *)(size_t)f[i].addr.hosts);
		free((void *)(size_t)f[i].object);
	}
	free(f);
	policy_free(p);
}

/* In a process of its own, as it is: what an earlier one left would be reused. */
static double load_once(void)
{
	double took = 0;
	int result[2];
	pid_t child;

	if (pipe(result) != 0)
		exit(1);
	child = fork();
	if (child == 0) {
		double start = now_us();

		load();
		took = now_us() - start;
		_exit(write(result[1], &took, sizeof took) == sizeof took ? 0 : 1);
	}
	close(result[1]);
	if (child < 0 || read(result[0], &took, sizeof took) != sizeof took)
		exit(1);
	close(result[0]);
	waitpid(child, NULL, 0);
	return took;
}

static void measure_load(const char *name)
{
	double times[LOADS];

	for (unsigned i = 0; i < LOADS; i++)
		times[i] = load_once();
	printf("policy_load_%s\t%.0f\tus\n", name, median(times, LOADS));
}

static void write_text(struct buf *b, unsigned n)
{
	write_policy(b, n);
	text = buf_text(b);
	text_len = b->len_bytes;
}

int main(void)
{
	auto_buf few = BUF_INIT;
	auto_buf some = BUF_INIT;
	auto_buf many = BUF_INIT;

	write_text(&few, 10 / KINDS);
	measure_load("10_rules");
	measure_decisions("10_rules", 10 / KINDS);
	write_text(&some, MANY / KINDS);
	measure_load("10000_rules");
	write_text(&many, MANY);
	measure_decisions("10000_of_each", MANY);
	return 0;
}
