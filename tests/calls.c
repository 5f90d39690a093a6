/*
 * What operations of programs cost, for bench_calls.py: a line for each, its name and the microseconds of one.
 *
 * "calls cpu" counts the CPU time that the program and its children took; "calls clock" reads the clock, which in a lab
 * that charges CPU time is the same. "calls parts" counts what a system call of a lab consists of on the host: a trap by a
 * filter, a switch to another process and back, and a page that is mapped, touched and unmapped.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096L
#define LIBRARY "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBRARY_PAGES 16
#define BALLAST (8 << 20)

static int cpu_time;

static double micros(const struct timeval *t)
{
	return t->tv_sec * 1e6 + t->tv_usec;
}

/* Microseconds; of CPU time those of children count once they were waited for. */
static double now(void)
{
	struct rusage children;
	struct timespec t;
	double waited_for = 0;

	clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	if (cpu_time) {
		getrusage(RUSAGE_CHILDREN, &children);
		waited_for = micros(&children.ru_utime) + micros(&children.ru_stime);
	}
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3 + waited_for;
}

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static char *mapped(long bytes, int protection, int flags, int fd)
{
	char *memory = mmap(NULL, bytes, protection, flags, fd, 0);

	need(memory != MAP_FAILED, "mmap");
	return memory;
}

/* ---- what programs do ---- */

static void compute(int n)
{
	volatile double x = 1;

	while (n--)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void system_call(int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void clock_reading(int n)
{
	struct timespec t;

	while (n--)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

static void pipe_byte(int n)
{
	int ends[2];
	char byte = 0;

	need(!pipe(ends), "pipe");
	while (n--)
		need(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1, "pipe");
	close(ends[0]);
	close(ends[1]);
}

/* Every second page of new memory: the kernel may map the one after another one in advance. */
static void page_fault(int n)
{
	long bytes = 2 * n * PAGE;
	char *memory = mapped(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		memory[2 * i * PAGE] = 1;
	munmap(memory, bytes);
}

static void pages_in_a_row(int n)
{
	char *memory = mapped(n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(memory, n * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		memory[i * PAGE] = 1;
	munmap(memory, n * PAGE);
}

static void library(int n)
{
	int fd = open(LIBRARY, O_RDONLY | O_CLOEXEC);
	volatile char sum = 0;

	need(fd >= 0, LIBRARY);
	while (n--) {
		char *memory = mapped(1 << 20, PROT_READ, MAP_PRIVATE, fd);

		for (int i = 0; i < LIBRARY_PAGES; i++)
			sum += memory[i * ((1 << 20) / LIBRARY_PAGES)];
		munmap(memory, 1 << 20);
	}
	close(fd);
}

static int *word;

static void give(int value, int flag)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE | flag, 1, NULL, NULL, 0);
}

static void take(int value, int flag)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
		syscall(SYS_futex, word, FUTEX_WAIT | flag, !value, NULL, NULL, 0);
}

static void *other_thread(void *times)
{
	for (int i = *(int *)times; i--;) {
		take(1, FUTEX_PRIVATE_FLAG);
		give(0, FUTEX_PRIVATE_FLAG);
	}
	return NULL;
}

static void futex_wake(int n)
{
	pthread_t other;

	need(!pthread_create(&other, NULL, other_thread, &n), "pthread_create");
	for (int i = n; i--;) {
		give(1, FUTEX_PRIVATE_FLAG);
		take(0, FUTEX_PRIVATE_FLAG);
	}
	pthread_join(other, NULL);
}

static void end(pid_t child)
{
	int status;

	need(waitpid(child, &status, 0) == child && !status, "a child");
}

static void fork_exit(int n)
{
	while (n--) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		end(child);
	}
}

static void exec(int n)
{
	while (n--) {
		pid_t child = vfork();

		if (!child) {
			execl("/proc/self/exe", "calls", "nothing", (char *)NULL);
			_exit(1);
		}
		end(child);
	}
}

static void tcp_round_trip(int n)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	char byte = 0;
	pid_t child;

	need(!bind(listener, (void *)&address, size) && !listen(listener, 1), "listen");
	need(!getsockname(listener, (void *)&address, &size), "getsockname");
	child = fork();
	if (!child) {
		fd = accept(listener, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		while (read(fd, &byte, 1) == 1)
			need(write(fd, &byte, 1) == 1, "write");
		_exit(0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	need(!connect(fd, (void *)&address, size), "connect");
	while (n--)
		need(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1, "a round trip");
	close(fd);
	close(listener);
	end(child);
}

/* ---- what the lab does of them on the host ---- */

static void handover(int n)
{
	pid_t child = fork();

	if (!child) {
		while (n--) {
			take(1, 0);
			give(0, 0);
		}
		_exit(0);
	}
	while (n--) {
		give(1, 0);
		take(0, 0);
	}
	end(child);
}

/* Pages of a file in memory, as a lab's memory is, at addresses that do not follow each other. */
static char *places;
static int memory_fd;

static void map_page(int n)
{
	for (int i = 0; i < n; i++)
		mmap(places + 2 * i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_fd, i * PAGE);
}

static void touch_page(int n)
{
	for (int i = 0; i < n; i++)
		places[2 * i * PAGE] = 1;
}

static void unmap_page(int n)
{
	for (int i = 0; i < n; i++)
		munmap(places + 2 * i * PAGE, PAGE);
}

static void answer(int signal, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = signal - info->si_signo;
}

/* From now on getppid is trapped, as each system call of a lab's program. */
static void trap_calls(void)
{
	struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	sigaction(SIGSYS, &action, NULL);
	need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	need(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
}

struct operation {
	const char *name;
	void (*run)(int n);
	int times;
};

static const struct operation operations[] = {
	{ "compute", compute, 2000 },
	{ "system call", system_call, 20000 },
	{ "clock reading", clock_reading, 100000 },
	{ "byte through a pipe", pipe_byte, 5000 },
	{ "futex wake", futex_wake, 3000 },
	{ "TCP round trip on loopback", tcp_round_trip, 2000 },
	{ "page of new memory", page_fault, 4000 },
	{ "page of new memory, in a row", pages_in_a_row, 8000 },
	{ "16 places of a library mapped", library, 300 },
	{ "fork and exit, 8 MB", fork_exit, 100 },
	{ "vfork and exec", exec, 100 },
};

static const struct operation parts[] = {
	{ "switch to another process and back", handover, 20000 },
	{ "page mapped", map_page, 4000 },
	{ "page touched", touch_page, 4000 },
	{ "page unmapped", unmap_page, 4000 },
	{ "system call, native", system_call, 50000 },
	{ NULL, NULL, 0 },
	{ "system call trapped by a signal", system_call, 50000 },
};

static void measure(const struct operation *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double start;

		if (!list[i].run) {
			trap_calls();
			continue;
		}
		start = now();
		list[i].run(list[i].times);
		printf("%s\t%.3f\n", list[i].name, (now() - start) / list[i].times);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "nothing"))
		return 0;
	cpu_time = strcmp(how, "clock");
	word = (int *)mapped(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	if (!strcmp(how, "parts")) {
		memory_fd = memfd_create("memory", MFD_CLOEXEC);
		need(!ftruncate(memory_fd, 4000 * PAGE), "ftruncate");
		memset(mapped(4000 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd), 1, 4000 * PAGE);
		places = mapped(8000 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
		measure(parts, sizeof(parts) / sizeof(*parts));
		return 0;
	}
	memset(mapped(BALLAST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1), 1, BALLAST);
	measure(operations, sizeof(operations) / sizeof(*operations));
	return 0;
}
