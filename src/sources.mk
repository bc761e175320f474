# Written by tests/lint/sources.py --write.
libwarypure_a_SOURCES = \
	src/audit/chain.c \
	src/audit/decode.c \
	src/audit/merkle.c \
	src/audit/ratchet.c \
	src/audit/record.c \
	src/base/buf.c \
	src/base/err.c \
	src/base/text.c
libwary_a_SOURCES = \
	src/answer/families.c \
	src/answer/reply.c \
	src/audit/append.c \
	src/audit/audit.c \
	src/audit/batch.c \
	src/audit/batch_rows.c \
	src/audit/bus.c \
	src/audit/columns.c \
	src/audit/folder.c \
	src/audit/intern.c \
	src/audit/journal.c \
	src/audit/keys.c \
	src/audit/recover.c \
	src/audit/schema.c \
	src/audit/session.c \
	src/audit/store.c \
	src/audit/writer.c \
	src/base/log.c \
	src/cmd/audit.c \
	src/cmd/cmd.c \
	src/cmd/doctor.c \
	src/cmd/policy.c \
	src/cmd/run.c
wary_headers = \
	src/answer/families.h \
	src/answer/reply.h \
	src/answer/request.h \
	src/audit/audit.h \
	src/audit/audit_inside.h \
	src/audit/batch.h \
	src/audit/batch_inside.h \
	src/audit/bus.h \
	src/audit/chain.h \
	src/audit/columns.h \
	src/audit/decode.h \
	src/audit/folder.h \
	src/audit/intern.h \
	src/audit/journal.h \
	src/audit/keys.h \
	src/audit/merkle.h \
	src/audit/ratchet.h \
	src/audit/record.h \
	src/audit/recover.h \
	src/audit/rows.h \
	src/audit/schema.h \
	src/audit/store.h \
	src/audit/store_sql.h \
	src/base/buf.h \
	src/base/clock.h \
	src/base/err.def \
	src/base/err.h \
	src/base/log.h \
	src/base/own.h \
	src/base/text.h \
	src/call/call.h \
	src/call/family.def \
	src/call/op.h \
	src/cmd/cmd.h \
	src/policy/facts.h \
	src/policy/policy.h \
	src/policy/verdict.h \
	src/supervise.h \
	src/tracee/caller.h \
	src/tracee/lineage.h \
	src/tracee/mem.h \
	src/tracee/place.h
