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
	src/tracee/argv.c \
	src/tracee/image.c \
	src/tracee/lineage.c \
	src/tracee/lineage_entry.c \
	src/tracee/procfs.c \
	src/tracee/regs.c \
	src/tracee/startup.c \
	src/trap/exec.c
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
	src/call/family.def \
	src/call/op.h \
	src/cmd/cmd.h \
	src/policy/facts.h \
	src/policy/policy.h \
	src/policy/verdict.h \
	src/supervise.h \
	src/tracee/argv.h \
	src/tracee/caller.h \
	src/tracee/image.h \
	src/tracee/lineage.h \
	src/tracee/lineage_entry.h \
	src/tracee/mem.h \
	src/tracee/place.h \
	src/tracee/procfs.h \
	src/tracee/regs.h \
	src/tracee/startup.h \
	src/trap/exec.h
