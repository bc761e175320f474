# Written by tests/lint/sources.py --write.
libwarypure_a_SOURCES = \
	src/base/buf.c \
	src/base/err.c \
	src/base/text.c
libwary_a_SOURCES = \
	src/answer/families.c \
	src/answer/reply.c \
	src/base/log.c \
	src/cmd/audit.c \
	src/cmd/cmd.c \
	src/cmd/doctor.c \
	src/cmd/policy.c \
	src/cmd/run.c \
	src/tracee/caller.c \
	src/tracee/canon.c \
	src/tracee/fd.c \
	src/tracee/maps.c \
	src/tracee/mem.c \
	src/tracee/place.c \
	src/tracee/walk.c \
	src/tracee/wear.c
wary_headers = \
	src/answer/families.h \
	src/answer/reply.h \
	src/answer/request.h \
	src/audit/audit.h \
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
	src/tracee/canon.h \
	src/tracee/fd.h \
	src/tracee/lineage.h \
	src/tracee/maps.h \
	src/tracee/mem.h \
	src/tracee/place.h \
	src/tracee/walk.h \
	src/tracee/wear.h
