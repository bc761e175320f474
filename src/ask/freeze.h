/* The tree stands still while a question is shown on the terminal that it
 * shares: it can then neither write over the box, nor read what is typed, nor
 * change the terminal.
 *
 * Parents are stopped before their children and continued after them, so that
 * a shell of the tree never sees a child of its own stopped; who was stopped
 * before stays so.  A stopped process cannot fork, and nobody of the tree runs
 * who could continue another.
 */
#ifndef WARY_ASK_FREEZE_H
#define WARY_ASK_FREEZE_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct freeze;

/** freeze_begin: stops all descendants of @guardian, and of the bystanders those that
 * have the terminal open, but for wary's own and whoever started it: what the tree has
 * written into their pipe must not come over the box.
 * @bystanders: a process group (the one that wary was started in) whose members
 * outside the tree are remembered: a pager beside wary that is stopped for
 * reading the terminal meanwhile is continued at the end, as are these. 0: none.
 * Blocks some milliseconds. Returns 0, -ERR_NOMEM, -ERR_SYS, -ERR_BUSY where
 * the tree would not stand still, or -ERR_GONE where the guardian has ended, so
 * that nobody knows which processes are the tree's: then nothing may be shown
 * (freeze_end has been done). */
must_check int freeze_begin(pid_t guardian, pid_t bystanders, struct freeze **out);

/** freeze_end: continues them and frees. NULL is fine. */
void freeze_end(struct freeze *f);

/** freeze_undo: continues every descendant of @guardian that stands still, and every
 * bystander, where whoever stopped them was killed. */
void freeze_undo(pid_t guardian, pid_t bystanders);

/** freeze_kill: ends them where they stand, before any of them runs on; the
 * bystanders go on. Frees. NULL is fine. */
void freeze_kill(struct freeze *f);

/** freeze_tree_has: whether a process is a descendant of @guardian, by what
 * /proc says now.  True where it cannot be told. */
bool freeze_tree_has(pid_t guardian, pid_t pid);

/** freeze_tree_has_group: whether a process of the tree is in group @pgrp. */
bool freeze_tree_has_group(pid_t guardian, pid_t pgrp);

#endif
