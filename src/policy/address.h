/* Addresses: written patterns, canonical forms and the named sets. */
#ifndef WARY_POLICY_ADDRESS_H
#define WARY_POLICY_ADDRESS_H

#include "policy/facts.h"
#include "policy/glob.h"
#include "policy/message.h"

struct ip_range {
	bool is_v6;
	uint8_t ip[16]; /* network order; the first 4 for IPv4; host bits zero */
	uint8_t bits;
};

struct port_range {
	uint16_t first, last;
};

enum addr_set {
	SET_OWN,
	SET_LOOPBACK,
	SET_PRIVATE,
	SET_METADATA,
	SET_DELEGATES,
	SET_COUNT,
};

enum addr_form {
	FORM_ANY, /* `*` */
	FORM_RANGE,
	FORM_HOST,  /* one name */
	FORM_BELOW, /* `*.x` */
	FORM_SET,
	FORM_REGISTRY,
	FORM_UNIX_PATH, /* text is for expand_path */
	FORM_UNIX_NAME, /* abstract; text is a glob */
};

struct addr_pattern {
	enum addr_form form;
	enum facts_proto proto;
	struct ip_range range;
	enum addr_set set;
	const char *text;             /* host in lower case, x of *.x, manager, unix name */
	VEC(struct port_range) ports; /* none: any */
};

/* Where a pattern stands: for messages. */
struct addr_place {
	struct arena *arena;
	struct policy_report *report;
	struct spot at;
};

/** address_parse: a pattern of connect or bind, from cooked, expanded text.
 * Returns false with a message. */
bool address_parse(const struct addr_place *place, const char *text, struct addr_pattern *out);

/** address_parse_host: a host of `resolve` or `named`: FORM_ANY, FORM_HOST or
 * FORM_BELOW. */
bool address_parse_host(const struct addr_place *place, const char *text, struct addr_pattern *out);

/** address_parse_range: "10.0.0.0/8", "::1", "10.1.2.3".  Returns 0, or
 * -ERR_FORMAT: no address; -ERR_BOUND: bits beyond the prefix are set. */
must_check int address_parse_range(const char *text, struct ip_range *out);

/** address_in_range: whether an address lies in a range. */
bool address_in_range(const struct facts_addr *a, const struct ip_range *r);

/** address_in_set: for own, loopback, private, metadata (delegates are paths:
 * match.c).  @class: for bind 0.0.0.0 is no loopback address and `own` is
 * whatever one binds. */
bool address_in_set(const struct facts_addr *a, enum policy_class class, enum addr_set set);

/** address_is_special: loopback, private or metadata: what a name rule
 * matches only where its `at` says so (law 19). */
bool address_is_special(const struct facts_addr *a);

/** address_canonical: IPv4 within IPv6 becomes IPv4; for connect the any
 * address becomes loopback (facts.h). */
void address_canonical(struct facts_addr *a, enum policy_class class);

/** address_host_below: whether a name is one or more labels below @suffix. */
bool address_host_below(const char *name, const char *suffix);

#endif
