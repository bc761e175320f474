# Written by tests/lint/sources.py --write.
unit_programs = \
	tests/unit/answer_open_flags \
	tests/unit/ask_notice \
	tests/unit/audit_session \
	tests/unit/base_buf \
	tests/unit/base_err \
	tests/unit/base_own \
	tests/unit/base_text \
	tests/unit/net_addr \
	tests/unit/net_own \
	tests/unit/tracee_caller \
	tests/unit/tracee_canon \
	tests/unit/tracee_mem \
	tests/unit/tracee_place
tests_unit_answer_open_flags_SOURCES = tests/unit/answer_open_flags.c
tests_unit_answer_open_flags_LDADD = $(unit_libs)
tests_unit_answer_open_flags_CFLAGS = $(unit_cflags)
tests_unit_answer_open_flags_LDFLAGS = $(unit_ldflags)
tests_unit_ask_notice_SOURCES = tests/unit/ask_notice.c
tests_unit_ask_notice_LDADD = $(unit_libs)
tests_unit_ask_notice_CFLAGS = $(unit_cflags)
tests_unit_ask_notice_LDFLAGS = $(unit_ldflags)
tests_unit_audit_session_SOURCES = tests/unit/audit_session.c
tests_unit_audit_session_LDADD = $(unit_libs)
tests_unit_audit_session_CFLAGS = $(unit_cflags)
tests_unit_audit_session_LDFLAGS = $(unit_ldflags)
tests_unit_base_buf_SOURCES = tests/unit/base_buf.c
tests_unit_base_buf_LDADD = $(unit_libs)
tests_unit_base_buf_CFLAGS = $(unit_cflags)
tests_unit_base_buf_LDFLAGS = $(unit_ldflags)
tests_unit_base_err_SOURCES = tests/unit/base_err.c
tests_unit_base_err_LDADD = $(unit_libs)
tests_unit_base_err_CFLAGS = $(unit_cflags)
tests_unit_base_err_LDFLAGS = $(unit_ldflags)
tests_unit_base_own_SOURCES = tests/unit/base_own.c
tests_unit_base_own_LDADD = $(unit_libs)
tests_unit_base_own_CFLAGS = $(unit_cflags)
tests_unit_base_own_LDFLAGS = $(unit_ldflags)
tests_unit_base_text_SOURCES = tests/unit/base_text.c
tests_unit_base_text_LDADD = $(unit_libs)
tests_unit_base_text_CFLAGS = $(unit_cflags)
tests_unit_base_text_LDFLAGS = $(unit_ldflags)
tests_unit_net_addr_SOURCES = tests/unit/net_addr.c
tests_unit_net_addr_LDADD = $(unit_libs)
tests_unit_net_addr_CFLAGS = $(unit_cflags)
tests_unit_net_addr_LDFLAGS = $(unit_ldflags)
tests_unit_net_own_SOURCES = tests/unit/net_own.c
tests_unit_net_own_LDADD = $(unit_libs)
tests_unit_net_own_CFLAGS = $(unit_cflags)
tests_unit_net_own_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_caller_SOURCES = tests/unit/tracee_caller.c
tests_unit_tracee_caller_LDADD = $(unit_libs)
tests_unit_tracee_caller_CFLAGS = $(unit_cflags)
tests_unit_tracee_caller_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_canon_SOURCES = tests/unit/tracee_canon.c
tests_unit_tracee_canon_LDADD = $(unit_libs)
tests_unit_tracee_canon_CFLAGS = $(unit_cflags)
tests_unit_tracee_canon_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_mem_SOURCES = tests/unit/tracee_mem.c
tests_unit_tracee_mem_LDADD = $(unit_libs)
tests_unit_tracee_mem_CFLAGS = $(unit_cflags)
tests_unit_tracee_mem_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_place_SOURCES = tests/unit/tracee_place.c
tests_unit_tracee_place_LDADD = $(unit_libs)
tests_unit_tracee_place_CFLAGS = $(unit_cflags)
tests_unit_tracee_place_LDFLAGS = $(unit_ldflags)
fault_programs =
fuzz_programs = \
	tests/fuzz/text
tests_fuzz_text_SOURCES = tests/fuzz/text.c tests/fuzz/drive.c
tests_fuzz_text_LDADD = $(fuzz_libs)
tests_fuzz_text_CFLAGS = $(fuzz_cflags)
tests_fuzz_text_LDFLAGS = $(fuzz_ldflags)
e2e_programs =
race_programs =
lib_programs =
bench_programs =
dist_extra = \
	docs/AUDIT.md \
	examples/verify.py \
	tests/README.md \
	tests/fuzz/corpora \
	tests/fuzz/corpus/text/odd \
	tests/fuzz/corpus/text/plain \
	tests/fuzz/fuzz.h \
	tests/fuzz/run \
	tests/lib/packages.sh \
	tests/lib/runner.py \
	tests/lib/test.sh \
	tests/lib/tree.py \
	tests/lib/wary_test.py \
	tests/lint/banned.py \
	tests/lint/cppcheck \
	tests/lint/cppcheck.suppressions \
	tests/lint/ctext.py \
	tests/lint/format \
	tests/lint/globals \
	tests/lint/headers \
	tests/lint/layers.py \
	tests/lint/man \
	tests/lint/run \
	tests/lint/shell \
	tests/lint/sizes.py \
	tests/lint/sources.py \
	tests/lint/tidy \
	tests/lint/tidy-some \
	tests/run \
	tests/unit/policy_cases.txt \
	tests/unit/tap.h
dist_policies = \
	policy/agent.wary \
	policy/aider.wary \
	policy/audit-only.wary \
	policy/c.wary \
	policy/ci.wary \
	policy/claude-code.wary \
	policy/codex.wary \
	policy/default.wary \
	policy/go.wary \
	policy/keys.wary \
	policy/node.wary \
	policy/offline.wary \
	policy/python.wary \
	policy/readonly.wary \
	policy/rust.wary \
	policy/strict.wary \
	policy/system.wary \
	policy/tools.wary \
	policy/work.wary
dist_manuals =
