/* Starts a program over and over while another thread changes what names it:
 * the path, an argument, a variable, a link, a file, a descriptor, the working
 * folder, the interpreter of a script.  Prints how often each kind was seen.
 *
 * exec_flip MODE ROUNDS: in a folder with two copies of this program, "./good"
 * and "./evil"; started as one of those it says by its status what it is. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

extern char **environ;

enum { REFUSED = 100, OTHER = 101 };

/* Memory that a vfork child and its parent's threads share anyway; mapped so
 * that it is the same for every round. */
static struct shared {
	char path[64];
	char argument[64];
	char variable[64];
} * shared;

static atomic_bool stop;
static int descriptor = -1;
static int folders[2];

/* ---- what is started -------------------------------------------------- */

static int be_started(int argc, char **argv)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int evil = 0;

	self[n > 0 ? n : 0] = '\0';
	if ((n >= 4 && strcmp(self + n - 4, "evil") == 0) || strstr(self, "/evil.d/"))
		evil |= 1;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "evil") == 0)
			evil |= 2;
	if (getenv("WHAT") && strcmp(getenv("WHAT"), "evil") == 0)
		evil |= 4;
	return evil;
}

/* ---- who changes ------------------------------------------------------ */

static void pause_a_bit(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void put(char *at, const char *word)
{
	for (int i = 0; i < 4; i++)
		((volatile char *)at)[i] = word[i];
}

static void flip_path(const char *word)
{
	put(shared->path + 2, word);
}

static void flip_argument(const char *word)
{
	put(shared->argument, word);
}

static void flip_variable(const char *word)
{
	put(shared->variable + 5, word);
}

static void flip_link(const char *word)
{
	char target[16];

	snprintf(target, sizeof target, "./%s", word);
	unlink("turning.new");
	if (symlink(target, "turning.new") == 0)
		rename("turning.new", "turning");
}

static void flip_file(const char *word)
{
	(void)word;
	syscall(SYS_renameat2, AT_FDCWD, "first", AT_FDCWD, "second", RENAME_EXCHANGE);
}

static void flip_descriptor(const char *word)
{
	int fd = open(word, O_PATH | O_CLOEXEC);

	dup3(fd, descriptor, O_CLOEXEC);
	close(fd);
}

static void flip_folder(const char *word)
{
	if (fchdir(folders[*word == 'e']) != 0)
		_exit(OTHER);
}

static void flip_script(const char *word)
{
	char line[32];
	int n = snprintf(line, sizeof line, "#!./%s\n", word);
	int fd = open("script.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	/* One that is open for writing would not be started at all. */
	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		perror("script");
	close(fd);
	rename("script.new", "script");
}

static const struct mode {
	const char *name;
	void (*flip)(const char *word);
	const char *path; /* what is executed; NULL: the shared one */
	bool inside;      /* a thread of the process that calls changes it */
} modes[] = {
	{"path", flip_path, NULL, false},
	{"argument", flip_argument, "./good", false},
	{"variable", flip_variable, "./good", false},
	{"link", flip_link, "./turning", false},
	{"file", flip_file, "./first", false},
	{"descriptor", flip_descriptor, "", true},
	{"folder", flip_folder, "./it", true},
	{"script", flip_script, "./script", false},
};

static void *change(void *arg)
{
	const struct mode *m = arg;

	while (!atomic_load(&stop)) {
		m->flip("evil");
		pause_a_bit(300);
		m->flip("good");
		pause_a_bit(300);
	}
	return NULL;
}

/* ---- who starts ------------------------------------------------------- */

static _Noreturn void start(const struct mode *m)
{
	char *argv[] = {(char *)"x", shared->argument, NULL};
	char *envp[] = {shared->variable, (char *)"STARTED=1", NULL};

	syscall(SYS_execveat, m->path && !*m->path ? descriptor : AT_FDCWD,
	        m->path ? m->path : shared->path, argv, envp,
	        m->path && !*m->path ? AT_EMPTY_PATH : 0);
	_exit(errno == EACCES ? REFUSED : OTHER);
}

/* Descriptors and the working folder are shared by the threads of a process
 * alone: the one that changes them ends with the exec. */
static _Noreturn void start_beside(const struct mode *m)
{
	pthread_t t;

	if (m->flip == flip_folder)
		flip_folder("good");
	if (pthread_create(&t, NULL, change, (void *)(uintptr_t)m) != 0)
		_exit(OTHER);
	pause_a_bit((unsigned)getpid() % 97 * 1000);
	start(m);
}

static int start_one(const struct mode *m)
{
	int status = 0;
	pid_t pid = m->inside ? fork() : vfork();

	if (pid == 0 && m->inside)
		start_beside(m);
	if (pid == 0)
		start(m);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return OTHER;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
	char bytes[65536];
	ssize_t n;

	while ((n = read(in, bytes, sizeof bytes)) > 0)
		if (write(out, bytes, (size_t)n) != n)
			perror(to);
	close(in);
	close(out);
}

static int run(const struct mode *m, unsigned rounds)
{
	unsigned seen[256] = {0};
	pthread_t t;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	memcpy(shared->path, "./good", 7);
	memcpy(shared->argument, "good", 5);
	memcpy(shared->variable, "WHAT=good", 10);
	copy("good", "first");
	copy("evil", "second");
	descriptor = open("good", O_PATH | O_CLOEXEC);
	folders[0] = open("good.d", O_PATH | O_DIRECTORY | O_CLOEXEC);
	folders[1] = open("evil.d", O_PATH | O_DIRECTORY | O_CLOEXEC);
	flip_link("good");
	flip_script("good");
	if (!m->inside)
		pthread_create(&t, NULL, change, (void *)(uintptr_t)m);
	for (unsigned i = 0; i < rounds; i++)
		seen[start_one(m) & 255]++;
	atomic_store(&stop, true);
	if (!m->inside)
		pthread_join(t, NULL);
	printf("good %u evil %u refused %u killed %u other %u\n", seen[0],
	       seen[1] + seen[2] + seen[3] + seen[4] + seen[5] + seen[6] + seen[7], seen[REFUSED],
	       seen[128 + SIGKILL], seen[OTHER]);
	return 0;
}

int main(int argc, char **argv)
{
	if (getenv("STARTED"))
		return be_started(argc, argv);
	for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return run(&modes[i], (unsigned)atoi(argv[2]));
	return 2;
}
