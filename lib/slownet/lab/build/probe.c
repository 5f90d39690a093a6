// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How quick is this machine, seen by a program? Three costs that dominate the servers of the experiments, each the
 * median of a few rounds, as one line of JSON in nanoseconds: a round trip of 128 bytes over loopback TCP, a fork
 * with an exec, and a unit of work like PHP's (hashing, small strings, fresh memory).
 *
 * "probe cpu" counts the CPU time that it and its children took, so that other work on the machine does not; without
 * it, the clock counts. "probe page" prints nothing and works as the servers of a page do: a hundred round trips for
 * each 8 ms of computing in a lab, some 1,200 switches between processes of the host.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define PINGS 400
#define SPAWNS 12
#define BUCKETS 4096
#define WORDS 60000
#define FRESH (2 << 20)
#define PAGES 15
#define COMPUTED 8

static int cpu_time;

static double seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec / 1e6;
}

/* Nanoseconds; of CPU time those of children count once they were waited for. */
static double now(void)
{
	struct timespec t;
	struct rusage children;
	double waited_for = 0;

	clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
	if (cpu_time) {
		getrusage(RUSAGE_CHILDREN, &children);
		waited_for = seconds(&children.ru_utime) + seconds(&children.ru_stime);
	}
	return t.tv_sec * 1e9 + t.tv_nsec + waited_for * 1e9;
}

static void transfer(int fd, int times, int first)
{
	char data[128] = { 0 };

	for (int i = 0; i < times; i++) {
		if (first && write(fd, data, sizeof(data)) < 0)
			exit(1);
		for (size_t got = 0; got < sizeof(data);) {
			ssize_t n = read(fd, data, sizeof(data) - got);

			if (n <= 0)
				exit(1);
			got += n;
		}
		if (!first && write(fd, data, sizeof(data)) < 0)
			exit(1);
	}
}

static double round_trip(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	double start, end;
	pid_t child;

	if (bind(listener, (void *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &size))
		exit(1);
	child = fork();
	if (!child) {
		fd = accept(listener, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		transfer(fd, PINGS, 0);
		_exit(0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (void *)&address, size))
		exit(1);
	start = now();
	transfer(fd, PINGS, 1);
	close(fd);
	waitpid(child, NULL, 0);
	end = now();
	close(listener);
	return (end - start) / PINGS;
}

static double spawn(const char *self)
{
	double start = now();

	for (int i = 0; i < SPAWNS; i++) {
		pid_t child = fork();

		if (!child) {
			execl(self, self, "nothing", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
	return (now() - start) / SPAWNS;
}

struct entry {
	struct entry *next;
	uint64_t hash;
	char *word;
};

static double compute(void)
{
	static struct entry *table[BUCKETS];
	double start = now();
	uint64_t sum = 0;
	char *fresh = mmap(NULL, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < FRESH; i += 4096)
		fresh[i] = 1;
	for (int i = 0; i < WORDS; i++) {
		char word[32];
		uint64_t hash = 1469598103934665603ull;
		struct entry *e;

		snprintf(word, sizeof(word), "post-%d-%d", i % 977, i % 13);
		for (char *p = word; *p; p++)
			hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
		for (e = table[hash % BUCKETS]; e; e = e->next)
			if (e->hash == hash && !strcmp(e->word, word))
				break;
		if (!e) {
			e = malloc(sizeof(*e));
			e->next = table[hash % BUCKETS];
			e->hash = hash;
			e->word = strdup(word);
			table[hash % BUCKETS] = e;
		}
		sum += e->hash;
	}
	munmap(fresh, FRESH);
	return now() - start + (sum == 1);
}

static int ascending(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

int main(int argc, char **argv)
{
	double trips[ROUNDS], spawns[ROUNDS], work[ROUNDS];

	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "page")) {
		for (int i = 0; i < PAGES; i++) {
			round_trip();
			for (int j = 0; j < COMPUTED; j++)
				compute();
		}
		return 0;
	}
	cpu_time = argc > 1 && !strcmp(argv[1], "cpu");
	for (int i = 0; i < ROUNDS; i++) {
		trips[i] = round_trip();
		spawns[i] = spawn(argv[0]);
		work[i] = compute();
	}
	qsort(trips, ROUNDS, sizeof(double), ascending);
	qsort(spawns, ROUNDS, sizeof(double), ascending);
	qsort(work, ROUNDS, sizeof(double), ascending);
	printf("{\"tcp_round_trip_ns\": %.0f, \"fork_exec_ns\": %.0f, \"php_like_ns\": %.0f}\n",
	       trips[ROUNDS / 2], spawns[ROUNDS / 2], work[ROUNDS / 2]);
	return 0;
}
