// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * confine [RIGHT=PATH]... -- PROGRAM [ARGUMENT]...
 *
 * Runs a lab's kernel so that it, and whatever takes it over, reaches nothing of the host but what it is given, however
 * the program itself is made. RIGHT is
 *
 *   run     to execute and read this file
 *   read    to read this file or folder
 *   write   to change it as well: its files, folders, symbolic links, FIFOs, sockets, but no devices
 *   device  to read and write this device, and to control it
 *
 * Descriptors that are open stay as they are. The program cannot gain privileges, and ends with who started it.
 *
 *   Landlock       as far as the host's kernel has it: every other path, TCP, and processes outside: no ptrace, no
 *                  signals, no abstract sockets
 *   seccomp        no sockets but pairs of connected ones, hence no network; no System V or POSIX IPC, no keys, and no
 *                  io_uring, which would do the same unseen; no set-user-ID or set-group-ID files
 *   capabilities   of root's those for files and counters remain, but not the one to keep such bits of what it changes
 *
 * Written in C and linked statically for the sake of time: it takes a millisecond. Landlock's numbers are here because
 * they are newer than the headers of Debian 12.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_ADD_RULE 445
#define LANDLOCK_RESTRICT_SELF 446
#define OPENAT2 437
#define FCHMODAT2 452
#define ASK_VERSION 1
#define RULE_PATH_BENEATH 1

/* Rights to a file, linux/landlock.h. */
#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define REMOVE_DIR (1ull << 4)
#define REMOVE_FILE (1ull << 5)
#define MAKE_DIR (1ull << 7)
#define MAKE_REG (1ull << 8)
#define MAKE_SOCK (1ull << 9)
#define MAKE_FIFO (1ull << 10)
#define MAKE_SYM (1ull << 12)
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEV (1ull << 15)
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)

#define READ (READ_FILE | READ_DIR)
#define WRITE (READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | \
	       MAKE_SYM | REFER)

#define BIND_AND_CONNECT_TCP 3ull
#define ABSTRACT_SOCKETS_AND_SIGNALS 3ull

/* What each version of Landlock can deny. */
static const uint64_t RIGHTS[] = { 0, REFER - 1, REFER * 2 - 1, TRUNCATE * 2 - 1, TRUNCATE * 2 - 1, IOCTL_DEV * 2 - 1 };
#define TCP_SINCE 4
#define SCOPES_SINCE 6

struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scopes;
};

struct rule {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

static const struct { const char *name; uint64_t rights; } WORDS[] = {
	{ "run=", EXECUTE | READ_FILE },
	{ "read=", READ },
	{ "write=", WRITE },
	{ "device=", READ_FILE | WRITE_FILE | IOCTL_DEV },
};

static void fail(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fputs("confine: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(125);
}

static int landlock_version(void)
{
	long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, ASK_VERSION);

	return version > 0 ? version : 0;
}

static void allow(int ruleset, const char *word, uint64_t handled)
{
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		size_t length = strlen(WORDS[i].name);
		struct rule rule = { .rights = WORDS[i].rights & handled };
		struct stat about;

		if (strncmp(word, WORDS[i].name, length))
			continue;
		rule.fd = open(word + length, O_PATH | O_CLOEXEC);
		if (rule.fd < 0)
			return;	/* what cannot be reached stays denied, and who wants it can say so better */
		if (fstat(rule.fd, &about))
			fail("%s", word + length);
		if (!S_ISDIR(about.st_mode))
			rule.rights &= OF_FILES;
		if (syscall(LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0))
			fail("%s", word + length);
		close(rule.fd);
		return;
	}
	errno = EINVAL;
	fail("%s", word);
}

