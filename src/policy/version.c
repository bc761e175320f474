#include "policy/version.h"

#include <stdint.h>
#include <string.h>

#define NUMBERS_MAX 6

/* 1.2.3-beta.4, v1.2, 2.0rc1, 1.*: numbers, then what follows. */
struct version {
	uint64_t number[NUMBERS_MAX];
	unsigned numbers;
	bool any_below;  /* 1.*, 1.x: the numbers are only a beginning */
	const char *pre; /* pre-release tag; length 0: none */
	size_t pre_len;
	bool after; /* .post1: later than the release itself */
};

enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_CARET, OP_TILDE, OP_COMPATIBLE };

static const struct {
	const char *text;
	enum op op;
} ops[] = {
	{"===", OP_EQ}, {"==", OP_EQ},         {"!=", OP_NE},   {"<=", OP_LE},
	{">=", OP_GE},  {"~=", OP_COMPATIBLE}, {"=", OP_EQ},    {"<", OP_LT},
	{">", OP_GT},   {"^", OP_CARET},       {"~", OP_TILDE},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_separator(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == ',' || c == '|';
}

static bool is_any(const char *s)
{
	return (*s == '*' || *s == 'x' || *s == 'X') && (is_separator(s[1]) || s[1] == '.');
}

/* Reads digits; saturates rather than wraps. */
static uint64_t read_number(const char **s)
{
	uint64_t n = 0;

	for (; is_digit(**s); (*s)++)
		if (n < UINT64_MAX / 10 - 10)
			n = n * 10 + (uint64_t)(**s - '0');
	return n;
}

static const char *read_numbers(const char *s, struct version *v)
{
	for (;;) {
		if (is_any(s)) {
			v->any_below = true;
			s++;
			while (*s == '.' && is_any(s + 1))
				s += 2;
			return s;
		}
		if (!is_digit(*s) || v->numbers == NUMBERS_MAX)
			return NULL;
		v->number[v->numbers++] = read_number(&s);
		if (*s != '.' || !(is_digit(s[1]) || is_any(s + 1)))
			return s;
		s++;
	}
}

/* Behind the numbers: -beta.1, rc1, .dev3, .post1, +build. */
static const char *read_tag(const char *s, struct version *v)
{
	const char *from;

	if (*s == '-' || *s == '.' || *s == '_')
		s++;
	from = s;
	if (*s == '.' || *s == '-')
		return NULL;
	while (!is_separator(*s) && *s != '+') {
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || is_digit(*s) ||
		      *s == '.' || *s == '-'))
			return NULL;
		s++;
	}
	if (s > from && strncmp(from, "post", 4) == 0) {
		v->after = true;
	} else {
		v->pre = from;
		v->pre_len = (size_t)(s - from);
	}
	if (*s == '+')
		while (!is_separator(*s))
			s++;
	return s;
}

static const char *read_version(const char *s, struct version *v)
{
	*v = (struct version){0};
	if ((*s == 'v' || *s == 'V') && is_digit(s[1]))
		s++;
	s = read_numbers(s, v);
	if (!s || is_separator(*s))
		return s;
	return v->any_below ? NULL : read_tag(s, v);
}

/* Pre-release tags: dotted parts, numbers by value and before words. */
static int compare_tags(const char *a, size_t na, const char *b, size_t nb)
{
	const char *a_end = a + na;
	const char *b_end = b + nb;

	while (a < a_end && b < b_end) {
		if (is_digit(*a) && is_digit(*b)) {
			uint64_t x = read_number(&a);
			uint64_t y = read_number(&b);

			if (x != y)
				return x < y ? -1 : 1;
			continue;
		}
		if (is_digit(*a) != is_digit(*b))
			return is_digit(*a) ? -1 : 1;
		if (*a != *b)
			return *a < *b ? -1 : 1;
		a++;
		b++;
	}
	return (a < a_end) - (b < b_end);
}

