#include "call/call.h"

#include "base/err.h"
#include "call/index.h"
#include "call/op.h"

#include <errno.h>
#include <string.h>

/* The generator of the filter runs on the build machine and says for which
 * machine it makes one. */
#if defined(WARY_FOR_AARCH64) || (defined(__aarch64__) && !defined(WARY_FOR_X86_64))
#define NR(x86_64, aarch64) (aarch64)
#elif defined(WARY_FOR_X86_64) || defined(__x86_64__)
#define NR(x86_64, aarch64) (x86_64)
#else
#error "no column for this architecture in call/table.def"
#endif

#define ROLE__ ROLE_NONE

static const struct call_row rows[] = {
#define PASS(row, x, a, why_) {.name = #row, .nr = NR(x, a), .means = MEANS_ALLOW, .why = why_},
#define SHUT(row, x, a, errno_, why_) \
	{.name = #row,                \
	 .nr = NR(x, a),              \
	 .means = MEANS_REFUSE,       \
	 .family = FAMILY_refuse,     \
	 .op = OP_REFUSE,             \
	 .refuse_errno = errno_,      \
	 .why = why_},
#define GONE(row, x, a, why_) {.name = #row, .nr = NR(x, a), .means = MEANS_ABSENT, .why = why_},
#define ROW(row, x, a, means_, family_, op_, r0, r1, r2, r3, r4, r5, errno_, why_)    \
	{.name = #row,                                                                \
	 .nr = NR(x, a),                                                              \
	 .means = MEANS_##means_,                                                     \
	 .family = FAMILY_##family_,                                                  \
	 .op = OP_##op_,                                                              \
	 .roles = {ROLE_##r0, ROLE_##r1, ROLE_##r2, ROLE_##r3, ROLE_##r4, ROLE_##r5}, \
	 .refuse_errno = errno_,                                                      \
	 .why = why_},
#include "call/table.def"
#undef ROW
};

/* What a call becomes where its registers are refused. */
static const struct call_row refused_rows[] = {
#define REFUSED(row, nr_, errno_, why_)                    \
	{.name = #row,                                     \
	 .nr = nr_,                                        \
	 .means = MEANS_REFUSE,                            \
	 .family = FAMILY_refuse,                          \
	 .op = OP_REFUSE,                                  \
	 .refuse_errno = (errno_) != 0 ? (errno_) : EPERM, \
	 .why = why_},
#undef PASS
#undef SHUT
#undef GONE
#define PASS(row, x, a, why_) REFUSED(row, NR(x, a), EPERM, why_)
#define SHUT(row, x, a, errno_, why_) REFUSED(row, NR(x, a), errno_, why_)
#define GONE(row, x, a, why_) REFUSED(row, NR(x, a), ENOSYS, why_)
#define ROW(row, x, a, m, f, o, r0, r1, r2, r3, r4, r5, errno_, why_) \
	REFUSED(row, NR(x, a), errno_, why_)
#include "call/table.def"
#undef PASS
#undef SHUT
#undef GONE
#undef ROW
};

_Static_assert(sizeof rows / sizeof rows[0] == ROW_COUNT, "a row for each name");
_Static_assert(sizeof refused_rows / sizeof refused_rows[0] == ROW_COUNT, "a row for each name");

/* Row numbers plus one by system call number; calls that this architecture
 * does not have sit above every number. */
#define NR_LIMIT 512
#define SLOT(name, nr) [(nr) < 0 ? NR_LIMIT + ROW_##name : (nr)] = ROW_##name + 1,
static const uint16_t row_by_nr[NR_LIMIT + ROW_COUNT] = {
#define PASS(name, x, a, ...) SLOT(name, NR(x, a))
#define SHUT(name, x, a, ...) SLOT(name, NR(x, a))
#define GONE(name, x, a, ...) SLOT(name, NR(x, a))
#define ROW(name, x, a, ...) SLOT(name, NR(x, a))
#include "call/table.def"
};

static const char *const means_names[] = {
	[MEANS_ALLOW] = "allowed",         [MEANS_SCALARS] = "registers",
	[MEANS_EMULATE] = "emulated",      [MEANS_STAT] = "stat class",
	[MEANS_VERIFY] = "verified after", [MEANS_CONTINUE] = "continued",
	[MEANS_REFUSE] = "refused",        [MEANS_ABSENT] = "absent",
};
_Static_assert(sizeof means_names / sizeof means_names[0] == MEANS_COUNT, "a name for each");

const char *call_means_name(enum call_means means)
{
	invariant(means < MEANS_COUNT);
	return means_names[means];
}

const struct call_row *call_row_find(int nr)
{
	if (nr < 0 || nr >= NR_LIMIT || row_by_nr[nr] == 0)
		return NULL;
	return &rows[row_by_nr[nr] - 1];
}

const struct call_row *call_row_at(size_t i)
{
	return i < ROW_COUNT ? &rows[i] : NULL;
}

const struct call_row *call_row_named(const char *name)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

size_t call_row_index(const struct call_row *row)
{
	invariant(row >= rows && row < rows + ROW_COUNT);
	return (size_t)(row - rows);
}

const struct call_row *call_row_refused(const struct call_row *row)
{
	return &refused_rows[call_row_index(row)];
}

bool call_arg(const struct call *c, enum call_role role, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < CALL_ARGS; i++)
		if (c->row->roles[i] == role) {
			*out = c->args[i];
			return true;
		}
	return false;
}
