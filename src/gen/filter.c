/* Build-time: makes the filters from call/table.def and, for wary's own processes,
 * from what their sources declare (gen/self.h), and prints them as C.  Made here
 * because libseccomp takes 5 ms for it, half of what wary may take to start.
 *
 * libseccomp lays out the search by number as a balanced tree.  Where a call
 * is decided on registers it leaves a marker, in whose place a jump to the
 * rules of call/scalar.def or trap/forms.def is put: libseccomp has no way to
 * say "unless".  Numbers are the target's; libseccomp only ever sees its own
 * architecture's constant, which is replaced, so that a cross build needs
 * nothing else.
 */
#include "base/err.h"
#include "call/call.h"
#include "call/scalar.h"
#include "gen/bpf.h"
#include "gen/self.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WARY_FOR_AARCH64
#define TARGET_ARCH AUDIT_ARCH_AARCH64
#define OTHER_ARCH AUDIT_ARCH_ARM
#else
#define TARGET_ARCH AUDIT_ARCH_X86_64
#define OTHER_ARCH AUDIT_ARCH_I386
#endif

#define REFUSED_BY_FILTER (SECCOMP_RET_ERRNO | ENOSYS)
#define X32_BIT 0x40000000
/* Markers for what libseccomp must not know: TRACE with these values. */
#define MARK_NOTIFY 0xffffu
#define MARK_ROW 1u

/* Of the tree, with and without what rules on stat need; then wary's own roles. */
enum { VARIANT_PLAIN, VARIANT_STAT, VARIANT_SELF };

static const char *variant_name(size_t variant)
{
	static const char *const names[VARIANT_SELF] = {"plain", "stat"};

	return variant < VARIANT_SELF ? names[variant] : self_role(variant - VARIANT_SELF);
}

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "filter: %s: %s\n", what, strerror(-result));
	exit(1);
}

static uint32_t action_of_scalar(void *ctx, enum scalar_what what)
{
	const size_t *variant = ctx;

	switch (what) {
	case SCALAR_ALLOW:
		return SECCOMP_RET_ALLOW;
	case SCALAR_STAT:
		return *variant == VARIANT_STAT ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
	case SCALAR_REFUSE:
		if (*variant >= VARIANT_SELF)
			return SECCOMP_RET_ERRNO | EPERM;
		return SECCOMP_RET_USER_NOTIF;
	case SCALAR_NOTIFY:
		return SECCOMP_RET_USER_NOTIF;
	case SCALAR_ZERO:
		return SECCOMP_RET_ERRNO;
	case SCALAR_NONE:
		break;
	}
	err_broken(__FILE__, __LINE__, "a rule that says nothing");
}

/* What the filter does with a row that has no rules on registers. */
static uint32_t action_of_row(const struct call_row *row, size_t variant)
{
	struct scalar_rule rules[SELF_RULES_MAX];
	size_t n;

	if (variant >= VARIANT_SELF)
		return self_answer(variant - VARIANT_SELF, row, rules, &n) == SELF_ALLOW
		               ? SECCOMP_RET_ALLOW
		               : REFUSED_BY_FILTER;
	switch (row->means) {
	case MEANS_ALLOW:
		return SECCOMP_RET_ALLOW;
	case MEANS_STAT:
		return variant == VARIANT_STAT ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
	case MEANS_EMULATE:
	case MEANS_VERIFY:
	case MEANS_CONTINUE:
	case MEANS_REFUSE:
		return SECCOMP_RET_USER_NOTIF;
	case MEANS_ABSENT:
		return REFUSED_BY_FILTER;
	case MEANS_SCALARS:
	case MEANS_COUNT:
		break;
	}
	fprintf(stderr, "filter: %s has no rules in call/scalar.def\n", row->name);
	exit(1);
}

/* The rules of a call on registers; none: false.
 * @own: of SELF_RULES_MAX, where they are put that are made here. */
static bool rules_of(size_t row_index, size_t variant, struct scalar_rule *own,
                     const struct scalar_rule **rules, size_t *n)
{
	*rules = own;
	if (variant >= VARIANT_SELF)
		return self_answer(variant - VARIANT_SELF, call_row_at(row_index), own, n) ==
		       SELF_RULES;
	*rules = scalar_rules(row_index, n);
	return *n > 0;
}

static void add_row(scmp_filter_ctx ctx, size_t index, size_t variant)
{
	const struct call_row *row = call_row_at(index);
	struct scalar_rule own[SELF_RULES_MAX];
	const struct scalar_rule *rules;
	size_t n;
	uint32_t action;

	if (row->nr < 0)
		return;
	if (rules_of(index, variant, own, &rules, &n)) {
		must(seccomp_rule_add(ctx, SCMP_ACT_TRACE(MARK_ROW + (unsigned)index), row->nr, 0),
		     row->name);
		return;
	}
	action = action_of_row(row, variant);
	if (action == SECCOMP_RET_USER_NOTIF)
		action = SCMP_ACT_TRACE(MARK_NOTIFY);
	if (action != REFUSED_BY_FILTER)
		must(seccomp_rule_add(ctx, action, row->nr, 0), row->name);
}

static void export(scmp_filter_ctx ctx, struct bpf_code *c)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t got;

	must(fd < 0 ? -errno : 0, "memfd_create");
	must(seccomp_export_bpf(ctx, fd), "seccomp_export_bpf");
	got = pread(fd, c->ops, sizeof c->ops, 0);
	close(fd);
	must(got < (ssize_t)sizeof c->ops[0] ? -EIO : 0, "reading the filter");
	c->n = (size_t)got / sizeof c->ops[0];
}

