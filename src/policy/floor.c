/* What is refused whatever a policy says, and the set `delegates`. */
#include "base/text.h"
#include "policy/compile.h"
#include "policy/words.h"

#include <string.h>

/* Sockets whose server acts with more authority than who asks it: through
 * them a child could do outside what the policy refuses it (law 15).
 * ${NAME} as in a policy; a name that begins with @ is abstract. */
static const char *const delegates[] = {
	/* buses and service managers */
	"${RUNTIME}/bus",
	"${RUNTIME}/dbus-1/**",
	"/run/dbus/**",
	"/run/user/*/bus",
	"@/tmp/dbus-*",
	"${RUNTIME}/systemd/**",
	"/run/systemd/**",
	"/run/user/*/systemd/**",
	"${RUNTIME}/at-spi/**",
	"@/org/freedesktop/systemd1/**",
	"@*/bus/systemd/*",
	"@ISCSIADM_ABSTRACT_NAMESPACE",
	"/run/initctl",
	"/run/runit/**",
	"/run/s6/**",
	"/run/openrc/**",
	"/run/polkit/**",
	/* containers and machines */
	"/run/docker.sock",
	"/run/docker/**",
	"${RUNTIME}/docker.sock",
	"${RUNTIME}/docker/**",
	"${HOME}/.docker/**",
	"/run/containerd/**",
	"${RUNTIME}/containerd/**",
	"/run/crio/**",
	"/run/podman/**",
	"${RUNTIME}/podman/**",
	"/run/buildkit/**",
	"${RUNTIME}/buildkit/**",
	"/run/libvirt/**",
	"${RUNTIME}/libvirt/**",
	"/run/snapd.socket",
	"/run/snapd-snap.socket",
	"/var/lib/lxd/unix.socket",
	"/var/snap/lxd/**",
	"/var/lib/incus/unix.socket",
	"${HOME}/.colima/**",
	"${HOME}/.rd/**",
	"${HOME}/.lima/**",
	"/nix/var/nix/daemon-socket/**",
	"/run/k3s/**",
	"/run/flatpak/**",
	"${RUNTIME}/.flatpak/**",
	"${RUNTIME}/doc/**",
	/* terminals that take commands */
	"/tmp/tmux-*/**",
	"${TMPDIR}/tmux-*/**",
	"/run/screen/**",
	"${HOME}/.screen/**",
	"/run/uscreens/**",
	"${RUNTIME}/zellij/**",
	"/tmp/zellij-*/**",
	"${RUNTIME}/kitty*",
	"@mykitty*",
	"@kitty*",
	"${RUNTIME}/wezterm/**",
	"${RUNTIME}/emacs/**",
	"/tmp/emacs*/**",
	"${RUNTIME}/nvim.*",
	"${RUNTIME}/vscode-*",
	"/tmp/vscode-*",
	"${RUNTIME}/dtach/**",
	/* displays and sound, which see and type */
	"/tmp/.X11-unix/**",
	"@/tmp/.X11-unix/**",
	"/tmp/.ICE-unix/**",
	"@/tmp/.ICE-unix/**",
	"${RUNTIME}/wayland-*",
	"${RUNTIME}/gnome-shell/**",
	"${RUNTIME}/sway-ipc.*",
	"${RUNTIME}/i3/**",
	"${RUNTIME}/hypr/**",
	"/tmp/.XIM-unix/**",
	"${RUNTIME}/pipewire-*",
	"${RUNTIME}/pulse/**",
	"/run/acpid.socket",
	"/run/pcscd/**",
	"${RUNTIME}/ydotool*",
	/* agents that hold keys */
	"/tmp/ssh-*/agent.*",
	"${TMPDIR}/ssh-*/agent.*",
	"${RUNTIME}/ssh-agent*",
	"${RUNTIME}/openssh_agent",
	"${RUNTIME}/gcr/**",
	"${RUNTIME}/keyring/**",
	"${RUNTIME}/gnupg/**",
	"${HOME}/.gnupg/S.*",
	"${HOME}/.ssh/agent/**",
	"${HOME}/.1password/**",
	"${HOME}/.bitwarden-ssh-agent.sock",
	"${RUNTIME}/kpxc_server",
	"${RUNTIME}/app/org.keepassxc.KeePassXC/**",
	"${RUNTIME}/kwallet5.socket",
	"${HOME}/.ssh/master-*",
	"${HOME}/.ssh/cm-*",
	"${HOME}/.ssh/control*/**",
	/* names, users, printers, packages */
	"/run/nscd/**",
	"/run/nslcd/**",
	"/var/lib/sss/**",
	"/run/avahi-daemon/**",
	"/run/cups/**",
	"/run/rpcbind.sock",
	"/run/udev/control",
	"/run/lvm/**",
	"/run/multipathd.socket",
	"@/org/kernel/linux/storage/multipathd",
	"/run/watchman/**",
	"/run/postgresql/.s.root*",
};

