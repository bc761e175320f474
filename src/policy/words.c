#include "policy/words.h"

#include "base/text.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const class_names[] = {
	[CLASS_READ] = "read",       [CLASS_WRITE] = "write",     [CLASS_CREATE] = "create",
	[CLASS_DELETE] = "delete",   [CLASS_ATTR] = "attr",       [CLASS_LINK] = "link",
	[CLASS_STAT] = "stat",       [CLASS_EXEC] = "exec",       [CLASS_CONNECT] = "connect",
	[CLASS_BIND] = "bind",       [CLASS_RESOLVE] = "resolve", [CLASS_INSTALL] = "install",
	[CLASS_SCRIPT] = "script",   [CLASS_SECRET] = "secret",   [CLASS_IPC] = "ipc",
	[CLASS_SYSCALL] = "syscall",
};

_Static_assert(sizeof class_names / sizeof class_names[0] == CLASS_COUNT, "a name for each class");

static const char *const answer_names[] = {
	[ANSWER_ALLOW] = "allow",
	[ANSWER_ASK] = "ask",
	[ANSWER_DENY] = "deny",
	[ANSWER_KILL] = "kill",
};

const char *const words_class[] = {
	"read",   "write",  "create", "delete",  "attr", "link",    "stat",
	"edit",   "file",   "exec",   "connect", "bind", "resolve", "install",
	"script", "secret", "ipc",    "syscall", NULL,
};
const char *const words_verdict[] = {"allow", "deny", "ask", "kill", NULL};
const char *const words_statement[] = {
	"allow",  "deny",  "ask",   "kill", "final", "include", "let",    "default",
	"secret", "limit", "audit", "env",  "tmp",   "tenant",  "expect", NULL,
};
const char *const words_after_object[] = {
	"by",  "under", "sha256", "at",      "from", "version", "until", "when",  "as",
	"for", "each",  "via",    "through", "with", "because", "stack", "quiet", NULL,
};
const char *const words_set[] = {
	"own", "loopback", "private", "metadata", "delegates", "registry", NULL,
};
const char *const words_manager[] = {
	"npm",      "pip",    "cargo",  "go",   "gem",   "apt",     "apk",  "dnf",
	"pacman",   "zypper", "uv",     "pipx", "conda", "maven",   "bun",  "composer",
	"gradle",   "nuget",  "yarn",   "pnpm", "brew",  "flatpak", "snap", "cpan",
	"luarocks", "hex",    "poetry", "deno", "dns",   NULL,
};
const char *const words_variable[] = {
	"HOME",    "PROJECT", "TMPDIR", "CACHE",  "CONFIG", "STATE",
	"RUNTIME", "UID",     "TENANT", "GITDIR", NULL,
};
const char *const words_limit[] = {
	"wall",  "cpu",   "memory", "processes", "written", "bandwidth",
	"space", "files", "idle",   "decisions", NULL,
};

static const struct {
	const char *name;
	int number;
} errnos[] = {
	{"EACCES", EACCES},
	{"EPERM", EPERM},
	{"ENOENT", ENOENT},
	{"EROFS", EROFS},
	{"ENOSYS", ENOSYS},
	{"ENOTSUP", ENOTSUP},
	{"EOPNOTSUPP", EOPNOTSUPP},
	{"ECONNREFUSED", ECONNREFUSED},
	{"ENETUNREACH", ENETUNREACH},
	{"EHOSTUNREACH", EHOSTUNREACH},
	{"ETIMEDOUT", ETIMEDOUT},
	{"EAFNOSUPPORT", EAFNOSUPPORT},
	{"EADDRNOTAVAIL", EADDRNOTAVAIL},
	{"EADDRINUSE", EADDRINUSE},
	{"ENOEXEC", ENOEXEC},
	{"ENXIO", ENXIO},
	{"EIO", EIO},
	{"ENOSPC", ENOSPC},
};
const char *const words_errno[] = {
	"EACCES",       "EPERM",         "ENOENT",      "EROFS",        "ENOSYS", "ENOTSUP",
	"EOPNOTSUPP",   "ECONNREFUSED",  "ENETUNREACH", "EHOSTUNREACH", "ENXIO",  "ETIMEDOUT",
	"EAFNOSUPPORT", "EADDRNOTAVAIL", "EADDRINUSE",  "ENOEXEC",      "EIO",    "ENOSPC",
	NULL,
};

static const struct {
	const char *name;
	unsigned bit;
} facts[] = {
	{"unpinned", FACT_UNPINNED},
	{"new", FACT_NEW},
	{"git", FACT_GIT},
	{"url", FACT_URL},
	{"path", FACT_PATH},
	{"script", FACT_SCRIPT},
	{"lookalike", FACT_LOOKALIKE},
};
const char *const words_fact[] = {
	"unpinned", "new", "git", "url", "path", "script", "lookalike", NULL,
};

