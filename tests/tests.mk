# Written by tests/lint/sources.py --write.
unit_programs = \
	tests/unit/answer_arrivals \
	tests/unit/answer_images \
	tests/unit/answer_member \
	tests/unit/answer_open_flags \
	tests/unit/ask_control \
	tests/unit/ask_freeze \
	tests/unit/ask_notice \
	tests/unit/ask_terminal \
	tests/unit/audit_chain \
	tests/unit/audit_cursor \
	tests/unit/audit_expr \
	tests/unit/audit_folder \
	tests/unit/audit_head \
	tests/unit/audit_intern \
	tests/unit/audit_proof \
	tests/unit/audit_reach \
	tests/unit/audit_record \
	tests/unit/audit_session \
	tests/unit/audit_turn \
	tests/unit/base_buf \
	tests/unit/base_err \
	tests/unit/base_file \
	tests/unit/base_own \
	tests/unit/base_text \
	tests/unit/call_table \
	tests/unit/cmd_paths \
	tests/unit/net_addr \
	tests/unit/net_config \
	tests/unit/net_dns \
	tests/unit/net_guard \
	tests/unit/net_names \
	tests/unit/net_own \
	tests/unit/net_pins \
	tests/unit/net_registry \
	tests/unit/package \
	tests/unit/package_said \
	tests/unit/policy_cases \
	tests/unit/policy_check \
	tests/unit/policy_laws \
	tests/unit/policy_laws_more \
	tests/unit/policy_laws_rest \
	tests/unit/policy_messages \
	tests/unit/policy_parts \
	tests/unit/policy_properties \
	tests/unit/policy_suggest \
	tests/unit/secret \
	tests/unit/secret_redact \
	tests/unit/tracee_caller \
	tests/unit/tracee_canon \
	tests/unit/tracee_image \
	tests/unit/tracee_lineage \
	tests/unit/tracee_mem \
	tests/unit/tracee_parcel \
	tests/unit/tracee_place \
	tests/unit/tracee_procfs \
	tests/unit/tracee_startup \
	tests/unit/trap_confine \
	tests/unit/trap_filter \
	tests/unit/trap_kernel \
	tests/unit/trap_processes \
	tests/unit/trap_symbol \
	tests/unit/trap_tree \
	tests/unit/trap_used
