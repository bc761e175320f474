#include "policy/cover.h"

#include <string.h>

static bool ports_cover(const struct object *a, const struct object *b)
{
	if (!a->ports_n)
		return true;
	for (uint32_t i = 0; i < b->ports_n; i++) {
		bool in = false;

		for (uint32_t j = 0; j < a->ports_n; j++)
			in |= a->ports[j].first <= b->ports[i].first &&
			      a->ports[j].last >= b->ports[i].last;
		if (!in)
			return false;
	}
	return b->ports_n != 0;
}

static bool ports_overlap(const struct object *a, const struct object *b)
{
	if (!a->ports_n || !b->ports_n)
		return true;
	for (uint32_t i = 0; i < b->ports_n; i++)
		for (uint32_t j = 0; j < a->ports_n; j++)
			if (a->ports[j].first <= b->ports[i].last &&
			    a->ports[j].last >= b->ports[i].first)
				return true;
	return false;
}

static bool is_address(const struct object *o)
{
	return o->form == OBJECT_ANY_ADDRESS || o->form == OBJECT_RANGE || o->form == OBJECT_HOST ||
	       o->form == OBJECT_BELOW || (o->form == OBJECT_SET && o->set != SET_DELEGATES);
}

static bool range_covers(const struct ip_range *a, const struct ip_range *b)
{
	struct facts_addr inside = {.family = b->is_v6 ? ADDR_INET6 : ADDR_INET};

	memcpy(inside.ip, b->ip, sizeof inside.ip);
	return a->bits <= b->bits && address_in_range(&inside, a);
}

static bool address_covers(const struct object *a, const struct object *b)
{
	switch ((enum object_form)a->form) {
	case OBJECT_ANY_ADDRESS:
		return true;
	case OBJECT_RANGE:
		return b->form == OBJECT_RANGE && range_covers(&a->range, &b->range);
	case OBJECT_HOST:
		return b->form == OBJECT_HOST && strcmp(a->pattern, b->pattern) == 0;
	case OBJECT_BELOW:
		if (b->form == OBJECT_BELOW && strcmp(a->pattern, b->pattern) == 0)
			return true;
		return (b->form == OBJECT_HOST || b->form == OBJECT_BELOW) &&
		       address_host_below(b->pattern, a->pattern);
	case OBJECT_SET:
		return b->form == OBJECT_SET && a->set == b->set;
	case OBJECT_ALL:
	case OBJECT_PATH:
	case OBJECT_UNIX_NAME:
	case OBJECT_NAME:
		break;
	}
	return false;
}

bool object_covers(const struct object *a, const struct object *b)
{
	if (a->form == OBJECT_ALL)
		return true;
	if (is_address(a) && is_address(b))
		return address_covers(a, b) && ports_cover(a, b) &&
		       (a->proto == PROTO_ANY || a->proto == b->proto);
	if (a->form != b->form)
		return false;
	if (a->form == OBJECT_PATH)
		return path_covers(a->pattern, b->pattern);
	if (a->form == OBJECT_SET)
		return a->set == b->set;
	return glob_covers(slice_of(a->pattern), slice_of(b->pattern));
}

static bool hosts_overlap(const struct object *a, const struct object *b)
{
	return address_covers(a, b) || address_covers(b, a);
}

static bool is_name(const struct object *o)
{
	return o->form == OBJECT_HOST || o->form == OBJECT_BELOW;
}

bool object_overlaps(const struct object *a, const struct object *b)
{
	if (a->form == OBJECT_ALL || b->form == OBJECT_ALL)
		return true;
	if (is_address(a) && is_address(b)) {
		if (!ports_overlap(a, b))
			return false;
		if (is_name(a) && is_name(b))
			return hosts_overlap(a, b);
		if (a->form == OBJECT_RANGE && b->form == OBJECT_RANGE)
			return hosts_overlap(a, b);
		/* A name or a set may lead to any address. */
		return true;
	}
	if (a->form != b->form)
		return false;
	if (a->form == OBJECT_PATH)
		return path_overlaps(a->pattern, b->pattern);
	if (a->form == OBJECT_SET)
		return a->set == b->set;
	return glob_overlaps(slice_of(a->pattern), slice_of(b->pattern));
}
