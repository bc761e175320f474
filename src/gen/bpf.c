#include "gen/bpf.h"

#include "base/err.h"

#include <string.h>

#define NO_WORD UINT32_MAX

void bpf_add(struct bpf_code *c, unsigned code, unsigned k)
{
	invariant(c->n < BPF_MAXINSNS);
	c->ops[c->n++] = (struct sock_filter){.code = (uint16_t)code, .k = k};
}

/* Offset of the low or high half of an argument (little-endian machines). */
static uint32_t arg_offset(unsigned arg, bool high)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t) +
	                  (high ? sizeof(uint32_t) : 0));
}

/* One compare of 32 bits; where it fails, jf is to be patched.
 * @loaded: the word that the accumulator holds unmasked, or NO_WORD. */
static void add_compare(struct bpf_code *c, uint32_t offset, uint32_t mask, uint32_t value,
                        uint32_t *loaded)
{
	if (mask == 0)
		return;
	if (*loaded != offset)
		bpf_add(c, BPF_LD | BPF_W | BPF_ABS, offset);
	*loaded = offset;
	if (mask != UINT32_MAX) {
		bpf_add(c, BPF_ALU | BPF_AND | BPF_K, mask);
		*loaded = NO_WORD;
	}
	bpf_add(c, BPF_JMP | BPF_JEQ | BPF_K, value);
}

static size_t count_compares(const struct bpf_code *c, size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < c->n; i++)
		n += BPF_CLASS(c->ops[i].code) == BPF_JMP;
	return n;
}

static void add_rule(struct bpf_code *c, const struct scalar_rule *r, uint32_t action,
                     uint32_t *loaded)
{
	size_t begin = c->n;

	for (size_t i = 0; i < SCALAR_CONDS; i++) {
		const struct scalar_cond *d = &r->conds[i];

		add_compare(c, arg_offset(d->arg, true), (uint32_t)(d->mask >> 32),
		            (uint32_t)(d->value >> 32), loaded);
		add_compare(c, arg_offset(d->arg, false), (uint32_t)d->mask, (uint32_t)d->value,
		            loaded);
	}
	bpf_add(c, BPF_RET | BPF_K, action);
	for (size_t i = begin; i < c->n; i++)
		if (BPF_CLASS(c->ops[i].code) == BPF_JMP)
			c->ops[i].jf = (uint8_t)(c->n - i - 1);
	/* After several compares the accumulator depends on which one failed. */
	if (count_compares(c, begin) != 1)
		*loaded = NO_WORD;
}

void bpf_add_rules(struct bpf_code *c, const struct scalar_rule *rules, size_t rules_n,
                   uint32_t (*action_of)(void *ctx, enum scalar_what what), void *ctx)
{
	uint32_t loaded = NO_WORD;

	for (size_t i = 0; i < rules_n; i++)
		add_rule(c, &rules[i], action_of(ctx, rules[i].what), &loaded);
	invariant(rules_n > 0);
	for (size_t i = 0; i < SCALAR_CONDS; i++)
		invariant(rules[rules_n - 1].conds[i].mask == 0);
}

static bool jump_taken(const struct sock_filter *op, uint32_t a)
{
	switch (BPF_OP(op->code)) {
	case BPF_JEQ:
		return a == op->k;
	case BPF_JGT:
		return a > op->k;
	case BPF_JGE:
		return a >= op->k;
	case BPF_JSET:
		return (a & op->k) != 0;
	default:
		err_broken(__FILE__, __LINE__, "a jump that is not known");
	}
}

uint32_t bpf_run(const struct bpf_code *c, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < c->n; pc++) {
		const struct sock_filter *op = &c->ops[pc];

		if (op->code == (BPF_LD | BPF_W | BPF_ABS)) {
			invariant(op->k + sizeof a <= sizeof *data && op->k % sizeof a == 0);
			memcpy(&a, (const char *)data + op->k, sizeof a);
		} else if (op->code == (BPF_ALU | BPF_AND | BPF_K)) {
			a &= op->k;
		} else if (op->code == (BPF_RET | BPF_K)) {
			return op->k;
		} else if (op->code == (BPF_JMP | BPF_JA)) {
			pc += op->k;
		} else if (BPF_CLASS(op->code) == BPF_JMP) {
			pc += jump_taken(op, a) ? op->jt : op->jf;
		} else {
			err_broken(__FILE__, __LINE__, "an instruction that is not known");
		}
	}
	err_broken(__FILE__, __LINE__, "the filter has no end");
}
