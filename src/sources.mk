# Written by tests/lint/sources.py --write.
libwarypure_a_SOURCES = \
	src/base/buf.c \
	src/base/err.c \
	src/base/text.c \
	src/call/call.c \
	src/call/decode.c \
	src/call/scalar.c \
	src/policy/arena.c \
	src/policy/words.c
libwary_a_SOURCES = \
	src/answer/families.c \
	src/answer/reply.c \
	src/base/log.c \
	src/cmd/audit.c \
	src/cmd/cmd.c \
	src/cmd/doctor.c \
	src/cmd/policy.c \
	src/cmd/run.c \
	src/pool.c \
	src/supervise.c \
	src/tracee/caller.c \
	src/tracee/canon.c \
	src/tracee/fd.c \
	src/tracee/maps.c \
	src/tracee/mem.c \
	src/tracee/place.c \
	src/tracee/stack.c \
	src/tracee/walk.c \
	src/tracee/wear.c \
	src/trap/notify.c
wary_headers = \
	src/answer/families.h \
	src/answer/reply.h \
	src/answer/request.h \
	src/ask/ask.h \
	src/ask/notice.h \
	src/audit/audit.h \
	src/base/buf.h \
	src/base/clock.h \
	src/base/err.def \
	src/base/err.h \
	src/base/log.h \
	src/base/own.h \
	src/base/text.h \
	src/call/call.h \
	src/call/decode.h \
	src/call/family.def \
	src/call/index.h \
	src/call/op.h \
	src/call/scalar.def \
	src/call/scalar.h \
	src/call/table.def \
	src/cmd/cmd.h \
	src/policy/arena.h \
	src/policy/check.h \
	src/policy/explain.h \
	src/policy/facts.h \
	src/policy/policy.h \
	src/policy/report.h \
	src/policy/settings.h \
	src/policy/verdict.h \
	src/policy/words.h \
	src/policy/world.h \
	src/pool.h \
	src/supervise.h \
	src/tracee/caller.h \
	src/tracee/canon.h \
	src/tracee/fd.h \
	src/tracee/lineage.h \
	src/tracee/maps.h \
	src/tracee/mem.h \
	src/tracee/place.h \
	src/tracee/stack.h \
	src/tracee/walk.h \
	src/tracee/wear.h \
	src/trap/notify.h
