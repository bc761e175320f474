/* What a project says that it needs: package.json, lock files, requirements. */
#ifndef WARY_PACKAGE_PROJECT_H
#define WARY_PACKAGE_PROJECT_H

#include "package/list.h"
#include "package/source.h"

/** project_manifest: adds what a package.json depends on.
 * @text: of the file, the child's choice.
 * Returns false where it is not one, or needs more than it says (workspaces). */
bool project_manifest(struct package_list *l, const char *text);

/** project_lock: adds what a package-lock.json (versions 1 to 3) has, and gives
 * the packages that are there already their versions.  What is not there yet
 * is a dependency, with the one that pulls it in where that can be told.
 * Returns false where it is not one. */
bool project_lock(struct package_list *l, const char *text);

/** project_requirements: adds the lines of a pip requirements file; options in
 * it go to @s.
 * @read_more: called for each file that it includes. */
void project_requirements(struct package_list *l, struct sources *s, const char *text,
                          void (*read_more)(void *ctx, const char *path), void *ctx);

#endif