/* Environment variables that name such a socket. */
static const char *const delegate_variables[] = {
	"SSH_AUTH_SOCK",
	"DBUS_SESSION_BUS_ADDRESS",
	"DOCKER_HOST",
	"CONTAINER_HOST",
	"TMUX",
	"GNOME_KEYRING_CONTROL",
	"WAYLAND_SOCKET",
	"SWAYSOCK",
	"I3SOCK",
	"KITTY_LISTEN_ON",
	"NVIM",
	"NVIM_LISTEN_ADDRESS",
	"PULSE_SERVER",
	"EMACS_SOCKET_NAME",
	"VSCODE_IPC_HOOK_CLI",
	"VSCODE_GIT_IPC_HANDLE",
	"S6_FDHOLDER",
	"GPG_AGENT_INFO",
};

static void add_delegate_path(struct compiler *c, const char *pattern)
{
	struct policy *p = c->policy;
	uint32_t node = path_index_add(&p->delegate_paths, pattern);

	if (p->delegate_paths.nodes.v[node].objects)
		return;
	p->delegate_paths.nodes.v[node].objects = 1;
	*vec_push(&p->arena, &p->delegate_list) = compile_kept(c, pattern);
}

/* A path as it is written and as it resolves. */
static void add_delegate_resolved(struct compiler *c, const char *pattern)
{
	size_t len = path_literal_len(pattern);
	struct links links = {0};
	const char *plain = glob_plain(c->scratch, (struct slice){pattern, len});
	const char *canon = resolve_path(&c->resolver, plain, true, &links);

	add_delegate_path(c, pattern);
	if (len && links.n)
		add_delegate_path(c, arena_fmt(c->scratch, "%s%s", glob_quote(c->scratch, canon),
		                               pattern + len));
}

static void add_delegate_name(struct compiler *c, const char *glob)
{
	struct policy *p = c->policy;

	*name_index_at(&p->delegates, glob) = 1;
	*vec_push(&p->arena, &p->delegate_list) = arena_fmt(&p->arena, "@%s", glob);
}

/* "${NAME}rest" with the world's value; NULL where there is none. */
static const char *delegate_pattern(struct compiler *c, const char *text)
{
	const char *end = text_starts(text, "${") ? strchr(text, '}') : NULL;
	const char *value;
	char *name;

	if (!end)
		return text;
	name = arena_bytes(c->scratch, text + 2, (size_t)(end - text) - 2);
	value = c->world->variable ? c->world->variable(c->world->ctx, name) : NULL;
	if (!value || value[0] != '/' || !value[1])
		return NULL;
	return arena_fmt(c->scratch, "%s%s", glob_quote(c->scratch, value), end + 1);
}

/* The socket within a variable's value: a path, unix:path=…, unix://…; what
 * follows a comma or semicolon is not part of it. */