const char *policy_class_name(enum policy_class class)
{
	return class_names[class];
}

int policy_class_find(const char *word)
{
	for (int i = 0; i < CLASS_COUNT; i++)
		if (strcmp(class_names[i], word) == 0)
			return i;
	return -1;
}

const char *policy_answer_name(enum policy_answer answer)
{
	return answer_names[answer];
}

unsigned words_classes(const char *word)
{
	int class = policy_class_find(word);

	if (class >= 0)
		return CLASS_BIT(class);
	if (strcmp(word, "edit") == 0)
		return CLASSES_EDIT;
	if (strcmp(word, "file") == 0)
		return CLASSES_FILE;
	return 0;
}

int words_answer(const char *word)
{
	for (int i = ANSWER_ALLOW; i <= ANSWER_KILL; i++)
		if (strcmp(answer_names[i], word) == 0)
			return i;
	return -1;
}

bool words_has(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

int words_errno_find(const char *word)
{
	for (size_t i = 0; i < sizeof errnos / sizeof errnos[0]; i++)
		if (strcmp(errnos[i].name, word) == 0)
			return errnos[i].number;
	return -1;
}

unsigned words_fact_find(const char *word)
{
	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (strcmp(facts[i].name, word) == 0)
			return facts[i].bit;
	return 0;
}

/* Reads digits; *s is left behind them. Returns 0 or -ERR_. */
static int digits(const char **s, uint64_t *out)
{
	const char *p = *s;
	uint64_t n = 0;

	if (*p < '0' || *p > '9')
		return -ERR_FORMAT;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (unsigned)(*p - '0'), &n))
			return -ERR_BOUND;
	*s = p;
	*out = n;
	return 0;
}

static uint64_t unit_of(const char *units, const uint64_t *values, char unit)
{
	const char *at = unit ? strchr(units, unit) : NULL;

	return at ? values[at - units] : 0;
}

int words_duration(const char *word, uint32_t *seconds)
{
	static const uint64_t values[] = {1, 60, 3600, 86400, 7 * 86400};
	uint64_t total = 0;

	do {
		uint64_t n;
		uint64_t unit;
		int err = digits(&word, &n);

		if (err)
			return err;
		unit = unit_of("smhdw", values, *word);
		if (!unit)
			return -ERR_FORMAT;
		word++;
		if (__builtin_mul_overflow(n, unit, &n) || __builtin_add_overflow(total, n, &total))
			return -ERR_BOUND;
	} while (*word);
	if (total > UINT32_MAX)
		return -ERR_BOUND;
	if (!total)
		return -ERR_FORMAT;
	*seconds = (uint32_t)total;
	return 0;
}

int words_amount(const char *word, uint64_t *amount)
{
	static const uint64_t values[] = {1u << 10, 1u << 20, 1u << 30, (uint64_t)1 << 40};
	uint64_t n;
	uint64_t unit = 1;
	int err = digits(&word, &n);

	if (err)
		return err;
	if (*word) {
		unit = unit_of("KMGT", values, *word);
		if (!unit || word[1])
			return -ERR_FORMAT;
	}
	if (__builtin_mul_overflow(n, unit, &n))
		return -ERR_BOUND;
	*amount = n;
	return 0;
}

/* Exactly @len digits at *s, then the byte @then ('\0': any). */
static int part(const char **s, size_t len, char then, unsigned *out)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = (*s)[i];

		if (c < '0' || c > '9')
			return -ERR_FORMAT;
		n = n * 10 + (unsigned)(c - '0');
	}
	*s += len;
	if (then) {
		if (**s != then)
			return -ERR_FORMAT;
		(*s)++;
	}
	*out = n;
	return 0;
}

static unsigned month_days(unsigned year, unsigned month)
{
	static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 in the Gregorian calendar. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
	uint64_t days = 0;

	for (unsigned y = 1970; y < year; y++)
		days += 337 + month_days(y, 2);
	for (unsigned m = 1; m < month; m++)
		days += month_days(year, m);
	return days + day - 1;
}

int words_time(const char *word, uint64_t *seconds)
{
	unsigned year;
	unsigned month;
	unsigned day;
	unsigned hour = 0;
	unsigned minute = 0;
	unsigned second = 0;

	if (part(&word, 4, '-', &year) || part(&word, 2, '-', &month) || part(&word, 2, 0, &day))
		return -ERR_FORMAT;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
		return -ERR_FORMAT;
	if (*word == 'T') {
		word++;
		if (part(&word, 2, ':', &hour) || part(&word, 2, 0, &minute))
			return -ERR_FORMAT;
		if (*word == ':') {
			word++;
			if (part(&word, 2, 0, &second))
				return -ERR_FORMAT;
		}
		if (*word != 'Z' || hour > 23 || minute > 59 || second > 59)
			return -ERR_FORMAT;
		word++;
	}
	if (*word)
		return -ERR_FORMAT;
	*seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
	return 0;
}
