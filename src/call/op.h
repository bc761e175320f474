/* What a row of the table asks of its family: where several calls share one
 * implementation, `row->op` says which of them it is.
 *
 * The roles say where the arguments are and whether the object is named by a
 * path (ROLE_PATH, relative to ROLE_DIRFD or the caller's folder) or by a
 * descriptor (ROLE_FD); so chmod, fchmod, fchmodat and fchmodat2 are all
 * OP_CHMOD.  Only what the roles cannot tell has an op of its own.
 */
#ifndef WARY_CALL_OP_H
#define WARY_CALL_OP_H

enum call_op {
	OP_NONE,
	/* FAMILY_open */
	OP_OPEN,    /* [DIRFD] PATH FLAGS MODE */
	OP_OPENAT2, /* DIRFD PATH HOW SIZE */
	OP_CREAT,   /* PATH MODE */
	/* FAMILY_remove */
	OP_UNLINK, /* [DIRFD] PATH [FLAGS]: unlinkat with AT_REMOVEDIR too */
	OP_RMDIR,  /* PATH */
	/* FAMILY_make */
	OP_MKDIR,   /* [DIRFD] PATH MODE */
	OP_MKNOD,   /* [DIRFD] PATH MODE DEV */
	OP_SYMLINK, /* TEXT [DIRFD] PATH: the text is the target */
	/* FAMILY_rename: [DIRFD] PATH [DIRFD2] PATH2 [FLAGS] */
	OP_RENAME,
	/* FAMILY_link: [DIRFD] PATH [DIRFD2] PATH2 [FLAGS] */
	OP_LINK,
	/* FAMILY_attr */
	OP_CHMOD,        /* PATH or FD or DIRFD PATH; MODE [FLAGS] */
	OP_CHOWN,        /* PATH or FD or DIRFD PATH; UID GID [FLAGS] */
	OP_LCHOWN,       /* PATH UID GID: never follows */
	OP_TRUNCATE,     /* PATH LENGTH */
	OP_UTIMENSAT,    /* DIRFD PATH TIMES FLAGS: two timespecs; no path: DIRFD */
	OP_UTIMES,       /* PATH TIMES: two timevals */
	OP_FUTIMESAT,    /* DIRFD PATH TIMES: two timevals; no path: DIRFD */
	OP_UTIME,        /* PATH TIMES: struct utimbuf */
	OP_FILE_SETATTR, /* DIRFD PATH HOW SIZE FLAGS */
	/* FAMILY_xattr_set and FAMILY_xattr_get: PATH or FD, then
	 * TEXT BUF SIZE FLAGS (set), TEXT BUF SIZE (get), BUF SIZE (list),
	 * TEXT (remove); the L forms never follow */
	OP_SETXATTR,
	OP_LSETXATTR,
	OP_SETXATTRAT, /* DIRFD PATH FLAGS TEXT HOW SIZE */
	OP_REMOVEXATTR,
	OP_LREMOVEXATTR,
	OP_REMOVEXATTRAT, /* DIRFD PATH FLAGS TEXT */
	OP_GETXATTR,
	OP_LGETXATTR,
	OP_GETXATTRAT, /* DIRFD PATH FLAGS TEXT HOW SIZE */
	OP_LISTXATTR,
	OP_LLISTXATTR,
	OP_LISTXATTRAT, /* DIRFD PATH FLAGS BUF SIZE */
	/* FAMILY_stat */
	OP_STAT,         /* PATH BUF */
	OP_LSTAT,        /* PATH BUF */
	OP_STATAT,       /* newfstatat: DIRFD PATH BUF FLAGS */
	OP_STATX,        /* DIRFD PATH FLAGS VALUE BUF */
	OP_FILE_GETATTR, /* DIRFD PATH HOW SIZE FLAGS */
	/* FAMILY_access: [DIRFD] PATH MODE [FLAGS] */
	OP_ACCESS,
	/* FAMILY_readlink: [DIRFD] PATH BUF SIZE */
	OP_READLINK,
	/* FAMILY_statfs: PATH BUF */
	OP_STATFS,
	/* FAMILY_chdir */
	OP_CHDIR,  /* PATH */
	OP_FCHDIR, /* FD */
	OP_CHROOT, /* PATH */
	/* FAMILY_creds */
	OP_UMASK,
	OP_SETCREDS,   /* any call that changes ids, groups or capabilities */
	OP_UNSHARE_FS, /* unshare of FS or FILES: continued, caches void */
	/* FAMILY_watch: FD PATH VALUE (mask) */
	OP_INOTIFY_ADD_WATCH,
	/* FAMILY_exec */
	OP_EXECVE,   /* PATH ARGV ENVP */
	OP_EXECVEAT, /* DIRFD PATH ARGV ENVP FLAGS */
	/* FAMILY_connect, FAMILY_bind: FD ADDR ADDRLEN; FAMILY_listen: FD */
	OP_CONNECT,
	OP_BIND,
	OP_LISTEN,
	/* FAMILY_send */
	OP_SENDTO,   /* FD BUF SIZE FLAGS ADDR ADDRLEN */
	OP_SENDMSG,  /* FD BUF (msghdr) FLAGS */
	OP_SENDMMSG, /* FD BUF (mmsghdr) VALUE (count) FLAGS */
	/* FAMILY_process: the target is PID, TGID and PID, or FD (a pidfd) */
	OP_KILL,
	OP_TKILL,
	OP_TGKILL,
	OP_RT_SIGQUEUEINFO,
	OP_RT_TGSIGQUEUEINFO,
	OP_PIDFD_SEND_SIGNAL,
	OP_PRLIMIT64,
	OP_SETPRIORITY,
	OP_SCHED_SETAFFINITY,
	OP_SCHED_SETSCHEDULER,
	OP_SCHED_SETPARAM,
	OP_SCHED_SETATTR,
	OP_IOPRIO_SET,
	OP_MIGRATE_PAGES,
	OP_MOVE_PAGES,
	OP_SETPGID,
	/* FAMILY_fcntl: FD CMD VALUE; FAMILY_ioctl: FD CMD VALUE */
	OP_FCNTL,
	OP_IOCTL,
	/* FAMILY_refuse */
	OP_REFUSE,
	OP_IPC, /* unless a rule of class ipc allows it: then continued */
};

#endif