tests_unit_answer_arrivals_SOURCES = tests/unit/answer_arrivals.c
tests_unit_answer_arrivals_LDADD = $(unit_libs)
tests_unit_answer_arrivals_CFLAGS = $(unit_cflags)
tests_unit_answer_arrivals_LDFLAGS = $(unit_ldflags)
tests_unit_answer_images_SOURCES = tests/unit/answer_images.c
tests_unit_answer_images_LDADD = $(unit_libs)
tests_unit_answer_images_CFLAGS = $(unit_cflags)
tests_unit_answer_images_LDFLAGS = $(unit_ldflags)
tests_unit_answer_member_SOURCES = tests/unit/answer_member.c
tests_unit_answer_member_LDADD = $(unit_libs)
tests_unit_answer_member_CFLAGS = $(unit_cflags)
tests_unit_answer_member_LDFLAGS = $(unit_ldflags)
tests_unit_answer_open_flags_SOURCES = tests/unit/answer_open_flags.c
tests_unit_answer_open_flags_LDADD = $(unit_libs)
tests_unit_answer_open_flags_CFLAGS = $(unit_cflags)
tests_unit_answer_open_flags_LDFLAGS = $(unit_ldflags)
tests_unit_ask_control_SOURCES = tests/unit/ask_control.c
tests_unit_ask_control_LDADD = $(unit_libs)
tests_unit_ask_control_CFLAGS = $(unit_cflags)
tests_unit_ask_control_LDFLAGS = $(unit_ldflags)
tests_unit_ask_freeze_SOURCES = tests/unit/ask_freeze.c
tests_unit_ask_freeze_LDADD = $(unit_libs)
tests_unit_ask_freeze_CFLAGS = $(unit_cflags)
tests_unit_ask_freeze_LDFLAGS = $(unit_ldflags)
tests_unit_ask_notice_SOURCES = tests/unit/ask_notice.c
tests_unit_ask_notice_LDADD = $(unit_libs)
tests_unit_ask_notice_CFLAGS = $(unit_cflags)
tests_unit_ask_notice_LDFLAGS = $(unit_ldflags)
tests_unit_ask_terminal_SOURCES = tests/unit/ask_terminal.c
tests_unit_ask_terminal_LDADD = $(unit_libs)
tests_unit_ask_terminal_CFLAGS = $(unit_cflags)
tests_unit_ask_terminal_LDFLAGS = $(unit_ldflags)
tests_unit_audit_chain_SOURCES = tests/unit/audit_chain.c
tests_unit_audit_chain_LDADD = $(unit_libs)
tests_unit_audit_chain_CFLAGS = $(unit_cflags)
tests_unit_audit_chain_LDFLAGS = $(unit_ldflags)
tests_unit_audit_cursor_SOURCES = tests/unit/audit_cursor.c
tests_unit_audit_cursor_LDADD = $(unit_libs)
tests_unit_audit_cursor_CFLAGS = $(unit_cflags)
tests_unit_audit_cursor_LDFLAGS = $(unit_ldflags)
tests_unit_audit_expr_SOURCES = tests/unit/audit_expr.c
tests_unit_audit_expr_LDADD = $(unit_libs)
tests_unit_audit_expr_CFLAGS = $(unit_cflags)
tests_unit_audit_expr_LDFLAGS = $(unit_ldflags)
tests_unit_audit_folder_SOURCES = tests/unit/audit_folder.c
tests_unit_audit_folder_LDADD = $(unit_libs)
tests_unit_audit_folder_CFLAGS = $(unit_cflags)
tests_unit_audit_folder_LDFLAGS = $(unit_ldflags)
tests_unit_audit_head_SOURCES = tests/unit/audit_head.c
tests_unit_audit_head_LDADD = $(unit_libs)
tests_unit_audit_head_CFLAGS = $(unit_cflags)
tests_unit_audit_head_LDFLAGS = $(unit_ldflags)
tests_unit_audit_intern_SOURCES = tests/unit/audit_intern.c
tests_unit_audit_intern_LDADD = $(unit_libs)
tests_unit_audit_intern_CFLAGS = $(unit_cflags)
tests_unit_audit_intern_LDFLAGS = $(unit_ldflags)
tests_unit_audit_proof_SOURCES = tests/unit/audit_proof.c
tests_unit_audit_proof_LDADD = $(unit_libs)
tests_unit_audit_proof_CFLAGS = $(unit_cflags)
tests_unit_audit_proof_LDFLAGS = $(unit_ldflags)
tests_unit_audit_reach_SOURCES = tests/unit/audit_reach.c
tests_unit_audit_reach_LDADD = $(unit_libs)
tests_unit_audit_reach_CFLAGS = $(unit_cflags)
tests_unit_audit_reach_LDFLAGS = $(unit_ldflags)
tests_unit_audit_record_SOURCES = tests/unit/audit_record.c
tests_unit_audit_record_LDADD = $(unit_libs)
tests_unit_audit_record_CFLAGS = $(unit_cflags)
tests_unit_audit_record_LDFLAGS = $(unit_ldflags)
tests_unit_audit_session_SOURCES = tests/unit/audit_session.c
tests_unit_audit_session_LDADD = $(unit_libs)
tests_unit_audit_session_CFLAGS = $(unit_cflags)
tests_unit_audit_session_LDFLAGS = $(unit_ldflags)
tests_unit_audit_turn_SOURCES = tests/unit/audit_turn.c
tests_unit_audit_turn_LDADD = $(unit_libs)
tests_unit_audit_turn_CFLAGS = $(unit_cflags)
tests_unit_audit_turn_LDFLAGS = $(unit_ldflags)
tests_unit_base_buf_SOURCES = tests/unit/base_buf.c
tests_unit_base_buf_LDADD = $(unit_libs)
tests_unit_base_buf_CFLAGS = $(unit_cflags)
tests_unit_base_buf_LDFLAGS = $(unit_ldflags)
tests_unit_base_err_SOURCES = tests/unit/base_err.c
tests_unit_base_err_LDADD = $(unit_libs)
tests_unit_base_err_CFLAGS = $(unit_cflags)
tests_unit_base_err_LDFLAGS = $(unit_ldflags)
tests_unit_base_file_SOURCES = tests/unit/base_file.c
tests_unit_base_file_LDADD = $(unit_libs)
tests_unit_base_file_CFLAGS = $(unit_cflags)
tests_unit_base_file_LDFLAGS = $(unit_ldflags)
tests_unit_base_own_SOURCES = tests/unit/base_own.c
tests_unit_base_own_LDADD = $(unit_libs)
tests_unit_base_own_CFLAGS = $(unit_cflags)
tests_unit_base_own_LDFLAGS = $(unit_ldflags)
tests_unit_base_text_SOURCES = tests/unit/base_text.c
tests_unit_base_text_LDADD = $(unit_libs)
tests_unit_base_text_CFLAGS = $(unit_cflags)
tests_unit_base_text_LDFLAGS = $(unit_ldflags)
tests_unit_call_table_SOURCES = tests/unit/call_table.c
tests_unit_call_table_LDADD = $(unit_libs)
tests_unit_call_table_CFLAGS = $(unit_cflags)
tests_unit_call_table_LDFLAGS = $(unit_ldflags)
tests_unit_cmd_paths_SOURCES = tests/unit/cmd_paths.c
tests_unit_cmd_paths_LDADD = $(unit_libs)
tests_unit_cmd_paths_CFLAGS = $(unit_cflags)
tests_unit_cmd_paths_LDFLAGS = $(unit_ldflags)
tests_unit_net_addr_SOURCES = tests/unit/net_addr.c
tests_unit_net_addr_LDADD = $(unit_libs)
tests_unit_net_addr_CFLAGS = $(unit_cflags)
tests_unit_net_addr_LDFLAGS = $(unit_ldflags)
tests_unit_net_config_SOURCES = tests/unit/net_config.c
tests_unit_net_config_LDADD = $(unit_libs)
tests_unit_net_config_CFLAGS = $(unit_cflags)
tests_unit_net_config_LDFLAGS = $(unit_ldflags)
tests_unit_net_dns_SOURCES = tests/unit/net_dns.c
tests_unit_net_dns_LDADD = $(unit_libs)
tests_unit_net_dns_CFLAGS = $(unit_cflags)
tests_unit_net_dns_LDFLAGS = $(unit_ldflags)
tests_unit_net_guard_SOURCES = tests/unit/net_guard.c
tests_unit_net_guard_LDADD = $(unit_libs)
tests_unit_net_guard_CFLAGS = $(unit_cflags)
tests_unit_net_guard_LDFLAGS = $(unit_ldflags)
tests_unit_net_names_SOURCES = tests/unit/net_names.c
tests_unit_net_names_LDADD = $(unit_libs)
tests_unit_net_names_CFLAGS = $(unit_cflags)
tests_unit_net_names_LDFLAGS = $(unit_ldflags)
tests_unit_net_own_SOURCES = tests/unit/net_own.c
tests_unit_net_own_LDADD = $(unit_libs)
tests_unit_net_own_CFLAGS = $(unit_cflags)
tests_unit_net_own_LDFLAGS = $(unit_ldflags)
tests_unit_net_pins_SOURCES = tests/unit/net_pins.c
tests_unit_net_pins_LDADD = $(unit_libs)
tests_unit_net_pins_CFLAGS = $(unit_cflags)
tests_unit_net_pins_LDFLAGS = $(unit_ldflags)
tests_unit_net_registry_SOURCES = tests/unit/net_registry.c
tests_unit_net_registry_LDADD = $(unit_libs)
tests_unit_net_registry_CFLAGS = $(unit_cflags)
tests_unit_net_registry_LDFLAGS = $(unit_ldflags)
tests_unit_package_SOURCES = tests/unit/package.c
tests_unit_package_LDADD = $(unit_libs)
tests_unit_package_CFLAGS = $(unit_cflags)
tests_unit_package_LDFLAGS = $(unit_ldflags)
tests_unit_package_said_SOURCES = tests/unit/package_said.c
tests_unit_package_said_LDADD = $(unit_libs)
tests_unit_package_said_CFLAGS = $(unit_cflags)
tests_unit_package_said_LDFLAGS = $(unit_ldflags)
tests_unit_policy_cases_SOURCES = tests/unit/policy_cases.c
tests_unit_policy_cases_LDADD = $(unit_libs)
tests_unit_policy_cases_CFLAGS = $(unit_cflags)
tests_unit_policy_cases_LDFLAGS = $(unit_ldflags)
tests_unit_policy_check_SOURCES = tests/unit/policy_check.c
tests_unit_policy_check_LDADD = $(unit_libs)
tests_unit_policy_check_CFLAGS = $(unit_cflags)
tests_unit_policy_check_LDFLAGS = $(unit_ldflags)
tests_unit_policy_laws_SOURCES = tests/unit/policy_laws.c
tests_unit_policy_laws_LDADD = $(unit_libs)
tests_unit_policy_laws_CFLAGS = $(unit_cflags)
tests_unit_policy_laws_LDFLAGS = $(unit_ldflags)
tests_unit_policy_laws_more_SOURCES = tests/unit/policy_laws_more.c
tests_unit_policy_laws_more_LDADD = $(unit_libs)
tests_unit_policy_laws_more_CFLAGS = $(unit_cflags)
tests_unit_policy_laws_more_LDFLAGS = $(unit_ldflags)
tests_unit_policy_laws_rest_SOURCES = tests/unit/policy_laws_rest.c
tests_unit_policy_laws_rest_LDADD = $(unit_libs)
tests_unit_policy_laws_rest_CFLAGS = $(unit_cflags)
tests_unit_policy_laws_rest_LDFLAGS = $(unit_ldflags)
tests_unit_policy_messages_SOURCES = tests/unit/policy_messages.c
tests_unit_policy_messages_LDADD = $(unit_libs)
tests_unit_policy_messages_CFLAGS = $(unit_cflags)
tests_unit_policy_messages_LDFLAGS = $(unit_ldflags)
tests_unit_policy_parts_SOURCES = tests/unit/policy_parts.c
tests_unit_policy_parts_LDADD = $(unit_libs)
tests_unit_policy_parts_CFLAGS = $(unit_cflags)
tests_unit_policy_parts_LDFLAGS = $(unit_ldflags)
tests_unit_policy_properties_SOURCES = tests/unit/policy_properties.c
tests_unit_policy_properties_LDADD = $(unit_libs)
tests_unit_policy_properties_CFLAGS = $(unit_cflags)
tests_unit_policy_properties_LDFLAGS = $(unit_ldflags)
tests_unit_policy_suggest_SOURCES = tests/unit/policy_suggest.c
tests_unit_policy_suggest_LDADD = $(unit_libs)
tests_unit_policy_suggest_CFLAGS = $(unit_cflags)
tests_unit_policy_suggest_LDFLAGS = $(unit_ldflags)
tests_unit_secret_SOURCES = tests/unit/secret.c
tests_unit_secret_LDADD = $(unit_libs)
tests_unit_secret_CFLAGS = $(unit_cflags)
tests_unit_secret_LDFLAGS = $(unit_ldflags)
tests_unit_secret_redact_SOURCES = tests/unit/secret_redact.c
tests_unit_secret_redact_LDADD = $(unit_libs)
tests_unit_secret_redact_CFLAGS = $(unit_cflags)
tests_unit_secret_redact_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_caller_SOURCES = tests/unit/tracee_caller.c
tests_unit_tracee_caller_LDADD = $(unit_libs)
tests_unit_tracee_caller_CFLAGS = $(unit_cflags)
tests_unit_tracee_caller_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_canon_SOURCES = tests/unit/tracee_canon.c
tests_unit_tracee_canon_LDADD = $(unit_libs)
tests_unit_tracee_canon_CFLAGS = $(unit_cflags)
tests_unit_tracee_canon_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_image_SOURCES = tests/unit/tracee_image.c
tests_unit_tracee_image_LDADD = $(unit_libs)
tests_unit_tracee_image_CFLAGS = $(unit_cflags)
tests_unit_tracee_image_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_lineage_SOURCES = tests/unit/tracee_lineage.c
tests_unit_tracee_lineage_LDADD = $(unit_libs)
tests_unit_tracee_lineage_CFLAGS = $(unit_cflags)
tests_unit_tracee_lineage_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_mem_SOURCES = tests/unit/tracee_mem.c
tests_unit_tracee_mem_LDADD = $(unit_libs)
tests_unit_tracee_mem_CFLAGS = $(unit_cflags)
tests_unit_tracee_mem_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_parcel_SOURCES = tests/unit/tracee_parcel.c
tests_unit_tracee_parcel_LDADD = $(unit_libs)
tests_unit_tracee_parcel_CFLAGS = $(unit_cflags)
tests_unit_tracee_parcel_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_place_SOURCES = tests/unit/tracee_place.c
tests_unit_tracee_place_LDADD = $(unit_libs)
tests_unit_tracee_place_CFLAGS = $(unit_cflags)
tests_unit_tracee_place_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_procfs_SOURCES = tests/unit/tracee_procfs.c
tests_unit_tracee_procfs_LDADD = $(unit_libs)
tests_unit_tracee_procfs_CFLAGS = $(unit_cflags)
tests_unit_tracee_procfs_LDFLAGS = $(unit_ldflags)
tests_unit_tracee_startup_SOURCES = tests/unit/tracee_startup.c
tests_unit_tracee_startup_LDADD = $(unit_libs)
tests_unit_tracee_startup_CFLAGS = $(unit_cflags)
tests_unit_tracee_startup_LDFLAGS = $(unit_ldflags)
tests_unit_trap_confine_SOURCES = tests/unit/trap_confine.c
tests_unit_trap_confine_LDADD = $(unit_libs)
tests_unit_trap_confine_CFLAGS = $(unit_cflags)
tests_unit_trap_confine_LDFLAGS = $(unit_ldflags)
tests_unit_trap_filter_SOURCES = tests/unit/trap_filter.c
tests_unit_trap_filter_LDADD = $(unit_libs)
tests_unit_trap_filter_CFLAGS = $(unit_cflags)
tests_unit_trap_filter_LDFLAGS = $(unit_ldflags)
tests_unit_trap_kernel_SOURCES = tests/unit/trap_kernel.c
tests_unit_trap_kernel_LDADD = $(unit_libs)
tests_unit_trap_kernel_CFLAGS = $(unit_cflags)
tests_unit_trap_kernel_LDFLAGS = $(unit_ldflags)
tests_unit_trap_processes_SOURCES = tests/unit/trap_processes.c
tests_unit_trap_processes_LDADD = $(unit_libs)
tests_unit_trap_processes_CFLAGS = $(unit_cflags)
tests_unit_trap_processes_LDFLAGS = $(unit_ldflags)
tests_unit_trap_symbol_SOURCES = tests/unit/trap_symbol.c
tests_unit_trap_symbol_LDADD = $(unit_libs)
tests_unit_trap_symbol_CFLAGS = $(unit_cflags)
tests_unit_trap_symbol_LDFLAGS = $(unit_ldflags)
tests_unit_trap_tree_SOURCES = tests/unit/trap_tree.c
tests_unit_trap_tree_LDADD = $(unit_libs)
tests_unit_trap_tree_CFLAGS = $(unit_cflags)
tests_unit_trap_tree_LDFLAGS = $(unit_ldflags)
tests_unit_trap_used_SOURCES = tests/unit/trap_used.c
tests_unit_trap_used_LDADD = $(unit_libs)
tests_unit_trap_used_CFLAGS = $(unit_cflags)
tests_unit_trap_used_LDFLAGS = $(unit_ldflags)
fault_programs = \
	tests/fault/audit_bits \
	tests/fault/audit_fail \
	tests/fault/audit_faults \
	tests/fault/audit_kill \
	tests/fault/audit_power \
	tests/fault/audit_rotate \
	tests/fault/policy_memory