static int compare(const struct version *a, const struct version *b)
{
	for (unsigned i = 0; i < NUMBERS_MAX; i++)
		if (a->number[i] != b->number[i])
			return a->number[i] < b->number[i] ? -1 : 1;
	if (a->after != b->after)
		return a->after ? 1 : -1;
	if (!a->pre_len || !b->pre_len)
		return (b->pre_len != 0) - (a->pre_len != 0);
	return compare_tags(a->pre, a->pre_len, b->pre, b->pre_len);
}

/* Whether the first @n numbers are the same. */
static bool same_beginning(const struct version *a, const struct version *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a->number[i] != b->number[i])
			return false;
	return true;
}

static bool caret(const struct version *v, const struct version *want)
{
	unsigned fixed = 0;

	while (fixed + 1 < want->numbers && !want->number[fixed])
		fixed++;
	return compare(v, want) >= 0 && same_beginning(v, want, fixed + 1);
}

static bool holds(enum op op, const struct version *v, const struct version *want)
{
	bool same =
		want->any_below ? same_beginning(v, want, want->numbers) : compare(v, want) == 0;

	switch (op) {
	case OP_EQ:
		return same;
	case OP_NE:
		return !same;
	case OP_LT:
		return compare(v, want) < 0;
	case OP_LE:
		return same || compare(v, want) < 0;
	case OP_GT:
		return !same && compare(v, want) > 0;
	case OP_GE:
		return same || compare(v, want) > 0;
	case OP_CARET:
		return caret(v, want);
	case OP_TILDE:
		return compare(v, want) >= 0 &&
		       same_beginning(v, want, want->numbers < 2 ? want->numbers : 2);
	case OP_COMPATIBLE:
		return compare(v, want) >= 0 && same_beginning(v, want, want->numbers - 1);
	}
	return false;
}

/* One comparison; NULL where it cannot be understood. */
static const char *read_comparison(const char *s, enum op *op, struct version *want)
{
	*op = OP_EQ;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		size_t len = strlen(ops[i].text);

		if (strncmp(s, ops[i].text, len) != 0)
			continue;
		*op = ops[i].op;
		s += len;
		break;
	}
	while (*s == ' ')
		s++;
	s = read_version(s, want);
	if (!s || !is_separator(*s))
		return NULL;
	if (*op == OP_COMPATIBLE && want->numbers < 2)
		return NULL;
	if (want->any_below && *op != OP_EQ && *op != OP_NE && *op != OP_GE && *op != OP_CARET &&
	    *op != OP_TILDE)
		return NULL;
	return s;
}

/* npm's rule, which is the careful one: a pre-release is nobody's who did not
 * name a pre-release of that same release. */
static bool admits_pre(const struct version *v, const struct version *want)
{
	return want->pre_len && same_beginning(v, want, NUMBERS_MAX);
}

/* Comparisons up to "||" or the end; all must hold. */
static const char *read_all(const char *s, const struct version *v, bool *out)
{
	bool all = true;
	bool pre_ok = !v->pre_len;
	bool some = false;

	for (;;) {
		enum op op;
		struct version want;

		while (*s == ' ' || *s == '\t' || *s == ',')
			s++;
		if (!*s || *s == '|')
			break;
		s = read_comparison(s, &op, &want);
		if (!s)
			return NULL;
		some = true;
		all = all && holds(op, v, &want);
		pre_ok = pre_ok || admits_pre(v, &want);
	}
	*out = all && pre_ok;
	return some ? s : NULL;
}

/* Returns false where the range cannot be understood. */
static bool read_range(const char *s, const struct version *v, bool *out)
{
	*out = false;
	for (;;) {
		bool one;

		s = read_all(s, v, &one);
		if (!s)
			return false;
		*out = *out || one;
		if (!*s)
			return true;
		if (s[0] != '|' || s[1] != '|')
			return false;
		s += 2;
	}
}

bool version_range_is_valid(const char *range)
{
	struct version v = {0};
	bool in;

	return read_range(range, &v, &in);
}

enum fact_state version_in_range(const char *version, const char *range)
{
	struct version v;
	const char *end = read_version(version, &v);
	bool in;

	if (!end || *end || v.any_below)
		return FACT_UNKNOWN;
	if (!read_range(range, &v, &in))
		return FACT_UNKNOWN;
	return in ? FACT_YES : FACT_NO;
}
