#include "audit/hold.h"

#include "audit/columns.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Those of later rows stand for those before. */
static int take(struct hold **holds, size_t *n, const struct hold *one, bool on)
{
	struct hold *more;
	size_t i = 0;

	while (i < *n && memcmp((*holds)[i].uuid, one->uuid, sizeof one->uuid) != 0)
		i++;
	if (i < *n && on)
		(*holds)[i] = *one;
	else if (i < *n)
		(*holds)[i] = (*holds)[--*n];
	if (i < *n || !on)
		return 0;
	more = reallocarray(*holds, *n + 1, sizeof **holds);
	if (!more)
		return -ERR_NOMEM;
	*holds = more;
	more[(*n)++] = *one;
	return 0;
}

static int read_all(sqlite3_stmt *stmt, struct hold **holds, size_t *n)
{
	int err = 0;
	int rc = SQLITE_DONE;

	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct columns c = columns_of(stmt);
		struct rows_text word = columns_text(&c);
		bool on = word.len_bytes == strlen(HOLD_ON) &&
		          memcmp(word.bytes, HOLD_ON, word.len_bytes) == 0;
		struct rows_text uuid = columns_text(&c);
		struct hold one;

		one.by = columns_id(&c);
		if (c.wrong ||
		    text_unhex(uuid.bytes, uuid.len_bytes, one.uuid, sizeof one.uuid) != 0)
			err = -ERR_DAMAGED;
		else
			err = take(holds, n, &one, on);
	}
	return err ? err : store_code(rc);
}

int hold_list(struct store *s, struct hold **out, size_t *n)
{
	sqlite3_stmt *stmt = NULL;
	struct hold *holds = NULL;
	size_t count = 0;
	int err = store_own_views(s);

	if (!err)
		err = store_code(sqlite3_prepare_v2(
			store_db(s),
			"SELECT v.object, v.object2, s.id FROM events v "
			"JOIN session s ON s.name = v.session"
			" WHERE v.batch_kinds & 64 AND v.kind = 'session'"
			" AND v.object IN ('" HOLD_ON "', '" HOLD_OFF "') ORDER BY v.id",
			-1, &stmt, NULL));
	if (!err)
		err = read_all(stmt, &holds, &count);
	sqlite3_finalize(stmt);
	if (err) {
		free(holds);
		return err;
	}
	*out = holds;
	*n = count;
	return 0;
}

bool hold_of(const struct hold *holds, size_t n, const uint8_t uuid[ROWS_UUID_BYTES])
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(holds[i].uuid, uuid, ROWS_UUID_BYTES) == 0)
			return true;
	return false;
}

bool hold_by(const struct hold *holds, size_t n, uint64_t session)
{
	for (size_t i = 0; i < n; i++)
		if (holds[i].by == session)
			return true;
	return false;
}