tests_fault_audit_bits_SOURCES = tests/fault/audit_bits.c
tests_fault_audit_bits_LDADD = $(unit_libs)
tests_fault_audit_bits_CFLAGS = $(fault_cflags)
tests_fault_audit_bits_LDFLAGS = $(fault_ldflags)
tests_fault_audit_fail_SOURCES = tests/fault/audit_fail.c
tests_fault_audit_fail_LDADD = $(unit_libs)
tests_fault_audit_fail_CFLAGS = $(fault_cflags)
tests_fault_audit_fail_LDFLAGS = $(fault_ldflags)
tests_fault_audit_faults_SOURCES = tests/fault/audit_faults.c
tests_fault_audit_faults_LDADD = $(unit_libs)
tests_fault_audit_faults_CFLAGS = $(fault_cflags)
tests_fault_audit_faults_LDFLAGS = $(fault_ldflags)
tests_fault_audit_kill_SOURCES = tests/fault/audit_kill.c
tests_fault_audit_kill_LDADD = $(unit_libs)
tests_fault_audit_kill_CFLAGS = $(fault_cflags)
tests_fault_audit_kill_LDFLAGS = $(fault_ldflags)
tests_fault_audit_power_SOURCES = tests/fault/audit_power.c
tests_fault_audit_power_LDADD = $(unit_libs)
tests_fault_audit_power_CFLAGS = $(fault_cflags)
tests_fault_audit_power_LDFLAGS = $(fault_ldflags)
tests_fault_audit_rotate_SOURCES = tests/fault/audit_rotate.c
tests_fault_audit_rotate_LDADD = $(unit_libs)
tests_fault_audit_rotate_CFLAGS = $(fault_cflags)
tests_fault_audit_rotate_LDFLAGS = $(fault_ldflags)
tests_fault_policy_memory_SOURCES = tests/fault/policy_memory.c
tests_fault_policy_memory_LDADD = $(unit_libs)
tests_fault_policy_memory_CFLAGS = $(fault_cflags)
tests_fault_policy_memory_LDFLAGS = $(fault_ldflags)
fuzz_programs = \
	tests/fuzz/bridge \
	tests/fuzz/cmsg \
	tests/fuzz/config \
	tests/fuzz/dns \
	tests/fuzz/expr \
	tests/fuzz/image \
	tests/fuzz/journal \
	tests/fuzz/package_args \
	tests/fuzz/package_said \
	tests/fuzz/policy \
	tests/fuzz/proof \
	tests/fuzz/record \
	tests/fuzz/redact \
	tests/fuzz/sockaddr \
	tests/fuzz/symbol \
	tests/fuzz/text
