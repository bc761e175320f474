#include "audit/proof.h"

#include "base/own.h"
#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define PROOF_VERSION 1

struct proof *proof_new(void)
{
	return calloc(1, sizeof(struct proof));
}

void proof_free(struct proof *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->leaves_n; i++)
		buf_free(&p->leaves[i].bytes);
	free(p);
}

static void put_hex(struct buf *out, const char *name, const void *bytes, size_t len_bytes)
{
	buf_fmt(out, "\"%s\": \"", name);
	text_hex(out, bytes, len_bytes);
	buf_chr(out, '"');
}

static void put_leaf(struct buf *out, const struct proof_leaf *leaf)
{
	buf_chr(out, '{');
	put_hex(out, "bytes", leaf->bytes.data, leaf->bytes.len_bytes);
	buf_fmt(out, ", \"checkpoint\": %llu, \"place\": %llu,\n \"path\": [",
	        (unsigned long long)leaf->checkpoint, (unsigned long long)leaf->place);
	for (unsigned i = 0; i < leaf->path_n; i++) {
		buf_str(out, i ? ", \"" : "\"");
		text_hex(out, leaf->path[i].bytes, sizeof leaf->path[i].bytes);
		buf_chr(out, '"');
	}
	buf_str(out, "]}");
}

static void put_point(struct buf *out, const struct rows_checkpoint *c)
{
	auto_buf message = BUF_INIT;

	chain_checkpoint_message(&message, c);
	out->failed |= message.failed;
	buf_chr(out, '{');
	put_hex(out, "message", message.data, message.len_bytes);
	buf_str(out, ",\n ");
	put_hex(out, "signature", c->signature, sizeof c->signature);
	buf_chr(out, '}');
}

static void put_key(struct buf *out, const struct proof_key *k)
{
	buf_fmt(out, "{\"role\": \"%s\", \"at_us\": %llu, ", signer_role_name(k->row.role),
	        (unsigned long long)k->row.at_us);
	put_hex(out, "public", k->row.public_key, sizeof k->row.public_key);
	buf_str(out, ",\n ");
	put_hex(out, "by", k->by, sizeof k->by);
	buf_str(out, ",\n ");
	put_hex(out, "certificate", k->row.certificate, sizeof k->row.certificate);
	buf_chr(out, '}');
}

void proof_write(struct buf *out, const struct proof *p)
{
	buf_fmt(out, "{\"wary_proof\": %d, \"row\": %llu,\n\"rows\": [\n", PROOF_VERSION,
	        (unsigned long long)p->row);
	for (size_t i = 0; i < p->leaves_n; i++) {
		buf_str(out, i ? ",\n" : "");
		put_leaf(out, &p->leaves[i]);
	}
	buf_str(out, "],\n\"checkpoints\": [\n");
	for (size_t i = 0; i < p->points_n; i++) {
		buf_str(out, i ? ",\n" : "");
		put_point(out, &p->points[i]);
	}
	buf_str(out, "],\n\"keys\": [\n");
	for (size_t i = 0; i < p->keys_n; i++) {
		buf_str(out, i ? ",\n" : "");
		put_key(out, &p->keys[i]);
	}
	buf_str(out, "]}\n");
}

/* Members of an object, which must be exactly those that are asked for. */
struct taking {
	const json_t *from;
	size_t taken;
	bool wrong;
};

static const json_t *take(struct taking *t, const char *name)
{
	const json_t *v = json_object_get(t->from, name);

	t->taken++;
	t->wrong |= !v;
	return v;
}

static bool taken_all(const struct taking *t)
{
	return !t->wrong && json_object_size(t->from) == t->taken;
}

static uint64_t take_number(struct taking *t, const char *name)
{
	const json_t *v = take(t, name);

	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		t->wrong = true;
		return 0;
	}
	return (uint64_t)json_integer_value(v);
}

/* One way to write each byte: lower-case digits. */
static bool unhex(const json_t *v, void *out, size_t len_bytes)
{
	const char *hex = json_string_value(v);
	size_t n = json_string_length(v);

	return hex && n == 2 * len_bytes && strspn(hex, "0123456789abcdef") == n &&
	       text_unhex(hex, n, out, len_bytes) == 0;
}

