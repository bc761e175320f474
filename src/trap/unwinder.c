#include "trap/unwinder.h"

#include <dlfcn.h>
#include <stddef.h>

#define TEXT(name) #name
#define ROW(name) {TEXT(name), offsetof(struct unwinder, name)},

static const struct {
	const char *name;
	size_t at;
} calls[] = {UNWINDER_CALLS(ROW)};

int unwinder_load(struct unwinder *out, const char **why)
{
	/* The second refers to the first, and does not say so. */
	void *generic = dlopen(WARY_UNWIND_GENERIC, RTLD_NOW | RTLD_GLOBAL);
	void *with_ptrace = generic ? dlopen(WARY_UNWIND_PTRACE, RTLD_NOW) : NULL;

	for (size_t i = 0; with_ptrace && i < sizeof calls / sizeof calls[0]; i++) {
		void *call = dlsym(with_ptrace, calls[i].name);

		if (!call)
			call = dlsym(generic, calls[i].name);
		if (!call)
			with_ptrace = NULL;
		*(void **)((char *)out + calls[i].at) = call;
	}
	if (with_ptrace)
		return 0;
	*why = dlerror();
	return -ERR_UNSUPPORTED;
}