tests_fuzz_bridge_SOURCES = tests/fuzz/bridge.c tests/fuzz/drive.c
tests_fuzz_bridge_LDADD = $(fuzz_libs)
tests_fuzz_bridge_CFLAGS = $(fuzz_cflags)
tests_fuzz_bridge_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_cmsg_SOURCES = tests/fuzz/cmsg.c tests/fuzz/drive.c
tests_fuzz_cmsg_LDADD = $(fuzz_libs)
tests_fuzz_cmsg_CFLAGS = $(fuzz_cflags)
tests_fuzz_cmsg_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_config_SOURCES = tests/fuzz/config.c tests/fuzz/drive.c
tests_fuzz_config_LDADD = $(fuzz_libs)
tests_fuzz_config_CFLAGS = $(fuzz_cflags)
tests_fuzz_config_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_dns_SOURCES = tests/fuzz/dns.c tests/fuzz/drive.c
tests_fuzz_dns_LDADD = $(fuzz_libs)
tests_fuzz_dns_CFLAGS = $(fuzz_cflags)
tests_fuzz_dns_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_expr_SOURCES = tests/fuzz/expr.c tests/fuzz/drive.c
tests_fuzz_expr_LDADD = $(fuzz_libs)
tests_fuzz_expr_CFLAGS = $(fuzz_cflags)
tests_fuzz_expr_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_image_SOURCES = tests/fuzz/image.c tests/fuzz/drive.c
tests_fuzz_image_LDADD = $(fuzz_libs)
tests_fuzz_image_CFLAGS = $(fuzz_cflags)
tests_fuzz_image_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_journal_SOURCES = tests/fuzz/journal.c tests/fuzz/drive.c
tests_fuzz_journal_LDADD = $(fuzz_libs)
tests_fuzz_journal_CFLAGS = $(fuzz_cflags)
tests_fuzz_journal_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_package_args_SOURCES = tests/fuzz/package_args.c tests/fuzz/drive.c
tests_fuzz_package_args_LDADD = $(fuzz_libs)
tests_fuzz_package_args_CFLAGS = $(fuzz_cflags)
tests_fuzz_package_args_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_package_said_SOURCES = tests/fuzz/package_said.c tests/fuzz/drive.c
tests_fuzz_package_said_LDADD = $(fuzz_libs)
tests_fuzz_package_said_CFLAGS = $(fuzz_cflags)
tests_fuzz_package_said_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_policy_SOURCES = tests/fuzz/policy.c tests/fuzz/drive.c
tests_fuzz_policy_LDADD = $(fuzz_libs)
tests_fuzz_policy_CFLAGS = $(fuzz_cflags)
tests_fuzz_policy_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_proof_SOURCES = tests/fuzz/proof.c tests/fuzz/drive.c
tests_fuzz_proof_LDADD = $(fuzz_libs)
tests_fuzz_proof_CFLAGS = $(fuzz_cflags)
tests_fuzz_proof_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_record_SOURCES = tests/fuzz/record.c tests/fuzz/drive.c
tests_fuzz_record_LDADD = $(fuzz_libs)
tests_fuzz_record_CFLAGS = $(fuzz_cflags)
tests_fuzz_record_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_redact_SOURCES = tests/fuzz/redact.c tests/fuzz/drive.c
tests_fuzz_redact_LDADD = $(fuzz_libs)
tests_fuzz_redact_CFLAGS = $(fuzz_cflags)
tests_fuzz_redact_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_sockaddr_SOURCES = tests/fuzz/sockaddr.c tests/fuzz/drive.c
tests_fuzz_sockaddr_LDADD = $(fuzz_libs)
tests_fuzz_sockaddr_CFLAGS = $(fuzz_cflags)
tests_fuzz_sockaddr_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_symbol_SOURCES = tests/fuzz/symbol.c tests/fuzz/drive.c
tests_fuzz_symbol_LDADD = $(fuzz_libs)
tests_fuzz_symbol_CFLAGS = $(fuzz_cflags)
tests_fuzz_symbol_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_text_SOURCES = tests/fuzz/text.c tests/fuzz/drive.c
tests_fuzz_text_LDADD = $(fuzz_libs)
tests_fuzz_text_CFLAGS = $(fuzz_cflags)
tests_fuzz_text_LDFLAGS = $(fuzz_ldflags)
e2e_programs = \
	tests/e2e/attack_self \
	tests/e2e/attack_starve \
	tests/e2e/exec \
	tests/e2e/killed_work \
	tests/e2e/same_attr \
	tests/e2e/same_inet \
	tests/e2e/same_messages \
	tests/e2e/same_names \
	tests/e2e/same_open \
	tests/e2e/same_owner \
	tests/e2e/same_proc \
	tests/e2e/same_signals \
	tests/e2e/same_tty \
	tests/e2e/same_unix \
	tests/e2e/same_wait \
	tests/e2e/secrets \
	tests/e2e/stack_caller
