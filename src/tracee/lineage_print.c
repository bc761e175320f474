#include "tracee/lineage.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Where the stack of a program begins that is not moved about at random, and
 * so how near to the end of user space AT_EXECFN then is. */
#define NOT_RANDOM_BYTES ((uint64_t)256 << 10)

void lineage_print_of(const uint64_t *auxv, size_t n_words, struct lineage_print *out)
{
	static const uint64_t types[LINEAGE_PRINT_WORDS] = {
		AT_EXECFN, AT_RANDOM, AT_SYSINFO_EHDR, AT_BASE, AT_PHDR, AT_ENTRY,
	};
	static const uint64_t ends[] = {
		UINT64_C(1) << 47,
		UINT64_C(1) << 48,
		UINT64_C(1) << 56,
	};

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i + 1 < n_words && auxv[i] != AT_NULL; i += 2)
		for (size_t t = 0; t < LINEAGE_PRINT_WORDS; t++)
			if (auxv[i] == types[t])
				out->words[t] = auxv[i + 1];
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (out->words[0] < ends[i] && ends[i] - out->words[0] < NOT_RANDOM_BYTES)
			memset(out, 0, sizeof *out);
	if (!out->words[0] || !out->words[1])
		memset(out, 0, sizeof *out);
}
