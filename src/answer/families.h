/* One declaration per family; families.c lists them by number. */
#ifndef WARY_ANSWER_FAMILIES_H
#define WARY_ANSWER_FAMILIES_H

#include "answer/request.h"

extern const struct family family_exec;
extern const struct family family_open;
extern const struct family family_remove;
extern const struct family family_make;
extern const struct family family_rename;
extern const struct family family_link;
extern const struct family family_attr;
extern const struct family family_xattr_set;
extern const struct family family_xattr_get;
extern const struct family family_stat;
extern const struct family family_access;
extern const struct family family_readlink;
extern const struct family family_statfs;
extern const struct family family_chdir;
extern const struct family family_creds;
extern const struct family family_watch;
extern const struct family family_connect;
extern const struct family family_bind;
extern const struct family family_listen;
extern const struct family family_send;
extern const struct family family_process;
extern const struct family family_fcntl;
extern const struct family family_ioctl;
extern const struct family family_refuse;

#endif
