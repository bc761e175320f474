/* What stands beside the rows: keys, sessions with their beginning and end. */
#include "audit/verify_inside.h"

#include "base/own.h"
#include "base/text.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct verify_session *verify_session_of(struct verify *v, uint64_t id)
{
	for (size_t lo = 0, hi = v->sessions_n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->sessions[mid].id == id)
			return &v->sessions[mid];
		if (v->sessions[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

struct verify_signer *verify_signer_of(struct verify *v, uint64_t id)
{
	for (size_t lo = 0, hi = v->signers_n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->signers[mid].row.id == id)
			return &v->signers[mid];
		if (v->signers[mid].row.id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

void *verify_grow(struct verify *v, void *array, size_t n, size_t size)
{
	void *more;

	if (n & (n - 1) || (n && n < 16))
		return array;
	more = reallocarray(array, n ? n * 2 : 16, size);
	if (!more)
		v->err = -ERR_NOMEM;
	return more ? more : array;
}

static void load_signers(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(
		v, "SELECT id, role, public, certified_by, certificate, at_us FROM signer"
		   " ORDER BY id");

	while (stmt && !v->err && verify_step(v, stmt, "signer")) {
		struct columns c = columns_of(stmt);
		struct verify_signer *s;
		struct rows_text role;

		v->signers = verify_grow(v, v->signers, v->signers_n, sizeof *v->signers);
		if (v->err)
			break;
		s = &v->signers[v->signers_n++];
		*s = (struct verify_signer){0};
		s->row.id = columns_id(&c);
		role = columns_text(&c);
		s->row.role = role.bytes ? signer_role_find(role.bytes) : 0;
		columns_blob(&c, s->row.public_key, sizeof s->row.public_key);
		s->row.certified_by = columns_id(&c);
		columns_blob(&c, s->row.certificate, sizeof s->row.certificate);
		s->row.at_us = columns_id(&c);
		s->wrong = c.wrong || !s->row.role;
	}
	sqlite3_finalize(stmt);
}

static bool is_root(const struct verify *v, const struct verify_signer *s)
{
	for (size_t i = 0; i < v->keys_n; i++)
		if (memcmp(v->options->public_keys[i], s->row.public_key, ROWS_KEY_BYTES) == 0)
			return true;
	/* Nobody was named: the first one, which only vouches for itself. */
	return !v->keys_n && s == v->signers;
}

/* Whether a machine's certificate fits, and what it says: a later key is certified by
 * an earlier one, which it then vouches for in turn. */
static void place_machine(struct verify *v, struct verify_signer *s)
{
	struct verify_signer *by = verify_signer_of(v, s->row.certified_by);
	const struct verify_signer *before = by ? verify_signer_of(v, by->row.certified_by) : NULL;
	const uint8_t *by_key = by ? by->row.public_key : s->row.public_key;

	if (chain_certificate_verify(&s->row, NULL, by_key) != 0 || (s->row.certified_by && !by) ||
	    (by && (by >= s || by->row.role != SIGNER_MACHINE))) {
		s->wrong = true;
		return;
	}
	s->back = before && before < by &&
	          memcmp(before->row.public_key, s->row.public_key, ROWS_KEY_BYTES) == 0;
	/* It is the former key still: what names this row as its certifier comes after the
	 * key that replaced it. */
	if (s->back)
		s->next = by->row.id;
	if (!by || s->back)
		return;
	s->twice = by->next != 0;
	if (!by->next)
		by->next = s->row.id;
}

static bool is_machine(const struct verify_signer *s)
{
	return s->row.role == SIGNER_MACHINE && !s->wrong;
}

static void trust_downward(struct verify *v)
{
	for (size_t i = 0; i < v->signers_n; i++) {
		struct verify_signer *s = &v->signers[i];
		const struct verify_signer *by = verify_signer_of(v, s->row.certified_by);

		if (is_machine(s))
			s->trusted |=
				is_root(v, s) || (by && is_machine(by) && by->trusted && !s->twice);
	}
}

static void trust_both_ways(struct verify *v)
{
	trust_downward(v);
	for (size_t i = v->signers_n; i-- > 0;) {
		const struct verify_signer *s = &v->signers[i];
		const struct verify_signer *by = verify_signer_of(v, s->row.certified_by);
		struct verify_signer *before;

		if (!is_machine(s) || !s->back || !by->trusted)
			continue;
		before = verify_signer_of(v, by->row.certified_by);
		before->trusted |= is_machine(before);
	}
	trust_downward(v);
	for (size_t i = 0; i < v->signers_n; i++) {
		const struct verify_signer *s = &v->signers[i];

		if (!is_machine(s) || !s->trusted || s->back)
			continue;
		memcpy(v->result->signed_by, s->row.public_key, ROWS_KEY_BYTES);
		v->result->any_key = true;
	}
}

/* Machine keys: those that were named, those that they certified, and those that
 * certified them where that is mutual. */
static void trust_machines(struct verify *v)
{
	for (size_t i = 0; i < v->signers_n; i++)
		if (v->signers[i].row.role == SIGNER_MACHINE && !v->signers[i].wrong)
			place_machine(v, &v->signers[i]);
	trust_both_ways(v);
	v->result->known = v->keys_n && v->result->any_key;
	if (!v->keys_n || v->result->known || !v->options->try_strangers)
		return;
	v->keys_n = 0;
	trust_both_ways(v);
}

static void load_sessions(struct verify *v)
{
	sqlite3_stmt *stmt = verify_prepare(
		v, "SELECT id, uuid, name, signer, opened_us FROM session ORDER BY id");
	const struct verify_session *only;

	while (stmt && !v->err && verify_step(v, stmt, "session")) {
		struct columns c = columns_of(stmt);
		struct verify_session *s;
		struct rows_text name;
		auto_buf shown = BUF_INIT;

		v->sessions = verify_grow(v, v->sessions, v->sessions_n, sizeof *v->sessions);
		if (v->err)
			break;
		s = &v->sessions[v->sessions_n++];
		*s = (struct verify_session){.next_seq = 1};
		s->id = columns_id(&c);
		columns_blob(&c, s->uuid, sizeof s->uuid);
		name = columns_text(&c);
		text_printable(&shown, name.bytes ? name.bytes : "", name.len_bytes, 32);
		snprintf(s->name, sizeof s->name, "%s", buf_text(&shown) ? shown.data : "?");
		s->signer = columns_id(&c);
		s->opened_us = columns_id(&c);
	}
	sqlite3_finalize(stmt);
	v->result->sessions = v->sessions_n;
	only = v->options->only_n ? verify_session_of(v, v->options->only[0]) : NULL;
	if (only)
		memcpy(v->result->only_name, only->name, sizeof only->name);
}

bool verify_load(struct verify *v)
{
	if (!verify_tables_ours(v))
		return false;
	load_signers(v);
	if (!v->err)
		trust_machines(v);
	if (!v->err)
		load_sessions(v);
	return !v->err;
}

bool verify_signer_fits(struct verify *v, uint64_t signer, const struct verify_session *s)
{
	struct verify_signer *k = verify_signer_of(v, signer);
	const struct verify_signer *by = k ? verify_signer_of(v, k->row.certified_by) : NULL;

	if (!k || k->wrong || k->row.role == SIGNER_MACHINE || !by || !by->trusted)
		return false;
	/* Whoever kept a copy of the old key certifies nothing any more. */
	if (by->next && by->next < k->row.id) {
		k->late = true;
		return false;
	}
	if (k->row.role == SIGNER_SESSION && s->signer != signer)
		return false;
	if (k->trusted)
		return k->session == s->id;
	if (chain_certificate_verify(&k->row, s->uuid, by->row.public_key) != 0) {
		k->wrong = true;
		return false;
	}
	k->trusted = true;
	k->session = s->id;
	return true;
}

/* The policy sources of a session, texts copied. */
struct sources {
	struct rows_source at[ROWS_SOURCES_MAX];
	char *memory[2 * ROWS_SOURCES_MAX];
	uint32_t n;
	bool wrong;
};

static struct rows_text keep(struct sources *s, struct rows_text t, size_t slot)
{
	s->memory[slot] = malloc(t.len_bytes + 1);
	if (!s->memory[slot]) {
		s->wrong = true;
		return (struct rows_text){NULL, 0};
	}
	if (t.len_bytes)
		memcpy(s->memory[slot], t.bytes, t.len_bytes);
	return (struct rows_text){s->memory[slot], t.len_bytes};
}

static void load_sources(struct verify *v, uint64_t session, struct sources *out)
{
	sqlite3_stmt *stmt =
		verify_prepare(v, "SELECT id, place, name, path, sha256 FROM session_source"
	                          " WHERE session = ? ORDER BY place");

	if (!stmt)
		return;
	sqlite3_bind_int64(stmt, 1, (int64_t)session);
	while (!v->err && verify_step(v, stmt, "session_source")) {
		struct columns c = columns_of(stmt);
		uint64_t id = columns_id(&c);
		uint64_t place = columns_id(&c);

		if (out->n == ROWS_SOURCES_MAX || place != out->n + 1 ||
		    id != rows_session_source_id(session, out->n + 1)) {
			out->wrong = true;
			break;
		}
		out->at[out->n].name = keep(out, columns_text(&c), 2 * (size_t)out->n);
		out->at[out->n].path = keep(out, columns_text(&c), 2 * (size_t)out->n + 1);
		columns_blob(&c, out->at[out->n].sha256, sizeof out->at[out->n].sha256);
		out->wrong |= c.wrong;
		out->n++;
	}
	sqlite3_finalize(stmt);
}

bool verify_opening(struct verify *v, const struct verify_session *s, struct chain_hash *chain)
{
	sqlite3_stmt *stmt = verify_prepare(
		v, "SELECT uuid, id, name, opened_us, mono_us, argv, cwd, user, host, kernel,"
		   " version, uid FROM session WHERE id = ?");
	struct verify_signer *signer = verify_signer_of(v, s->signer);
	struct sources sources = {.n = 0};
	struct rows_opening o = {.sources = sources.at};
	bool right = false;

	load_sources(v, s->id, &sources);
	o.sources_n = sources.n;
	if (stmt)
		sqlite3_bind_int64(stmt, 1, (int64_t)s->id);
	if (stmt && verify_step(v, stmt, "session")) {
		struct columns c = columns_of(stmt);

		columns_blob(&c, o.uuid, sizeof o.uuid);
		o.id = columns_id(&c);
		o.name = columns_text(&c);
		o.opened_us = columns_id(&c);
		o.mono_us = columns_id(&c);
		o.argv = columns_text(&c);
		o.cwd = columns_text(&c);
		o.user = columns_text(&c);
		o.host = columns_text(&c);
		o.kernel = columns_text(&c);
		o.version = columns_text(&c);
		o.uid = columns_u32(&c);
		if (signer)
			memcpy(o.public_key, signer->row.public_key, sizeof o.public_key);
		chain_opening(chain, &o, verify_copy(v, ROWS_TABLES, s->id));
		right = !c.wrong && !sources.wrong && signer;
		if (!right)
			memset(chain, 0, sizeof *chain);
	}
	sqlite3_finalize(stmt);
	for (size_t i = 0; i < 2 * (size_t)ROWS_SOURCES_MAX; i++)
		free(sources.memory[i]);
	return right;
}

bool verify_closing(struct verify *v, const struct verify_session *s, struct chain_hash *chain,
                    bool *mark_fits)
{
	sqlite3_stmt *stmt = verify_prepare(
		v, "SELECT at_us, status, reason, decisions, refused, asked, grants, dropped, mark"
		   " FROM closing WHERE session = ?");
	struct rows_closing row = {.session = s->id};
	bool there;

	if (stmt)
		sqlite3_bind_int64(stmt, 1, (int64_t)s->id);
	there = stmt && verify_step(v, stmt, "closing");
	if (there) {
		struct columns c = columns_of(stmt);
		int64_t mark;

		row.at_us = columns_id(&c);
		row.status = columns_int(&c);
		row.reason = columns_text(&c);
		row.decisions = columns_id(&c);
		row.refused = columns_id(&c);
		row.asked = columns_id(&c);
		row.grants = columns_id(&c);
		row.dropped = columns_id(&c);
		mark = columns_int(&c);
		chain_closing(chain, &row, NULL);
		*mark_fits = !c.wrong && mark == chain_mark(chain);
	}
	sqlite3_finalize(stmt);
	return there;
}
