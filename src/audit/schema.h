/* The store's schema: what is created, and what verify compares with. */
#ifndef WARY_AUDIT_SCHEMA_H
#define WARY_AUDIT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_APPLICATION_ID 0x57617279
/* 1 had no sizes; it is read, and made version 2 by the next session that is alone with it
 * (audit/upgrade.h). */
#define SCHEMA_VERSION 2
#define SCHEMA_VERSION_FIRST 1
/* Columns of event since version 2. */
#define SCHEMA_SIZE_BEFORE "size_before INTEGER"
#define SCHEMA_LINKS_LEFT "links_left INTEGER"

struct schema_object {
	const char *type; /* as in sqlite_master */
	const char *name;
	const char *table; /* tbl_name: the name itself for tables and views */
	const char *sql;   /* exactly as sqlite_master keeps it */
};

/** schema_at: objects of a version in the order of their creation, NULL past the end. */
const struct schema_object *schema_at(int64_t version, size_t i);

/** schema_is_earlier: whether @sql is what wary made @o with at first,
 * when it was of that version: no change, but to be told. */
bool schema_is_earlier(int64_t version, const struct schema_object *o, const char *sql);

/* A view in place of the table of version 1, with the columns of this one: for a
 * connection that only reads. */
extern const char schema_first_event[];

#endif