static void confine_by_landlock(char **words, int n)
{
	int version = landlock_version();
	struct ruleset all = {
		.files = RIGHTS[version < 5 ? version : 5],
		.net = version >= TCP_SINCE ? BIND_AND_CONNECT_TCP : 0,
		.scopes = version >= SCOPES_SINCE ? ABSTRACT_SOCKETS_AND_SIGNALS : 0,
	};
	size_t size = all.scopes ? sizeof(all) : all.net ? offsetof(struct ruleset, scopes) : offsetof(struct ruleset, net);
	int ruleset;

	if (!version)
		return;
	ruleset = syscall(LANDLOCK_CREATE_RULESET, &all, size, 0);
	if (ruleset < 0)
		fail("no Landlock rules");
	for (int i = 0; i < n; i++)
		allow(ruleset, words[i], all.files);
	if (syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0))
		fail("no Landlock");
	close(ruleset);
}

/* Of root's. A kernel before 5.8 has no CAP_PERFMON, but no Landlock either: there is little to keep then. */
static void drop_capabilities(void)
{
	const uint64_t kept = 1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_FOWNER |
			      1ull << CAP_PERFMON;
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	for (int i = 0; prctl(PR_CAPBSET_READ, i) >= 0; i++)
		if (!(kept >> i & 1))
			prctl(PR_CAPBSET_DROP, i);	/* fails for who has none to drop */
	if (syscall(SYS_capget, &head, data))
		fail("no capabilities");
	for (int i = 0; i < 2; i++) {
		data[i].effective &= kept >> 32 * i;
		data[i].permitted &= kept >> 32 * i;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &head, data))
		fail("capabilities cannot be dropped");
}

static const int DENIED[] = {
	SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_io_uring_setup, OPENAT2,
	SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl,
	SYS_semtimedop, SYS_mq_open, SYS_mq_unlink, SYS_add_key, SYS_request_key, SYS_keyctl,
};

/* Which argument is the mode of a file that is made or changed. Programs that open one to read it give none: 0. */
static const struct { int number, argument; } MODES[] = {
	{ SYS_chmod, 1 }, { SYS_fchmod, 1 }, { SYS_fchmodat, 2 }, { FCHMODAT2, 2 },
	{ SYS_open, 2 }, { SYS_openat, 3 }, { SYS_creat, 1 }, { SYS_mknod, 1 }, { SYS_mknodat, 2 },
};

#define N_DENIED (sizeof(DENIED) / sizeof(DENIED[0]))
#define N_MODES (sizeof(MODES) / sizeof(MODES[0]))
#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define X32 0x40000000

static void confine_by_seccomp(void)
{
	struct sock_filter filter[N_DENIED + 5 * N_MODES + 16] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		DENY,
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
		DENY,
	};
	struct sock_filter end[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		/* Other than a stream, a datagram socket may be sent elsewhere. */
		LOAD(args[1]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		DENY,
	};
	struct sock_fprog program = { .filter = filter };
	size_t n = 6;

	for (size_t i = 0; i < N_MODES; i++) {
		const struct sock_filter check[] = {
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MODES[i].number, 0, 4),
			LOAD(args[MODES[i].argument]),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1),
			DENY,
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};

		memcpy(filter + n, check, sizeof(check));
		n += sizeof(check) / sizeof(check[0]);
	}
	for (size_t i = 0; i < N_DENIED; i++)	/* to the last instruction, the refusal */
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DENIED[i], N_DENIED - i + 5, 0);
	memcpy(filter + n, end, sizeof(end));
	program.len = n + sizeof(end) / sizeof(end[0]);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("no seccomp");
}

int main(int argc, char **argv)
{
	int n = 1;

	while (n < argc && strcmp(argv[n], "--"))
		n++;
	if (n + 1 >= argc) {
		fputs("confine [run=PATH|read=PATH|write=PATH|device=PATH]... -- PROGRAM [ARGUMENT]...\n", stderr);
		return 125;
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fail("cannot give up privileges");
	personality(ADDR_NO_RANDOMIZE);	/* or User-Mode Linux does this, and starts itself again */
	confine_by_landlock(argv + 1, n - 1);
	drop_capabilities();
	confine_by_seccomp();
	execv(argv[n + 1], argv + n + 1);
	fail("%s", argv[n + 1]);
}
