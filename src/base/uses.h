/* What a source file asks of the kernel, declared beside the code that asks.
 *
 * The filters that wary's own processes put on themselves are made of these
 * lines (src/gen/uses.awk): a call that no file of a process's role
 * (trap/roles.def) declares is not there for it.  tests/lint/confine.py compares
 * each file's lines with what its object calls.
 *
 * A name is a system call, or a form of one (trap/forms.def) where its
 * arguments are checked as well.  What every process has, trap/library.def
 * gives ("base"), as it does what the libraries need.
 */
#ifndef WARY_BASE_USES_H
#define WARY_BASE_USES_H

/** USES: what the file's functions call in a confined process. */
#define USES(...) _Static_assert(1, #__VA_ARGS__)

/** USED_BEFORE: what they call only before the process confines itself, or in a
 * child that another program takes over. */
#define USED_BEFORE(...) _Static_assert(1, #__VA_ARGS__)

#endif
