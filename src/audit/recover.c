#include "audit/recover.h"

int recover_all(struct store *s, const struct keys *machine, char **why)
{
	(void)s;
	(void)machine;
	(void)why;
	return 0;
}