tests_e2e_attack_self_SOURCES = tests/e2e/attack_self.c
tests_e2e_attack_self_LDADD = $(caller_libs)
tests_e2e_attack_self_CFLAGS = $(e2e_cflags)
tests_e2e_attack_self_LDFLAGS = $(e2e_ldflags)
tests_e2e_attack_starve_SOURCES = tests/e2e/attack_starve.c
tests_e2e_attack_starve_LDADD = $(caller_libs)
tests_e2e_attack_starve_CFLAGS = $(e2e_cflags)
tests_e2e_attack_starve_LDFLAGS = $(e2e_ldflags)
tests_e2e_exec_SOURCES = tests/e2e/exec.c
tests_e2e_exec_LDADD = $(caller_libs)
tests_e2e_exec_CFLAGS = $(e2e_cflags)
tests_e2e_exec_LDFLAGS = $(e2e_ldflags)
tests_e2e_killed_work_SOURCES = tests/e2e/killed_work.c
tests_e2e_killed_work_LDADD = $(caller_libs)
tests_e2e_killed_work_CFLAGS = $(e2e_cflags)
tests_e2e_killed_work_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_attr_SOURCES = tests/e2e/same_attr.c
tests_e2e_same_attr_LDADD = $(caller_libs)
tests_e2e_same_attr_CFLAGS = $(e2e_cflags)
tests_e2e_same_attr_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_inet_SOURCES = tests/e2e/same_inet.c
tests_e2e_same_inet_LDADD = $(caller_libs)
tests_e2e_same_inet_CFLAGS = $(e2e_cflags)
tests_e2e_same_inet_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_messages_SOURCES = tests/e2e/same_messages.c
tests_e2e_same_messages_LDADD = $(caller_libs)
tests_e2e_same_messages_CFLAGS = $(e2e_cflags)
tests_e2e_same_messages_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_names_SOURCES = tests/e2e/same_names.c
tests_e2e_same_names_LDADD = $(caller_libs)
tests_e2e_same_names_CFLAGS = $(e2e_cflags)
tests_e2e_same_names_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_open_SOURCES = tests/e2e/same_open.c
tests_e2e_same_open_LDADD = $(caller_libs)
tests_e2e_same_open_CFLAGS = $(e2e_cflags)
tests_e2e_same_open_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_owner_SOURCES = tests/e2e/same_owner.c
tests_e2e_same_owner_LDADD = $(caller_libs)
tests_e2e_same_owner_CFLAGS = $(e2e_cflags)
tests_e2e_same_owner_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_proc_SOURCES = tests/e2e/same_proc.c
tests_e2e_same_proc_LDADD = $(caller_libs)
tests_e2e_same_proc_CFLAGS = $(e2e_cflags)
tests_e2e_same_proc_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_signals_SOURCES = tests/e2e/same_signals.c
tests_e2e_same_signals_LDADD = $(caller_libs)
tests_e2e_same_signals_CFLAGS = $(e2e_cflags)
tests_e2e_same_signals_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_tty_SOURCES = tests/e2e/same_tty.c
tests_e2e_same_tty_LDADD = $(caller_libs)
tests_e2e_same_tty_CFLAGS = $(e2e_cflags)
tests_e2e_same_tty_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_unix_SOURCES = tests/e2e/same_unix.c
tests_e2e_same_unix_LDADD = $(caller_libs)
tests_e2e_same_unix_CFLAGS = $(e2e_cflags)
tests_e2e_same_unix_LDFLAGS = $(e2e_ldflags)
tests_e2e_same_wait_SOURCES = tests/e2e/same_wait.c
tests_e2e_same_wait_LDADD = $(caller_libs)
tests_e2e_same_wait_CFLAGS = $(e2e_cflags)
tests_e2e_same_wait_LDFLAGS = $(e2e_ldflags)
tests_e2e_secrets_SOURCES = tests/e2e/secrets.c
tests_e2e_secrets_LDADD = $(caller_libs)
tests_e2e_secrets_CFLAGS = $(e2e_cflags)
tests_e2e_secrets_LDFLAGS = $(e2e_ldflags)
tests_e2e_stack_caller_SOURCES = tests/e2e/stack_caller.c
tests_e2e_stack_caller_LDADD = $(caller_libs)
tests_e2e_stack_caller_CFLAGS = $(e2e_cflags)
tests_e2e_stack_caller_LDFLAGS = $(e2e_ldflags)
race_programs = \
	tests/race/exec_flip \
	tests/race/exec_takeover \
	tests/race/files_flip \
	tests/race/net_flip \
	tests/race/own_takeover
