/* Classic BPF as seccomp(2) runs it: a little assembler, and an interpreter
 * with which the generator checks what it made. */
#ifndef WARY_GEN_BPF_H
#define WARY_GEN_BPF_H

#include "call/scalar.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_code {
	struct sock_filter ops[BPF_MAXINSNS];
	size_t n;
};

/** bpf_add: appends one instruction; aborts beyond what the kernel takes. */
void bpf_add(struct bpf_code *c, unsigned code, unsigned k);

/** bpf_add_rules: appends code that returns an action by the first rule whose
 * conditions hold.
 * @action_of: the action for what a rule says; @ctx is handed to it. The last
 * rule must have no condition. */
void bpf_add_rules(struct bpf_code *c, const struct scalar_rule *rules, size_t rules_n,
                   uint32_t (*action_of)(void *ctx, enum scalar_what what), void *ctx);

/** bpf_run: the action that the kernel would take from this filter.
 * Aborts on an instruction that seccomp does not take. */
uint32_t bpf_run(const struct bpf_code *c, const struct seccomp_data *data);

#endif
