/* Written questions as facts. */
#ifndef WARY_POLICY_QUESTION_H
#define WARY_POLICY_QUESTION_H

#include "policy/compile.h"

/* What acts where nothing is said: a program that no rule names. */
#define QUESTION_ANY_PROGRAM "/(any program)"

#endif
