#include "policy/address.h"

#include "base/text.h"
#include "policy/words.h"

#include <arpa/inet.h>
#include <string.h>

#define V4(a, b, c, d, len)              \
	{                                \
		false, {a, b, c, d}, len \
	}

/* RFC 6890 and the like: what is not the open internet. */
static const struct ip_range loopback_ranges[] = {
	V4(127, 0, 0, 0, 8),
	{true, {[15] = 1}, 128},
};
static const struct ip_range private_ranges[] = {
	V4(10, 0, 0, 0, 8),    V4(172, 16, 0, 0, 12),    V4(192, 168, 0, 0, 16),
	V4(100, 64, 0, 0, 10), V4(169, 254, 0, 0, 16),   V4(192, 0, 0, 0, 24),
	V4(198, 18, 0, 0, 15), V4(224, 0, 0, 0, 4),      V4(240, 0, 0, 0, 4),
	{true, {0xfc}, 7},     {true, {0xfe, 0x80}, 10}, {true, {0xfe, 0xc0}, 10},
	{true, {0xff}, 8},
};
/* Where clouds answer credentials to whoever asks. */
static const struct ip_range metadata_ranges[] = {
	V4(169, 254, 169, 254, 32), /* AWS, GCP, Azure, OpenStack, Oracle… */
	V4(169, 254, 170, 2, 32),   /* AWS ECS task credentials */
	V4(169, 254, 170, 23, 32),  /* AWS EKS pod identity */
	V4(169, 254, 42, 42, 32),   /* Scaleway */
	V4(168, 63, 129, 16, 32),   /* Azure wire server */
	V4(100, 100, 100, 200, 32), /* Alibaba */
	V4(192, 0, 0, 192, 32),     /* Oracle, old */
	{true, {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54}, 128}, /* AWS */
	{true, {0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23}, 128},              /* AWS EKS */
	{true, {0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128}, /* GCP */
	{true, {0xfd, 0x00, 0x00, 0x42, [15] = 0x42}, 128},              /* Scaleway */
};
/* IPv6 ranges that carry an IPv4 address: prefix, and where the address is. */
static const struct {
	struct ip_range range;
	unsigned at_byte;
} carriers[] = {
	{{true, {0x00, 0x64, 0xff, 0x9b}, 96}, 12},             /* NAT64 */
	{{true, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48}, 12}, /* NAT64, local use */
	{{true, {0x20, 0x02}, 16}, 2},                          /* 6to4 */
};

static bool bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8;
	unsigned rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return !rest || ((a[whole] ^ b[whole]) & (0xffu << (8 - rest)) & 0xff) == 0;
}

bool address_in_range(const struct facts_addr *a, const struct ip_range *r)
{
	enum facts_family family = r->is_v6 ? ADDR_INET6 : ADDR_INET;

	return a->family == family && bits_equal(a->ip, r->ip, r->bits);
}

static bool in_any(const struct facts_addr *a, const struct ip_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (address_in_range(a, &ranges[i]))
			return true;
	for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++) {
		struct facts_addr inner = {.family = ADDR_INET};

		if (!address_in_range(a, &carriers[i].range))
			continue;
		memcpy(inner.ip, a->ip + carriers[i].at_byte, 4);
		for (size_t j = 0; j < n; j++)
			if (address_in_range(&inner, &ranges[j]))
				return true;
	}
	return false;
}

#define IN(a, ranges) in_any((a), (ranges), sizeof(ranges) / sizeof(ranges)[0])

static bool is_any_address(const struct facts_addr *a)
{
	static const uint8_t zero[16];

	return memcmp(a->ip, zero, a->family == ADDR_INET ? 4 : 16) == 0;
}

/* What binding gives to this host alone: a local socket, an address that nobody
 * else reaches; and a datagram port that nobody knows yet, which a first send
 * takes without being asked.  A stream socket that is bound to no address may be
 * about to listen on all of them. */
static bool binds_own(const struct facts_addr *a)
{
	if (a->family == ADDR_UNIX)
		return true;
	return IN(a, loopback_ranges) ||
	       (is_any_address(a) && a->port == 0 && a->proto == PROTO_UDP);
}

