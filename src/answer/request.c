#include "answer/request.h"

#include <stdlib.h>
#include <string.h>

void request_facts_reset(struct request *r)
{
	if (r->facts && r->facts != r->facts_own) {
		free(r->facts);
		free(r->verdicts);
	}
	r->facts = r->facts_own;
	r->verdicts = r->verdicts_own;
	r->facts_n = 0;
	r->facts_cap = REQUEST_FACTS_MAX;
}

/* Room for twice as many, of both arrays. */
static bool grow(struct request *r)
{
	size_t cap = (size_t)r->facts_cap * 2;
	struct facts *facts = calloc(cap, sizeof *facts);
	struct verdict *verdicts = calloc(cap, sizeof *verdicts);
	unsigned n = r->facts_n;

	if (!facts || !verdicts) {
		free(facts);
		free(verdicts);
		return false;
	}
	memcpy(facts, r->facts, n * sizeof *facts);
	request_facts_reset(r);
	r->facts = facts;
	r->verdicts = verdicts;
	r->facts_n = n;
	r->facts_cap = (unsigned)cap;
	return true;
}

struct facts *request_add_fact(struct request *r, enum policy_class class, const char *object)
{
	struct facts *f;

	if (r->facts_n == REQUEST_FACTS_LIMIT || (r->facts_n == r->facts_cap && !grow(r)))
		return NULL;
	f = &r->facts[r->facts_n++];
	memset(f, 0, sizeof *f);
	f->class = class;
	f->object = object;
	return f;
}
