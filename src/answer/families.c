/* Which family answers which call.  One line a family, in the order of
 * call/family.def; a family without a line is refused (fail closed). */
#include "answer/families.h"

const struct family *const families[FAMILY_COUNT] = {
	[FAMILY_none] = NULL,
	[FAMILY_open] = &family_open,
	[FAMILY_remove] = &family_remove,
	[FAMILY_make] = &family_make,
	[FAMILY_rename] = &family_rename,
	[FAMILY_link] = &family_link,
	[FAMILY_attr] = &family_attr,
	[FAMILY_xattr_set] = &family_xattr_set,
	[FAMILY_xattr_get] = &family_xattr_get,
	[FAMILY_stat] = &family_stat,
	[FAMILY_access] = &family_access,
	[FAMILY_readlink] = &family_readlink,
	[FAMILY_statfs] = &family_statfs,
	[FAMILY_chdir] = &family_chdir,
	[FAMILY_creds] = &family_creds,
	[FAMILY_watch] = &family_watch,
	[FAMILY_exec] = &family_exec,
	[FAMILY_connect] = &family_connect,
	[FAMILY_bind] = &family_bind,
	[FAMILY_listen] = &family_listen,
	[FAMILY_send] = &family_send,
	[FAMILY_process] = &family_process,
	[FAMILY_fcntl] = &family_fcntl,
	[FAMILY_ioctl] = &family_ioctl,
	[FAMILY_refuse] = &family_refuse,
};