bool address_in_set(const struct facts_addr *a, enum policy_class class, enum addr_set set)
{
	bool any;

	/* What the session itself listens on, local sockets too: the tree's own
	 * are no doors to anyone else. */
	if (set == SET_OWN && a->family != ADDR_OTHER && a->family != ADDR_NONE)
		return a->own || (class == CLASS_BIND && binds_own(a));
	if (a->family != ADDR_INET && a->family != ADDR_INET6)
		return false;
	any = is_any_address(a);
	switch (set) {
	case SET_LOOPBACK:
		return IN(a, loopback_ranges) || (class != CLASS_BIND && (any || a->local));
	case SET_PRIVATE:
		return IN(a, private_ranges);
	case SET_METADATA:
		return IN(a, metadata_ranges);
	case SET_OWN:
	case SET_DELEGATES:
	case SET_COUNT:
		break;
	}
	return false;
}

bool address_is_special(const struct facts_addr *a)
{
	return address_in_set(a, CLASS_CONNECT, SET_LOOPBACK) ||
	       address_in_set(a, CLASS_CONNECT, SET_PRIVATE) ||
	       address_in_set(a, CLASS_CONNECT, SET_METADATA);
}

/* IPv4-mapped (::ffff:0:0/96) and -compatible (::/96 but :: and ::1). */
static bool carries_v4(const uint8_t *ip)
{
	static const uint8_t zero[12];

	if (memcmp(ip, zero, 10) != 0)
		return false;
	if (ip[10] == 0xff && ip[11] == 0xff)
		return true;
	return !ip[10] && !ip[11] && (ip[12] || ip[13] || ip[14] || ip[15] > 1);
}

void address_canonical(struct facts_addr *a, enum policy_class class)
{
	if (a->family == ADDR_INET6 && carries_v4(a->ip)) {
		a->family = ADDR_INET;
		memmove(a->ip, a->ip + 12, 4);
		memset(a->ip + 4, 0, 12);
	}
	if (class == CLASS_BIND || !(a->family == ADDR_INET || a->family == ADDR_INET6) ||
	    !is_any_address(a))
		return;
	if (a->family == ADDR_INET) {
		a->ip[0] = 127;
		a->ip[3] = 1;
	} else {
		a->ip[15] = 1;
	}
}

bool address_host_below(const char *name, const char *suffix)
{
	size_t n = strlen(name);
	size_t s = strlen(suffix);

	return n > s + 1 && name[n - s - 1] == '.' && strcmp(name + n - s, suffix) == 0;
}

/* --- written patterns ------------------------------------------------------ */

static bool refuse(const struct addr_place *p, const char *hint, const char *text)
{
	report_error(p->report, p->at, hint, "%s", text);
	return false;
}

int address_parse_range(const char *text, struct ip_range *out)
{
	struct ip_range r = {0};
	struct ip_range masked;
	const char *slash = strchr(text, '/');
	char ip[INET6_ADDRSTRLEN + 1];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	unsigned long long bits;

	if (!len || len >= sizeof ip)
		return -ERR_FORMAT;
	memcpy(ip, text, len);
	ip[len] = '\0';
	r.is_v6 = strchr(ip, ':') != NULL;
	if (inet_pton(r.is_v6 ? AF_INET6 : AF_INET, ip, r.ip) != 1)
		return -ERR_FORMAT;
	bits = r.is_v6 ? 128 : 32;
	if (slash && text_number(slash + 1, bits, &bits))
		return -ERR_FORMAT;
	if (r.is_v6 && bits >= 96 && carries_v4(r.ip)) {
		r.is_v6 = false;
		memmove(r.ip, r.ip + 12, 4);
		memset(r.ip + 4, 0, 12);
		bits -= 96;
	}
	r.bits = (uint8_t)bits;
	masked = r;
	for (unsigned i = 0; i < 16; i++) {
		unsigned keep = bits >= 8 * (i + 1) ? 8 : bits > 8 * i ? (unsigned)bits - 8 * i : 0;

		masked.ip[i] &= (uint8_t)(0xffu << (8 - keep));
	}
	*out = masked;
	return memcmp(masked.ip, r.ip, 16) == 0 ? 0 : -ERR_BOUND;
}

