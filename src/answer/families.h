/* One declaration per family; families.c lists them by number. */
#ifndef WARY_ANSWER_FAMILIES_H
#define WARY_ANSWER_FAMILIES_H

#include "answer/request.h"

#endif