static void take_hex(struct taking *t, const char *name, void *out, size_t len_bytes)
{
	t->wrong |= !unhex(take(t, name), out, len_bytes);
}

static void take_bytes(struct taking *t, const char *name, struct buf *out)
{
	const json_t *v = take(t, name);
	size_t n = json_string_length(v) / 2;
	auto_free char *bytes = malloc(n + 1);

	buf_init(out, PROOF_MAX_BYTES);
	if (!bytes || !unhex(v, bytes, n))
		t->wrong = true;
	else
		buf_add(out, bytes, n);
	t->wrong |= out->failed;
}

static bool read_leaf(const json_t *from, struct proof *out)
{
	struct proof_leaf *leaf = &out->leaves[out->leaves_n];
	struct taking t = {.from = from};
	const json_t *path;

	if (out->leaves_n == PROOF_LEAVES_MAX)
		return false;
	out->leaves_n++;
	take_bytes(&t, "bytes", &leaf->bytes);
	leaf->checkpoint = take_number(&t, "checkpoint");
	leaf->place = take_number(&t, "place");
	path = take(&t, "path");
	if (!taken_all(&t) || !json_is_array(path) || json_array_size(path) > MERKLE_DEPTH_MAX)
		return false;
	leaf->path_n = (unsigned)json_array_size(path);
	for (unsigned i = 0; i < leaf->path_n; i++)
		if (!unhex(json_array_get(path, i), leaf->path[i].bytes, ROWS_HASH_BYTES))
			return false;
	return true;
}

/* A message of fixed length, so that it has one meaning. */
static bool read_message(const uint8_t *at, size_t len_bytes, struct rows_checkpoint *c)
{
	auto_buf again = BUF_INIT;

	proof_message_decode(at, c);
	chain_checkpoint_message(&again, c);
	return !again.failed && again.len_bytes == len_bytes &&
	       memcmp(again.data, at, len_bytes) == 0;
}

static bool read_point(const json_t *from, struct proof *out)
{
	struct rows_checkpoint *c = &out->points[out->points_n];
	uint8_t message[PROOF_MESSAGE_BYTES];
	struct taking t = {.from = from};

	if (out->points_n == PROOF_POINTS_MAX)
		return false;
	out->points_n++;
	take_hex(&t, "message", message, sizeof message);
	if (t.wrong || !read_message(message, sizeof message, c))
		return false;
	take_hex(&t, "signature", c->signature, sizeof c->signature);
	return taken_all(&t);
}

static bool read_key(const json_t *from, struct proof *out)
{
	struct proof_key *k = &out->keys[out->keys_n];
	struct taking t = {.from = from};
	const char *role;

	if (out->keys_n == PROOF_KEYS_MAX)
		return false;
	out->keys_n++;
	role = json_string_value(take(&t, "role"));
	k->row.role = role ? signer_role_find(role) : 0;
	k->row.at_us = take_number(&t, "at_us");
	take_hex(&t, "public", k->row.public_key, sizeof k->row.public_key);
	take_hex(&t, "by", k->by, sizeof k->by);
	take_hex(&t, "certificate", k->row.certificate, sizeof k->row.certificate);
	return taken_all(&t) && k->row.role;
}

static bool read_list(const json_t *list, bool (*one)(const json_t *from, struct proof *out),
                      struct proof *out)
{
	bool right = json_is_array(list) && json_array_size(list);

	for (size_t i = 0; right && i < json_array_size(list); i++)
		right = one(json_array_get(list, i), out);
	return right;
}

int proof_read(const char *text, size_t len_bytes, struct proof *out)
{
	json_t *root = json_loadb(text, len_bytes, JSON_REJECT_DUPLICATES, NULL);
	struct taking t = {.from = root};
	bool right = json_is_object(root) && take_number(&t, "wary_proof") == PROOF_VERSION;

	if (right) {
		out->row = take_number(&t, "row");
		right = read_list(take(&t, "rows"), read_leaf, out) &&
		        read_list(take(&t, "checkpoints"), read_point, out) &&
		        read_list(take(&t, "keys"), read_key, out) && taken_all(&t);
	}
	json_decref(root);
	return right ? 0 : -ERR_FORMAT;
}