/* Puts rules, notifications and the target's architecture in their places. */
static void patch(struct bpf_code *c, size_t variant)
{
	size_t tree_n = c->n;
	bool arch_found = false;

	for (size_t i = 0; i < tree_n; i++) {
		struct sock_filter *op = &c->ops[i];
		uint32_t mark = op->k & SECCOMP_RET_DATA;
		struct scalar_rule own[SELF_RULES_MAX];
		const struct scalar_rule *rules;
		size_t n;

		if (op->code == (BPF_JMP | BPF_JEQ | BPF_K) && op->k == seccomp_arch_native()) {
			op->k = TARGET_ARCH;
			arch_found = true;
		}
		if (op->code != (BPF_RET | BPF_K) ||
		    (op->k & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_TRACE)
			continue;
		if (mark == MARK_NOTIFY) {
			op->k = SECCOMP_RET_USER_NOTIF;
			continue;
		}
		op->code = BPF_JMP | BPF_JA;
		op->k = (uint32_t)(c->n - i - 1);
		(void)rules_of(mark - MARK_ROW, variant, own, &rules, &n);
		bpf_add_rules(c, rules, n, action_of_scalar, &variant);
	}
	must(arch_found ? 0 : -EINVAL, "the architecture is not where it was");
}

static void make(size_t variant, struct bpf_code *c)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));

	must(ctx ? 0 : -ENOMEM, "seccomp_init");
	must(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)), "bad arch");
	must(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
	for (size_t i = 0; call_row_at(i); i++)
		add_row(ctx, i, variant);
	export(ctx, c);
	seccomp_release(ctx);
	patch(c, variant);
}

/* ---- the check of what was made ---------------------------------------- */

static uint32_t wanted(size_t variant, const struct seccomp_data *d)
{
	const struct call_row *row = d->arch == TARGET_ARCH ? call_row_find(d->nr) : NULL;
	struct scalar_rule own[SELF_RULES_MAX];
	const struct scalar_rule *rules;
	uint64_t args[CALL_ARGS];
	size_t n;

	if (!row)
		return REFUSED_BY_FILTER;
	for (size_t i = 0; i < CALL_ARGS; i++)
		args[i] = d->args[i];
	if (rules_of(call_row_index(row), variant, own, &rules, &n))
		return action_of_scalar(&variant, scalar_first(rules, n, args));
	return action_of_row(row, variant);
}

static void check(const struct bpf_code *c, size_t variant, const struct seccomp_data *d)
{
	uint32_t is = bpf_run(c, d), should = wanted(variant, d);

	if (is == should)
		return;
	fprintf(stderr, "filter: %s: nr %d arch %#x args %llx %llx %llx: %#x instead of %#x\n",
	        variant_name(variant), d->nr, d->arch, d->args[0], d->args[1], d->args[2], is,
	        should);
	exit(1);
}

/* Registers that a rule is about, and their neighbours: each condition met,
 * missed by each of its bits, with and without noise in all other bits. */
static void check_rule(const struct bpf_code *c, size_t variant, const struct scalar_rule *r,
                       struct seccomp_data d)
{
	static const uint64_t noise[] = {0, 0xa5a5a5a500000000, 0x5a5a5a5affffffff, UINT64_MAX};

	for (size_t k = 0; k < sizeof noise / sizeof noise[0]; k++) {
		for (size_t i = 0; i < CALL_ARGS; i++)
			d.args[i] = noise[k];
		for (size_t i = 0; i < SCALAR_CONDS; i++) {
			const struct scalar_cond *q = &r->conds[i];

			d.args[q->arg] = (d.args[q->arg] & ~q->mask) | q->value;
		}
		check(c, variant, &d);
		for (size_t bit = 0; bit < SCALAR_CONDS * 64u; bit++) {
			struct seccomp_data missed = d;

			missed.args[r->conds[bit / 64].arg] ^= (uint64_t)1 << bit % 64;
			check(c, variant, &missed);
		}
	}
}

static void check_all(const struct bpf_code *c, size_t variant)
{
	for (int nr = -1; nr < 1200; nr++) {
		struct seccomp_data d = {.nr = nr, .arch = TARGET_ARCH};
		const struct call_row *row = call_row_find(nr);
		struct scalar_rule own[SELF_RULES_MAX];
		const struct scalar_rule *rules;
		size_t n;

		check(c, variant, &d);
		d.arch = OTHER_ARCH;
		check(c, variant, &d);
		d.arch = TARGET_ARCH;
		d.nr = nr | X32_BIT;
		check(c, variant, &d);
		d.nr = nr;
		if (!row || !rules_of(call_row_index(row), variant, own, &rules, &n))
			continue;
		for (size_t i = 0; i < n; i++)
			check_rule(c, variant, &rules[i], d);
	}
}

static void print(const struct bpf_code *c, size_t variant)
{
	printf("static const struct sock_filter code_%s[] = {\n", variant_name(variant));
	for (size_t i = 0; i < c->n; i++)
		printf("\t{%#x, %u, %u, %#x},\n", c->ops[i].code, c->ops[i].jt, c->ops[i].jf,
		       c->ops[i].k);
	printf("};\n");
}

int main(void)
{
	static struct bpf_code code;

	if (self_check()) {
		fprintf(stderr, "filter: no such call, form or role: %s\n", self_check());
		return 1;
	}
	printf("/* Made by src/gen/filter.c. */\n");
	for (size_t v = VARIANT_PLAIN; variant_name(v); v++) {
		make(v, &code);
		check_all(&code, v);
		print(&code, v);
	}
	return fflush(stdout) != 0 || ferror(stdout);
}