tests_race_exec_flip_SOURCES = tests/race/exec_flip.c
tests_race_exec_flip_LDADD = $(caller_libs)
tests_race_exec_flip_CFLAGS = $(race_cflags)
tests_race_exec_flip_LDFLAGS = $(race_ldflags)
tests_race_exec_takeover_SOURCES = tests/race/exec_takeover.c
tests_race_exec_takeover_LDADD = $(caller_libs)
tests_race_exec_takeover_CFLAGS = $(race_cflags)
tests_race_exec_takeover_LDFLAGS = $(race_ldflags)
tests_race_files_flip_SOURCES = tests/race/files_flip.c
tests_race_files_flip_LDADD = $(caller_libs)
tests_race_files_flip_CFLAGS = $(race_cflags)
tests_race_files_flip_LDFLAGS = $(race_ldflags)
tests_race_net_flip_SOURCES = tests/race/net_flip.c
tests_race_net_flip_LDADD = $(caller_libs)
tests_race_net_flip_CFLAGS = $(race_cflags)
tests_race_net_flip_LDFLAGS = $(race_ldflags)
tests_race_own_takeover_SOURCES = tests/race/own_takeover.c
tests_race_own_takeover_LDADD = $(caller_libs)
tests_race_own_takeover_CFLAGS = $(race_cflags)
tests_race_own_takeover_LDFLAGS = $(race_ldflags)
lib_programs = \
	tests/lib/audit_session \
	tests/lib/outer
tests_lib_audit_session_SOURCES = tests/lib/audit_session.c
tests_lib_audit_session_LDADD = $(unit_libs)
tests_lib_audit_session_CFLAGS = $(unit_cflags)
tests_lib_audit_session_LDFLAGS = $(unit_ldflags)
tests_lib_outer_SOURCES = tests/lib/outer.c
tests_lib_outer_LDADD = $(caller_libs)
tests_lib_outer_CFLAGS = $(lib_cflags)
tests_lib_outer_LDFLAGS = $(lib_ldflags)
bench_programs = \
	tests/bench/audit \
	tests/bench/beside \
	tests/bench/floor \
	tests/bench/floor_start \
	tests/bench/opens \
	tests/bench/policy
