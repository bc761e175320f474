/* What a process used, as the row of its end says it (docs/AUDIT.md, "Processes"). */
#ifndef WARY_CMD_AUDIT_USED_H
#define WARY_CMD_AUDIT_USED_H

#include "audit/read.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct audit_used {
	bool timed;    /* the times are known */
	bool is_final; /* to its very end */
	uint64_t user_ms, system_ms;
	uint64_t peak_kib; /* 0: not known */
};

/** audit_used_of: @e: any row; all unknown where it is not of a process's end. */
void audit_used_of(const struct read_event *e, struct audit_used *out);

/** audit_used_put_time: appends both times together, with a + where more may have come;
 * nothing where they are not known. */
void audit_used_put_time(struct buf *out, const struct audit_used *u);
/** audit_used_put_peak: appends "12 MiB+"; it is always a least value. */
void audit_used_put_peak(struct buf *out, const struct audit_used *u);
/** audit_used_json: appends ,"user_ms":… and so on; nothing where nothing is known. */
void audit_used_json(struct buf *out, const struct audit_used *u);

#endif
