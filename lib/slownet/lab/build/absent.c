// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Notes the programs that processes of a lab could not start, because they are not there: a library that the dynamic linker
 * loads into each of them (/etc/ld.so.preload, see ld.so(8)), while a Mininet program runs.
 *
 * Who starts programs itself (nohup, timeout, xargs, Python...) calls a function of the C library, which fails with ENOENT.
 * A shell looks before it starts anything, and sudo and strace do; these only say so, so it is their message that is noted:
 *
 *   dash     write(2, "wg: not found")
 *   bash     vfprintf(stderr, "%s: command not found", "wg")
 *   sudo     vasprintf(&text, "%s: command not found", "wg")
 *   strace   vfprintf(stderr, "Cannot find executable '%s'", "wg")
 *
 * Each is a line of FILE, which must exist: "E PATH" for a path that execve() did not find, "N NAME" for a name that was looked
 * for, "W NAME" for what which(1) was asked for. Nothing here changes what a program sees: results and errno are the C library's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_OF_NOTES "/run/slownet-absent"
#define MOST_BYTES (1 << 20)
#define LONGEST 1024

extern char **environ;

/* The C library's own function; these have no side effect, so that a child of vfork() may call them. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void note(char kind, const char *name)
{
	const int before = errno;
	char line[LONGEST + 4];
	struct stat about;
	size_t size = 2;
	int fd;

	if (!name || !*name || strlen(name) > LONGEST || strchr(name, '\n'))
		return;
	fd = syscall(SYS_open, FILE_OF_NOTES, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		line[0] = kind;
		line[1] = ' ';
		if (kind == 'E' && name[0] != '/' && getcwd(line + size, LONGEST / 2)) {
			size += strlen(line + size);
			line[size++] = '/';
		}
		if (size + strlen(name) + 1 < sizeof(line) && !fstat(fd, &about) && about.st_size < MOST_BYTES) {
			memcpy(line + size, name, strlen(name));
			size += strlen(name);
			line[size++] = '\n';
			syscall(SYS_write, fd, line, size);
		}
		syscall(SYS_close, fd);
	}
	errno = before;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* which(1) asks whether programs are there; it is a script, and answers by its status alone. */
static void note_questions(const char *path, char *const argv[])
{
	if (!path || !argv || strcmp(base_of(path), "which") || access(path, X_OK))
		return;
	for (int i = 1; argv[0] && argv[i]; i++)
		if (argv[i][0] != '-')
			note('W', argv[i]);
}

static int failed(int result, const char *name, int searched)
{
	if (result && (result > 0 ? result : errno) == ENOENT)
		note(searched && !strchr(name, '/') ? 'N' : 'E', name);
	return result;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	note_questions(path, argv);
	return failed(REAL(execve)(path, argv, envp), path, 0);
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (!strcmp(file, "which"))
		note_questions("/usr/bin/which", argv);
	return failed(REAL(execvpe)(file, argv, envp), file, 1);
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The words of a call with a variable number of them; `envp` if it ends with an environment. */
#define WORDS(first, envp)                                                             \
	va_list words;                                                                 \
	size_t n = 1;                                                                  \
	char **argv;                                                                   \
	char *const *own = environ;                                                    \
	va_start(words, first);                                                        \
	while (va_arg(words, char *))                                                  \
		n++;                                                                   \
	va_end(words);                                                                 \
	argv = alloca((n + 1) * sizeof(*argv));                                        \
	argv[0] = (char *)first;                                                       \
	va_start(words, first);                                                        \
	for (size_t i = 1; i <= n; i++)                                                \
		argv[i] = va_arg(words, char *);                                       \
	if (envp)                                                                      \
		own = va_arg(words, char *const *);                                    \
	va_end(words)

int execl(const char *path, const char *first, ...)
{
	WORDS(first, 0);
	return execve(path, argv, own);
}

int execlp(const char *file, const char *first, ...)
{
	WORDS(first, 0);
	return execvpe(file, argv, own);
}

int execle(const char *path, const char *first, ...)
{
	WORDS(first, 1);
	return execve(path, argv, own);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		char *const argv[], char *const envp[])
{
	note_questions(path, argv);
	return failed(REAL(posix_spawn)(pid, path, actions, attributes, argv, envp), path, 0);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const envp[])
{
	if (!strcmp(file, "which"))
		note_questions("/usr/bin/which", argv);
	return failed(REAL(posix_spawnp)(pid, file, actions, attributes, argv, envp), file, 1);
}

static int is_program(const char *name)
{
	char path[256];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = 0;
	return !strcmp(base_of(path), name);
}

ssize_t write(int fd, const void *data, size_t size)
{
	static const char end[] = ": not found";
	const size_t rest = size - (sizeof(end) - 1);

	if (fd == 2 && size > sizeof(end) - 1 && size < LONGEST && !memcmp((const char *)data + rest, end, sizeof(end) - 1) &&
	    !memchr(data, ' ', rest) && is_program("dash")) {
		char name[LONGEST];

		memcpy(name, data, rest);
		name[rest] = 0;
		note('N', name);
	}
	return REAL(write)(fd, data, size);
}

/* Whether the builtin command that bash runs now starts a program, unlike `type` and `hash`, which only look for one. */
static int bash_executes(void)
{
	char **name = dlsym(RTLD_DEFAULT, "this_command_name");

	return name && *name && !strcmp(*name, "exec");
}

static void look_at(const char *format, va_list arguments)
{
	static const char *const known[] = { "%s: command not found", "Cannot find executable '%s'", "Can't find executable '%s'" };
	int found = !strcmp(format, "%s: not found") && bash_executes();
	va_list copy;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		found |= !strncmp(format, known[i], strlen(known[i]));
	if (!found)
		return;
	va_copy(copy, arguments);
	note('N', va_arg(copy, const char *));
	va_end(copy);
}

/* The names under which programs call these if they were compiled with _FORTIFY_SOURCE, as Debian's are. */
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments);

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
	if (stream == stderr)
		look_at(format, arguments);
	return REAL(__vfprintf_chk)(stream, flag, format, arguments);
}

int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments)
{
	look_at(format, arguments);
	return REAL(__vasprintf_chk)(text, flag, format, arguments);
}