/* "443", "8000-8999", "80,443", "*". */
static bool parse_ports(const struct addr_place *p, const char *text, struct addr_pattern *out)
{
	if (strcmp(text, "*") == 0)
		return true;
	for (const char *s = text; s;) {
		const char *comma = strchr(s, ',');
		char *one = arena_bytes(p->arena, s, comma ? (size_t)(comma - s) : strlen(s));
		char *dash = strchr(one, '-');
		unsigned long long first;
		unsigned long long last;

		if (dash)
			*dash = '\0';
		if (text_number(one, 65535, &first) ||
		    text_number(dash ? dash + 1 : one, 65535, &last) || first > last)
			return refuse(p, "write 443, 8000-8999, 80,443 or *", "this is no port");
		*vec_push(p->arena, &out->ports) =
			(struct port_range){(uint16_t)first, (uint16_t)last};
		s = comma ? comma + 1 : NULL;
	}
	return true;
}

static bool range_or_refuse(const struct addr_place *p, const char *text, struct ip_range *out)
{
	int err = address_parse_range(text, out);

	if (err == -ERR_BOUND)
		return refuse(p, "set the bits behind the prefix to 0",
		              "the address has bits beyond its prefix");
	if (err)
		return refuse(p, NULL, "this is no address");
	return true;
}

/* Names that the resolver would read as numbers: 127.1, 0x7f000001, 010.0.0.1. */
static bool is_number_spelling(const struct addr_place *p, const char *host)
{
	struct in_addr ip;
	char plain[INET_ADDRSTRLEN];

	if (!inet_aton(host, &ip))
		return false;
	inet_ntop(AF_INET, &ip, plain, sizeof plain);
	return !refuse(p, arena_fmt(p->arena, "write %s", plain),
	               "this name is an address in another spelling");
}

static bool good_label(const char *s, size_t n)
{
	if (!n || n > 63 || s[0] == '-' || s[n - 1] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '-' ||
		      s[i] == '_'))
			return false;
	return true;
}

static bool parse_host(const struct addr_place *p, const char *text, struct addr_pattern *out)
{
	char *host = glob_plain(p->arena, slice_of(text));
	size_t len = strlen(host);

	if (strcmp(text, "*") == 0) {
		out->form = FORM_ANY;
		return true;
	}
	out->form = FORM_HOST;
	if (text_starts(text, "*.")) {
		out->form = FORM_BELOW;
		host += 2;
		len -= 2;
	}
	for (size_t i = 0; i < len; i++) {
		if (host[i] >= 'A' && host[i] <= 'Z')
			host[i] = (char)(host[i] - 'A' + 'a');
		if (host[i] & 0x80)
			return refuse(p, "write the name as DNS has it: xn--…",
			              "a host's name has only ASCII letters");
		if (host[i] == '*')
			return refuse(p, "*.example.org is every name below example.org",
			              "in a host's name * stands only for all of the front");
	}
	if (len && host[len - 1] == '.')
		host[--len] = '\0';
	if (out->form == FORM_HOST && is_number_spelling(p, host))
		return false;
	for (const char *s = host; s;) {
		const char *dot = strchr(s, '.');

		if (!good_label(s, dot ? (size_t)(dot - s) : strlen(s)))
			return refuse(p, NULL, "this is no host's name");
		s = dot ? dot + 1 : NULL;
	}
	if (len > 253)
		return refuse(p, NULL, "this is no host's name");
	out->text = host;
	return true;
}

bool address_parse_host(const struct addr_place *place, const char *text, struct addr_pattern *out)
{
	struct ip_range r;

	*out = (struct addr_pattern){0};
	if (glob_find(text, ':') || address_parse_range(text, &r) != -ERR_FORMAT)
		return refuse(place, "write only the name: github.com",
		              "names are resolved, not addresses and ports");
	return parse_host(place, text, out);
}

static const char *const set_names[SET_COUNT] = {
	[SET_OWN] = "own",           [SET_LOOPBACK] = "loopback",   [SET_PRIVATE] = "private",
	[SET_METADATA] = "metadata", [SET_DELEGATES] = "delegates",
};

