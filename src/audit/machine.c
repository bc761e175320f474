#include "audit/machine.h"

#include "audit/chain.h"
#include "audit/store_sql.h"
#include "base/own.h"

#include <stdlib.h>

/* Whether key @id was replaced here: it has certified another of the machine's. Its row
 * that vouches for the key before it is no such one. What came last does not count:
 * who has a copy of a former key can have put that there. */
static int check_in_force(struct store *s, uint64_t id)
{
	char sql[512];
	int64_t replaced = 0;
	int err;

	snprintf(sql, sizeof sql,
	         "SELECT EXISTS (SELECT 1 FROM signer k JOIN signer next"
	         " ON next.certified_by = k.id AND next.role = 'machine' WHERE k.id = %llu"
	         " AND next.public IS NOT (SELECT public FROM signer WHERE id = k.certified_by))",
	         (unsigned long long)id);
	err = store_number(s, sql, &replaced);
	return err ? err : replaced ? -ERR_CRYPTO : 0;
}

/* A former key and the one after it vouch for each other. */
static int put_link(struct store *s, const struct keys_chain *c, size_t i, uint64_t before,
                    uint64_t *id)
{
	struct rows_signer row = keys_chain_row(c, i, false);
	int err = store_signer_find(s, row.public_key, id);

	if (err || *id)
		return err;
	/* The one before it may have been replaced by another here, which a backup of keys/
	 * that was put back does not know. */
	err = before ? check_in_force(s, before) : 0;
	row.certified_by = before;
	if (!err)
		err = store_put_signer(s, &row);
	*id = row.id;
	if (!err && i) {
		row = keys_chain_row(c, i - 1, true);
		row.certified_by = *id;
		err = store_put_signer(s, &row);
	}
	return err;
}

int machine_put(struct store *s, const struct keys_chain *c, uint64_t *id)
{
	int err = store_signer_find(s, c->links[c->former_n].public_key, id);
	uint64_t before = 0;

	if (err || *id)
		return err ? err : check_in_force(s, *id);
	for (size_t i = 0; !err && i <= c->former_n; i++) {
		err = put_link(s, c, i, before, id);
		before = *id;
	}
	return err;
}

/* By the key as it is now. */
static int certify_anew(struct keys_chain **chain, struct rows_signer *signer, const uint8_t *uuid)
{
	struct keys *machine = NULL;
	struct keys_chain *now = NULL;
	auto_free char *why = NULL;
	int err = keys_machine(false, &machine, &why);

	if (!err)
		err = keys_chain_load(machine, &now, &why);
	if (!err)
		err = chain_certificate_sign(signer, uuid, machine->secret);
	keys_free(machine);
	if (err) {
		keys_chain_free(now);
		return err;
	}
	keys_chain_free(*chain);
	*chain = now;
	return 0;
}

int machine_certify(struct store *s, struct keys_chain **chain, struct rows_signer *signer,
                    const uint8_t *uuid)
{
	int err = 0;

	if (!keys_is_current((*chain)->links[(*chain)->former_n].public_key))
		err = certify_anew(chain, signer, uuid);
	if (!err)
		err = machine_put(s, *chain, &signer->certified_by);
	return err ? err : store_put_signer(s, signer);
}