tests_bench_audit_SOURCES = tests/bench/audit.c
tests_bench_audit_LDADD = $(unit_libs)
tests_bench_audit_CFLAGS = $(unit_cflags)
tests_bench_audit_LDFLAGS = $(unit_ldflags)
tests_bench_beside_SOURCES = tests/bench/beside.c
tests_bench_beside_LDADD = $(unit_libs)
tests_bench_beside_CFLAGS = $(unit_cflags)
tests_bench_beside_LDFLAGS = $(unit_ldflags)
tests_bench_floor_SOURCES = tests/bench/floor.c
tests_bench_floor_LDADD = $(bench_libs)
tests_bench_floor_CFLAGS = $(bench_cflags)
tests_bench_floor_LDFLAGS = $(bench_ldflags)
tests_bench_floor_start_SOURCES = tests/bench/floor_start.c
tests_bench_floor_start_LDADD = $(unit_libs)
tests_bench_floor_start_CFLAGS = $(unit_cflags)
tests_bench_floor_start_LDFLAGS = $(unit_ldflags)
tests_bench_opens_SOURCES = tests/bench/opens.c
tests_bench_opens_LDADD = $(bench_libs)
tests_bench_opens_CFLAGS = $(bench_cflags)
tests_bench_opens_LDFLAGS = $(bench_ldflags)
tests_bench_policy_SOURCES = tests/bench/policy.c
tests_bench_policy_LDADD = $(bench_libs)
tests_bench_policy_CFLAGS = $(bench_cflags)
tests_bench_policy_LDFLAGS = $(bench_ldflags)
dist_extra = \
	docs/ADDING.md \
	docs/AUDIT.md \
	docs/BENCH.md \
	docs/DIFFERENCES.md \
	docs/HOW.md \
	docs/NETWORK.md \
	docs/POLICY.md \
	docs/SYSCALLS.md \
	docs/THREAT.md \
	examples/package-hash.py \
	examples/quickstart \
	examples/verify.py \
	tests/README.md \
	tests/bench/run \
	tests/bench/session.h \
	tests/bench/trap.h \
	tests/e2e/ask_approve.py \
	tests/e2e/ask_beside.py \
	tests/e2e/ask_install.py \
	tests/e2e/ask_killed.py \
	tests/e2e/ask_orphan.py \
	tests/e2e/ask_selfapproval.py \
	tests/e2e/ask_stack.py \
	tests/e2e/ask_terminal.py \
	tests/e2e/attack_files.py \
	tests/e2e/attack_postinstall.sh \
	tests/e2e/attack_self.py \
	tests/e2e/attack_starve.py \
	tests/e2e/audit_cyclonedx.py \
	tests/e2e/audit_export.py \
	tests/e2e/audit_follow.py \
	tests/e2e/audit_formats.py \
	tests/e2e/audit_keep.py \
	tests/e2e/audit_more.py \
	tests/e2e/audit_older.py \
	tests/e2e/audit_one.py \
	tests/e2e/audit_prove.py \
	tests/e2e/audit_query.py \
	tests/e2e/audit_read.py \
	tests/e2e/audit_schemas.py \
	tests/e2e/audit_tree.py \
	tests/e2e/audit_vouch.py \
	tests/e2e/boundary.py \
	tests/e2e/cases.sh \
	tests/e2e/confined.py \
	tests/e2e/exec.py \
	tests/e2e/exec_rules.py \
	tests/e2e/inherit.py \
	tests/e2e/installed.py \
	tests/e2e/installed_npm.py \
	tests/e2e/installed_pip.py \
	tests/e2e/jobs.py \
	tests/e2e/killed.py \
	tests/e2e/killed_record.py \
	tests/e2e/limits.py \
	tests/e2e/names.py \
	tests/e2e/own_bind.py \
	tests/e2e/packages.py \
	tests/e2e/policy_confirm.py \
	tests/e2e/policy_default.sh \
	tests/e2e/policy_learn.py \
	tests/e2e/policy_replay.py \
	tests/e2e/policy_shipped.sh \
	tests/e2e/policy_suggest.py \
	tests/e2e/policy_tool.sh \
	tests/e2e/policy_world.sh \
	tests/e2e/quickstart.sh \
	tests/e2e/record_sizes.py \
	tests/e2e/record_truth.py \
	tests/e2e/reduced.py \
	tests/e2e/report_page.py \
	tests/e2e/same_files.py \
	tests/e2e/same_git.sh \
	tests/e2e/same_make.sh \
	tests/e2e/same_npm.sh \
	tests/e2e/same_pip.sh \
	tests/e2e/same_sockets.py \
	tests/e2e/same_tar.py \
	tests/e2e/secrets.py \
	tests/e2e/session_life.py \
	tests/e2e/status.py \
	tests/e2e/stdio.py \
	tests/fault/audit_key.py \
	tests/fault/audit_prune.py \
	tests/fault/audit_stores.py \
	tests/fault/audit_tamper.py \
	tests/fuzz/corpora \
	tests/fuzz/corpus/bridge/one \
	tests/fuzz/corpus/bridge/three \
	tests/fuzz/corpus/cmsg/rights \
	tests/fuzz/corpus/cmsg/route \
	tests/fuzz/corpus/cmsg/short \
	tests/fuzz/corpus/cmsg/two \
	tests/fuzz/corpus/config/apt \
	tests/fuzz/corpus/config/defaults \
	tests/fuzz/corpus/config/npmrc \
	tests/fuzz/corpus/config/pip \
	tests/fuzz/corpus/dns/answer \
	tests/fuzz/corpus/dns/query \
	tests/fuzz/corpus/expr/connect \
	tests/fuzz/corpus/expr/open \
	tests/fuzz/corpus/expr/quotes \
	tests/fuzz/corpus/image/elf-32 \
	tests/fuzz/corpus/image/elf-interp \
	tests/fuzz/corpus/image/elf-loader \
	tests/fuzz/corpus/image/env \
	tests/fuzz/corpus/image/script \
	tests/fuzz/corpus/journal/anchor \
	tests/fuzz/corpus/journal/entries \
	tests/fuzz/corpus/journal/long \
	tests/fuzz/corpus/journal/segment \
	tests/fuzz/corpus/package_args/corepack \
	tests/fuzz/corpus/package_args/deno \
	tests/fuzz/corpus/package_args/doubt \
	tests/fuzz/corpus/package_args/npm-exec \
	tests/fuzz/corpus/package_args/npm-lock \
	tests/fuzz/corpus/package_args/pip-requirements \
	tests/fuzz/corpus/package_args/uv \
	tests/fuzz/corpus/package_said/direct-url \
	tests/fuzz/corpus/package_said/manifest-lock \
	tests/fuzz/corpus/package_said/metadata \
	tests/fuzz/corpus/package_said/paths \
	tests/fuzz/corpus/package_said/record \
	tests/fuzz/corpus/policy/bidi \
	tests/fuzz/corpus/policy/bom \
	tests/fuzz/corpus/policy/braces \
	tests/fuzz/corpus/policy/continued \
	tests/fuzz/corpus/policy/crlf \
	tests/fuzz/corpus/policy/cycle \
	tests/fuzz/corpus/policy/git-ssh \
	tests/fuzz/corpus/policy/grammar-00 \
	tests/fuzz/corpus/policy/grammar-01 \
	tests/fuzz/corpus/policy/grammar-02 \
	tests/fuzz/corpus/policy/grammar-03 \
	tests/fuzz/corpus/policy/grammar-04 \
	tests/fuzz/corpus/policy/grammar-05 \
	tests/fuzz/corpus/policy/grammar-06 \
	tests/fuzz/corpus/policy/grammar-07 \
	tests/fuzz/corpus/policy/grammar-08 \
	tests/fuzz/corpus/policy/grammar-09 \
	tests/fuzz/corpus/policy/grammar-10 \
	tests/fuzz/corpus/policy/grammar-11 \
	tests/fuzz/corpus/policy/latin1 \
	tests/fuzz/corpus/policy/machine \
	tests/fuzz/corpus/policy/nul \
	tests/fuzz/corpus/policy/project \
	tests/fuzz/corpus/policy/quotes \
	tests/fuzz/corpus/proof/empty \
	tests/fuzz/corpus/proof/exec \
	tests/fuzz/corpus/proof/read \
	tests/fuzz/corpus/record/exec \
	tests/fuzz/corpus/record/odd \
	tests/fuzz/corpus/record/open \
	tests/fuzz/corpus/record/quoted \
	tests/fuzz/corpus/redact/encoded \
	tests/fuzz/corpus/redact/plain \
	tests/fuzz/corpus/redact/short \
	tests/fuzz/corpus/sockaddr/abstract \
	tests/fuzz/corpus/sockaddr/any \
	tests/fuzz/corpus/sockaddr/netlink \
	tests/fuzz/corpus/sockaddr/path \
	tests/fuzz/corpus/sockaddr/unspec \
	tests/fuzz/corpus/sockaddr/v4 \
	tests/fuzz/corpus/sockaddr/v6 \
	tests/fuzz/corpus/symbol/link-outside \
	tests/fuzz/corpus/symbol/name-outside \
	tests/fuzz/corpus/symbol/named \
	tests/fuzz/corpus/symbol/no-elf \
	tests/fuzz/corpus/symbol/table-outside \
	tests/fuzz/corpus/text/odd \
	tests/fuzz/corpus/text/plain \
	tests/fuzz/fuzz.h \
	tests/fuzz/run \
	tests/kernel/guest.py \
	tests/kernel/old.py \
	tests/lib/audit_intact.h \
	tests/lib/audit_work.h \
	tests/lib/cases.expected \
	tests/lib/cases_policy.sh \
	tests/lib/chromium.py \
	tests/lib/export_stores.py \
	tests/lib/flip.py \
	tests/lib/initramfs.py \
	tests/lib/installed_rows.py \
	tests/lib/learn.py \
	tests/lib/make_wary.sh \
	tests/lib/packages.sh \
	tests/lib/runner.py \
	tests/lib/sanitized.h \
	tests/lib/say.h \
	tests/lib/schemas.py \
	tests/lib/store_1.sql \
	tests/lib/test.sh \
	tests/lib/tree.py \
	tests/lib/validate.js \
	tests/lib/wary_test.py \
	tests/lib/wheels.py \
	tests/lint/aarch64 \
	tests/lint/banned.py \
	tests/lint/confine.libc \
	tests/lint/confine.py \
	tests/lint/cppcheck \
	tests/lint/cppcheck.suppressions \
	tests/lint/ctext.py \
	tests/lint/format \
	tests/lint/globals \
	tests/lint/headers \
	tests/lint/layers.py \
	tests/lint/man \
	tests/lint/needs \
	tests/lint/run \
	tests/lint/shell \
	tests/lint/sizes.py \
	tests/lint/sources.py \
	tests/lint/syscalls.py \
	tests/lint/tidy \
	tests/lint/tidy-some \
	tests/race/exec_flip.py \
	tests/race/exec_takeover.py \
	tests/race/flip_attr.py \
	tests/race/flip_names.py \
	tests/race/flip_open.py \
	tests/race/net_flip.py \
	tests/race/own_takeover.py \
	tests/run \
	tests/unit/policy_cases.txt \
	tests/unit/policy_world.h \
	tests/unit/scratch.h \
	tests/unit/session.h \
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
dist_manuals = \
	man/wary-audit.1 \
	man/wary-policy.5 \
	man/wary.1