/* own, own:8080, registry:npm, registry:npm:443. Sets *is where it is one. */
static bool parse_set(const struct addr_place *p, const char *text, struct addr_pattern *out,
                      bool *is)
{
	const char *colon = strchr(text, ':');
	const char *name =
		arena_bytes(p->arena, text, colon ? (size_t)(colon - text) : strlen(text));

	*is = true;
	for (int i = 0; i < SET_COUNT; i++) {
		if (strcmp(set_names[i], name) != 0)
			continue;
		out->form = FORM_SET;
		out->set = (enum addr_set)i;
		return !colon || parse_ports(p, colon + 1, out);
	}
	if (strcmp(name, "registry") != 0) {
		*is = false;
		return true;
	}
	out->form = FORM_REGISTRY;
	if (!colon || !colon[1])
		return refuse(p, "registry:npm", "expected the manager of a registry");
	text = colon + 1;
	colon = strchr(text, ':');
	out->text = arena_bytes(p->arena, text, colon ? (size_t)(colon - text) : strlen(text));
	if (!words_has(words_manager, out->text)) {
		report_error(p->report, p->at, report_nearest(p->report, out->text, words_manager),
		             "unknown package manager \"%s\"", out->text);
		return false;
	}
	return !colon || parse_ports(p, colon + 1, out);
}

static bool parse_unix(const struct addr_place *p, const char *text, struct addr_pattern *out)
{
	if (text[0] == '@') {
		out->form = FORM_UNIX_NAME;
		out->text = text + 1;
		return text[1] || refuse(p, NULL, "expected a name after @");
	}
	out->form = FORM_UNIX_PATH;
	out->text = text;
	if (text[0] == '/' || text_starts(text, "**/") || strcmp(text, "**") == 0)
		return true;
	return refuse(p, "unix:/run/x.sock, unix:@name", "expected a path or @name after unix:");
}

static bool no_ports(const struct addr_place *p, const char *text)
{
	const char *hint = report_nearest(p->report, text, words_set);

	if (!hint)
		hint = report_nearest(p->report, text, words_after_object);
	if (!hint)
		hint = arena_fmt(p->arena, "%.200s:443, or %.200s:* for every port", text, text);
	return refuse(p, hint, "an address needs its port");
}

/* host:ports, cidr:ports, [v6]:ports */
static bool parse_inet(const struct addr_place *p, const char *text, struct addr_pattern *out)
{
	const char *colon = strchr(text, ':');
	const char *host;

	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || end[1] != ':')
			return refuse(p, "[2001:db8::1]:443", "expected ] and a port");
		host = arena_bytes(p->arena, text + 1, (size_t)(end - text) - 1);
		out->form = FORM_RANGE;
		return range_or_refuse(p, host, &out->range) && parse_ports(p, end + 2, out);
	}
	if (!colon)
		return no_ports(p, text);
	if (strchr(colon + 1, ':'))
		return refuse(p, "[2001:db8::1]:443", "an IPv6 address stands in brackets");
	host = arena_bytes(p->arena, text, (size_t)(colon - text));
	if (!parse_ports(p, colon + 1, out))
		return false;
	if (strchr(host, '/') || address_parse_range(host, &out->range) != -ERR_FORMAT) {
		out->form = FORM_RANGE;
		return range_or_refuse(p, host, &out->range);
	}
	return parse_host(p, host, out);
}

bool address_parse(const struct addr_place *place, const char *text, struct addr_pattern *out)
{
	bool is_set;

	*out = (struct addr_pattern){0};
	if (text_starts(text, "unix:"))
		return parse_unix(place, text + 5, out);
	if (text_starts(text, "tcp/"))
		out->proto = PROTO_TCP;
	else if (text_starts(text, "udp/"))
		out->proto = PROTO_UDP;
	if (out->proto != PROTO_ANY)
		text += 4;
	/* Escapes keep a variable's value from being read as a pattern: here
	 * only a star could be one. */
	if (strstr(text, "\\*"))
		return refuse(place, NULL, "an address has no literal *");
	text = glob_plain(place->arena, slice_of(text));
	if (!parse_set(place, text, out, &is_set))
		return false;
	return is_set || parse_inet(place, text, out);
}
