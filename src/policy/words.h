/* The words of the language: classes, verdicts, keywords, amounts, errnos. */
#ifndef WARY_POLICY_WORDS_H
#define WARY_POLICY_WORDS_H

#include "base/err.h"
#include "policy/facts.h"
#include "policy/verdict.h"

#include <stdbool.h>
#include <stdint.h>

#define CLASS_BIT(class) (1u << (class))
#define CLASSES_ALL (CLASS_BIT(CLASS_COUNT) - 1)
#define CLASSES_EDIT                                                                  \
	(CLASS_BIT(CLASS_WRITE) | CLASS_BIT(CLASS_CREATE) | CLASS_BIT(CLASS_DELETE) | \
	 CLASS_BIT(CLASS_ATTR) | CLASS_BIT(CLASS_LINK))
#define CLASSES_FILE (CLASSES_EDIT | CLASS_BIT(CLASS_READ) | CLASS_BIT(CLASS_STAT))
#define CLASSES_PATH (CLASSES_FILE | CLASS_BIT(CLASS_EXEC))
#define CLASSES_ADDRESS (CLASS_BIT(CLASS_CONNECT) | CLASS_BIT(CLASS_BIND))
#define CLASSES_PACKAGE (CLASS_BIT(CLASS_INSTALL) | CLASS_BIT(CLASS_SCRIPT))
/* Law 4: what `default` does not reach. */
#define CLASSES_NO_DEFAULT (CLASS_BIT(CLASS_STAT) | CLASS_BIT(CLASS_IPC) | CLASS_BIT(CLASS_SYSCALL))

/* NULL-terminated lists, for "did you mean". */
extern const char *const words_class[]; /* also edit and file */
extern const char *const words_verdict[];
extern const char *const words_statement[];    /* first words of statements */
extern const char *const words_after_object[]; /* conditions and options */
extern const char *const words_fact[];
extern const char *const words_set[];      /* own, loopback… */
extern const char *const words_manager[];  /* npm, pip… */
extern const char *const words_variable[]; /* HOME, PROJECT… */
extern const char *const words_limit[];
extern const char *const words_errno[];

/** words_classes: the classes of one word ("edit": five bits), or 0. */
unsigned words_classes(const char *word);

/** words_answer: the verdict of a word, or -1. */
int words_answer(const char *word);

/** words_has: whether a list has the word. */
bool words_has(const char *const *list, const char *word);

/** words_errno_find: EACCES… by name, or -1. */
int words_errno_find(const char *word);

/* A fact about a package as a bit; unknown words: 0. */
enum words_fact_bit {
	FACT_UNPINNED = 1 << 0,
	FACT_NEW = 1 << 1,
	FACT_GIT = 1 << 2,
	FACT_URL = 1 << 3,
	FACT_PATH = 1 << 4,
	FACT_SCRIPT = 1 << 5,
	FACT_LOOKALIKE = 1 << 6,
};
unsigned words_fact_find(const char *word);

/** words_duration: "90s", "10m", "1h30m", "7d" in seconds; never 0.
 * Returns 0, -ERR_FORMAT or -ERR_BOUND. */
must_check int words_duration(const char *word, uint32_t *seconds);

/** words_amount: "200", "2G", "64K", bytes or a count.
 * Returns 0, -ERR_FORMAT or -ERR_BOUND. */
must_check int words_amount(const char *word, uint64_t *amount);

/** words_time: "2026-12-01" (its first second, UTC) or "2026-12-01T12:30Z",
 * also with seconds, as seconds since 1970. Returns 0 or -ERR_FORMAT. */
must_check int words_time(const char *word, uint64_t *seconds);

#endif
