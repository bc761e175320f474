#include "answer/lost.h"

#include <linux/fs.h>
#include <sys/stat.h>

void lost_look(struct reply *y, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < 0)
		return;
	/* Of others st_size is no content: a folder's, a device's. */
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return;
	y->lost = (struct audit_lost){
		.known = true,
		.size_before = (uint64_t)st.st_size,
		.links_left = st.st_nlink,
	};
}

void lost_replaced(struct request *r)
{
	const struct place *from = &r->target.place[0];
	const struct place *to = &r->target.place[1];

	if (r->flags & (RENAME_EXCHANGE | RENAME_NOREPLACE))
		return;
	if (from->fd >= 0 && to->fd >= 0 && from->st.st_dev == to->st.st_dev &&
	    from->st.st_ino == to->st.st_ino)
		return;
	lost_look(&r->reply, to->fd);
}
