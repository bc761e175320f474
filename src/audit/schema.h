/* The store's schema: what is created, and what verify compares with. */
#ifndef WARY_AUDIT_SCHEMA_H
#define WARY_AUDIT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#define SCHEMA_APPLICATION_ID 0x57617279
#define SCHEMA_VERSION 1

struct schema_object {
	const char *type; /* as in sqlite_master */
	const char *name;
	const char *table; /* tbl_name: the name itself for tables and views */
	const char *sql;   /* exactly as sqlite_master keeps it */
};

/** schema_at: objects in the order of their creation, NULL past the end. */
const struct schema_object *schema_at(size_t i);

/** schema_is_former: whether @sql is what an earlier wary made @o with, which stores keep:
 * no change, but to be told. */
bool schema_is_former(const struct schema_object *o, const char *sql);

#endif