static void add_delegate_value(struct compiler *c, const char *value)
{
	const char *at = strstr(value, "path=");
	const char *abstract = strstr(value, "abstract=");
	char *name;

	if (abstract) {
		abstract += strlen("abstract=");
		name = arena_bytes(c->scratch, abstract, strcspn(abstract, ",;"));
		add_delegate_name(c, glob_quote(c->scratch, name));
	}
	at = at ? at + strlen("path=") : strchr(value, '/');
	while (at && at[0] == '/' && at[1] == '/')
		at++;
	if (!at || at[0] != '/')
		return;
	name = arena_bytes(c->scratch, at, strcspn(at, ",;"));
	if (name[1])
		add_delegate_resolved(c, glob_quote(c->scratch, name));
}

static void delegates_begin(struct compiler *c)
{
	for (size_t i = 0; i < sizeof delegates / sizeof delegates[0]; i++) {
		const char *pattern = delegate_pattern(c, delegates[i]);

		if (pattern && pattern[0] == '@')
			add_delegate_name(c, pattern + 1);
		else if (pattern)
			add_delegate_path(c, pattern);
	}
	if (!c->world->environment)
		return;
	for (size_t i = 0; i < sizeof delegate_variables / sizeof delegate_variables[0]; i++) {
		const char *value = c->world->environment(c->world->ctx, delegate_variables[i]);

		if (value && *value)
			add_delegate_value(c, value);
	}
}

static void floor_rule(struct compiler *c, unsigned classes, const char *text)
{
	struct rule rule = {
		.layer = LAYER_FLOOR,
		.answer = ANSWER_DENY,
		.is_final = true,
		.classes = classes,
		.objects = (uint32_t)c->policy->objects.n,
		.file = "floor",
		.text = text,
	};

	*vec_push(&c->policy->arena, &c->policy->rules) = rule;
}

static void floor_path(struct compiler *c, const char *path, const char *tail, const char *text)
{
	struct object o = {.form = OBJECT_PATH, .wild = true, .text = text};

	o.pattern = arena_fmt(&c->policy->arena, "%s%s", glob_quote(c->scratch, path), tail);
	compile_object(c, o);
}

/* Moving a folder away that holds the path would move the path. */
static void floor_way(struct compiler *c, const char *path)
{
	floor_rule(c, CLASS_BIT(CLASS_DELETE), "the way to wary's own files");
	for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/'))
		floor_path(c, arena_bytes(c->scratch, path, (size_t)(s - path)), "",
		           "the way to wary's own files");
}

void compile_floor(struct compiler *c)
{
	static const unsigned all = (CLASSES_PATH & ~CLASS_BIT(CLASS_STAT)) | CLASSES_ADDRESS;
	const char *const *own = c->world->floor_paths;
	const char *const *kept = c->world->floor_read_only;

	c->policy->present[LAYER_FLOOR] = true;
	c->policy->has_final = true;
	delegates_begin(c);
	floor_rule(c, CLASS_BIT(CLASS_CONNECT), "metadata");
	compile_object(c, (struct object){.form = OBJECT_SET,
	                                  .set = SET_METADATA,
	                                  .text = "metadata",
	                                  .pattern = "metadata"});
	for (; own && *own; own++) {
		floor_rule(c, all, "wary's own files");
		floor_path(c, *own, "/**", "wary's own files");
		floor_way(c, *own);
	}
	for (; kept && *kept; kept++) {
		floor_rule(c, CLASSES_EDIT, "wary's own policies");
		floor_path(c, *kept, "/**", "wary's own policies");
		floor_way(c, *kept);
	}
}

void compile_floor_source(struct compiler *c, const char *path)
{
	if (path[0] != '/' || !path[1])
		return;
	floor_rule(c, CLASSES_EDIT, "the policy in force");
	floor_path(c, path, "", "the policy in force");
	floor_way(c, path);
}
