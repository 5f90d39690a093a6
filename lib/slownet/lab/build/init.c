// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first process of a lab: mounts the image, runs one command, ends the lab.
 *
 * It talks to its host over one console line, the channel, in frames: a type,
 * the payload's length as 32 bits little-endian, the payload.
 *
 *   to the host    R ready   O, E output and error output of the command
 *                  T how many bytes of jobs and input were taken, heads included
 *                  F what of the lab is full, "disk", "memory" or "processes"
 *                  A names of modules that the kernel was asked for, a line each
 *                  M a message, the lab cannot go on
 *                  X how the command ended, as wait(2) tells it
 *                  S, C of an exact lab: see init_exact.h
 *   from the host  J a piece of the job, empty: its end. "key=value" strings,
 *                  each ended by a NUL
 *                  I input for the command, Z its end
 *                  K a signal for it   W rows and columns of its terminal
 *
 * Keys of a job: host=PATH and then ro=PATH or rw=PATH in the lab to mount it,
 * env=NAME=VALUE, cwd=PATH, clock=SECONDS since 1970, tty=1, limit=SECONDS that
 * the command may be silent (0: for ever), arg=WORD.
 *
 * No more than WINDOW_BYTES of J and I frames are on their way and not taken. So
 * a command that does not read its input keeps neither signals nor output waiting,
 * and the line is never throttled: UML does not wake up again from that.
 *
 * Written in C and linked statically, because a lab is up in half a second and
 * every process that a script would start costs 20 ms of it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/random.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CHANNEL "/dev/tty1"
#define EXACT_CHANNEL "/dev/ttyS1"
#define IMAGE "/dev/ubda"
#define LAYER "/dev/ubdb"
#define CHUNK 4096
#define GROUP "/sys/fs/cgroup/command"
#define REQUESTS "/proc/module_requests"
/* Where the kernel has no such file, which is Debian's: its modprobe writes them down. */
#define OWN_REQUESTS "/run/module_requests"
#define MODPROBE "/usr/sbin/modprobe"
#define CHANNEL_NICE "/sys/devices/virtual/workqueue/tty-UML console/nice"
#define NICE (-20)	/* of the kernel's threads that bring what the host sends, and of no others for work of that kind */
#define LOOK_S 2	/* how often to look whether a command that has all its memory starves */
#define READS_OF_A_PAGE 2	/* major faults for each page that can be evicted, from one look to the next, of one that starves */
#define WINDOW_BYTES 3072
#define HEAD_BYTES 5
#define BYTES_OF_A_PROCESS (512ull << 10)
#define LEAST_PROCESSES 256

static int channel = -1;
static int disk = -1;	/* the folder in memory that takes what is written */
static unsigned long most_processes;
static int crowded;

struct job {
	char **words;		/* ends with a NULL */
	size_t n_words;
	char *cwd;
	int tty;
	long limit;
};

struct command {
	pid_t pid;
	int in;		/* pipe or pseudo terminal, -1 when closed */
	int out[2];	/* output and error output, -1 when at their end */
	int tty;
	char input[WINDOW_BYTES];	/* from the host, not taken yet */
	size_t n_input;
	int input_ended;
};

static void put(const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(channel, p, size);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (n > 0) {
			p += n;
			size -= n;
		}
	}
}

static void send_frame(char type, const void *data, uint32_t size)
{
	char head[HEAD_BYTES] = { type, size, size >> 8, size >> 16, size >> 24 };

	put(head, sizeof(head));
	put(data, size);
}

static void acknowledge(size_t taken)
{
	char text[24];

	send_frame('T', text, snprintf(text, sizeof(text), "%zu", taken));
}

static void power_off(void)
{
	sync();
	tcdrain(channel);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void fail(const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	if (channel >= 0)
		send_frame('M', line, n);
	else
		fprintf(stderr, "slownet-init: %s\n", line);
	power_off();
}

static int take(void *data, size_t size)
{
	char *p = data;

	while (size) {
		ssize_t n = read(channel, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		p += n;
		size -= n;
	}
	return 1;
}

/* The next frame from the host; the caller frees the payload, which ends in a NUL. */
static char take_frame(char **data, uint32_t *size)
{
	unsigned char head[HEAD_BYTES];

	if (!take(head, sizeof(head)))
		power_off();
	*size = head[1] | head[2] << 8 | head[3] << 16 | (uint32_t)head[4] << 24;
	*data = malloc(*size + 1ul);
	if (!*data)
		fail("no memory for a frame of %u bytes", *size);
	if (!take(*data, *size))
		power_off();
	(*data)[*size] = 0;
	return head[0];
}

static void mount_or_fail(const char *what, const char *where, const char *type,
			  unsigned long flags, const char *data)
{
	if (mount(what, where, type, flags, data))
		fail("cannot mount %s (%s) on %s: %s", what, type, where, strerror(errno));
}

static void make_folders(const char *path)
{
	char part[4096];
	char *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = part + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(part, 0755);
		*p = '/';
	}
	mkdir(part, 0755);
}

static void write_to(int fd, const char *path, const char *text)
{
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static void write_file(const char *path, const char *text)
{
	write_to(open(path, O_WRONLY | O_CLOEXEC), path, text);
}

static void write_number(const char *path, unsigned long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", number);
	write_file(path, text);
}

static unsigned long read_number(const char *path)
{
	char text[24] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		perror(path);
	close(fd);
	return strtoul(text, NULL, 10);
}

/* The number that stands behind this word in a line of its own; 0 if there is none. */
static unsigned long long number_behind(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	unsigned long long number = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)) && sscanf(line + strlen(word), " %llu", &number) == 1)
			break;
	if (file)
		fclose(file);
	return number;
}

/* The first line of a file of a process, "" if there is none. */
static void read_of(const char *pid, const char *name, char *line, int size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/%s", pid, name);
	file = fopen(path, "re");
	if (!file || !fgets(line, size, file))
		line[0] = 0;
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = 0;
}

static void create_file(const char *path, const char *text)
{
	write_to(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), path, text);
}

#include "init_exact.h"

static void open_channel(void)
{
	const char *line = exact ? EXACT_CHANNEL : CHANNEL;
	struct termios raw;

	mkdir("/dev", 0755);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	channel = open(line, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (channel < 0)
		fail("cannot open %s: %s", line, strerror(errno));
	tcgetattr(channel, &raw);
	cfmakeraw(&raw);
	tcsetattr(channel, TCSANOW, &raw);
}

/* The image and a project's layer, read-only, under an overlay in memory, become the root. */
static void enter_image(void)
{
	const char *options = "lowerdir=/image,upperdir=/disk/upper,workdir=/disk/work";
	const char *image = exact ? exact_devices[THE_IMAGE].path : IMAGE;
	const char *layer = exact ? exact_devices[THE_LAYER].path : LAYER;

	mkdir("/image", 0755);
	mkdir("/disk", 0755);
	mkdir("/root", 0755);
	mount_or_fail(image, "/image", "squashfs", MS_RDONLY, NULL);
	if (!access(layer, F_OK)) {
		mkdir("/layer", 0755);
		mount_or_fail(layer, "/layer", "squashfs", MS_RDONLY, NULL);
		options = "lowerdir=/layer:/image,upperdir=/disk/upper,workdir=/disk/work";
	}
	mount_or_fail("disk", "/disk", "tmpfs", 0, "size=75%,mode=0755");
	disk = open("/disk", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdir("/disk/upper", 0755);
	mkdir("/disk/work", 0755);
	mount_or_fail("root", "/root", "overlay", 0, options);
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("cannot enter the image: %s", strerror(errno));

	mkdir("/proc", 0555);
	mkdir("/sys", 0555);
	mount_or_fail("proc", "/proc", "proc", 0, NULL);
	mount_or_fail("sys", "/sys", "sysfs", 0, NULL);
	/* As systemd does; only the wide kernel has these folders. */
	mount("trace", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL);
	mount_or_fail("dev", "/dev", "devtmpfs", 0, NULL);
	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 01777);
	mount_or_fail("devpts", "/dev/pts", "devpts", 0, "ptmxmode=0666,mode=0620,gid=5");
	mount_or_fail("shm", "/dev/shm", "tmpfs", 0, "mode=1777");
	mount_or_fail("run", "/run", "tmpfs", 0, "mode=0755");
	/* What is mounted below later, such as a server's disk, appears in the hosts' mount namespaces, too. */
	mount(NULL, "/run", NULL, MS_SHARED, NULL);
	mkdir("/run/lock", 01777);
	mkdir("/run/netns", 0755);
	mount("cgroup", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

/*
 * The command gets all but a sixteenth of the memory. Without that rest a full lab
 * hangs: the image's pages are read with GFP_NOIO, which waits for memory but never
 * calls the OOM killer. If the rest is used up all the same, nothing can be said any
 * more, so the kernel is to end the lab.
 */
static void limit_memory(void)
{
	struct sysinfo info;

	write_file("/proc/sys/vm/panic_on_oom", "1");
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0755);
	sysinfo(&info);
	write_number(GROUP "/memory.max", (exact ? available_memory() : (unsigned long long)info.totalram * info.mem_unit) / 16 * 15);
}

/*
 * Threads of all processes, root's too, at most: each is a process of the host besides. Those of a shell that forks for
 * ever fit into the memory then, so that the rest of the lab goes on. Who needs more may write there.
 */
static void limit_processes(void)
{
	static const char path[] = "/proc/sys/kernel/threads-max";
	const unsigned long stated = read_number(path);
	struct sysinfo info;

	sysinfo(&info);
	most_processes = (unsigned long long)info.totalram * info.mem_unit / BYTES_OF_A_PROCESS;
	if (most_processes < LEAST_PROCESSES)
		most_processes = LEAST_PROCESSES;
	if (stated <= most_processes) {
		/* The kernel's own number, or that of its command line. */
		most_processes = stated;
		return;
	}
	write_number(path, most_processes);
}

static int cpu_is_free(void)
{
	char line[4096];
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, line, sizeof(line) - 1);

	close(fd);
	line[n > 0 ? n : 0] = 0;
	return strstr(line, "tdf=inf") != NULL;
}

static const struct sched_param FIRST = { .sched_priority = 1 }, AS_OTHERS = { .sched_priority = 0 };
static int obeyed[2] = { -1, -1 };	/* a pipe: a byte for each frame of the host's, where computing is free */

/*
 * Where computing is free no time passes in which a program that only computes would have had its turn, and what the host sends
 * would never be taken. So the kernel's threads that bring it go first, and this process does as long as there is something to
 * take. At other times it waits for its turn: when it runs must not depend on how fast the host reads.
 */
static void *watch_host(void *main_thread)
{
	struct pollfd line = { .fd = channel, .events = POLLIN };
	char byte;

	sched_setscheduler(0, SCHED_FIFO, &FIRST);
	while (poll(&line, 1, -1) >= 0 || errno == EINTR) {
		sched_setscheduler(*(pid_t *)main_thread, SCHED_FIFO | SCHED_RESET_ON_FORK, &FIRST);
		if (read(obeyed[0], &byte, 1) != 1)
			break;
	}
	return NULL;
}

/* Threads of their own bring what the host sends from now on. A job is enough for them to become two: one waits for the next. */
static void set_threads_of_the_channel_apart(void)
{
	char text[8];

	snprintf(text, sizeof(text), "%d", NICE);
	write_file(CHANNEL_NICE, text);
}

static void let_threads_of_the_channel_go_first(void)
{
	DIR *all = opendir("/proc");
	char name[32];

	for (struct dirent *one; all && (one = readdir(all));) {
		const int pid = atoi(one->d_name);

		if (pid <= 1)
			continue;
		read_of(one->d_name, "comm", name, sizeof(name));
		if (!strncmp(name, "kworker/u", 9) && getpriority(PRIO_PROCESS, pid) == NICE)
			sched_setscheduler(pid, SCHED_FIFO, &FIRST);
	}
	closedir(all);
}

static void let_the_host_interrupt(void)
{
	static pid_t main_thread;
	pthread_t thread;

	let_threads_of_the_channel_go_first();
	main_thread = getpid();
	if (pipe2(obeyed, O_CLOEXEC) || pthread_create(&thread, NULL, watch_host, &main_thread))
		fail("cannot watch for the host: %s", strerror(errno));
}

/* A frame of the host's was taken. */
static void was_obeyed(void)
{
	if (obeyed[1] < 0)
		return;
	sched_setscheduler(0, SCHED_OTHER, &AS_OTHERS);
	if (write(obeyed[1], "", 1) < 0)
		perror("obeyed");
}

/*
 * 15 to 45 s after its start, as chance has it, and then every 15 s the kernel looks for
 * old neighbours (neigh_periodic_work()): a thread that has its turn among the programs,
 * now before this one and now before that. Where runs are to repeat let the first time
 * pass, and the next be after 12 days. Nobody waits for that: the clock is virtual.
 */
static void outlast_chance(void)
{
	static const char *const names[] = {
		"/proc/sys/net/ipv4/neigh/default/base_reachable_time_ms",
		"/proc/sys/net/ipv6/neigh/default/base_reachable_time_ms",
	};
	const struct timespec passed = { .tv_sec = 60 };

	for (int i = 0; i < 2; i++)
		write_file(names[i], "2147483647");
	nanosleep(&passed, NULL);
	for (int i = 0; i < 2; i++)
		write_file(names[i], "30000");
}

/*
 * The lab's own name is known, and no name server is asked: the one of the machine that
 * built the image may be inside the hosts' own network, and who asks it would wait.
 */
static void name_lab(void)
{
	static const char hosts[] = "127.0.0.1\tlocalhost\n127.0.1.1\tlab\n"
				    "::1\tlocalhost ip6-localhost ip6-loopback\n"
				    "ff02::1\tip6-allnodes\nff02::2\tip6-allrouters\n";

	sethostname("lab", 3);
	unlink("/etc/hosts");
	unlink("/etc/resolv.conf");
	create_file("/etc/hosts", hosts);
	create_file("/etc/resolv.conf", "# no name server\n");
}

#define WORDS_OF_MODPROBE \
	"status=0 quiet=\n" \
	"for word; do\n" \
	"    case $word in\n" \
	"    -r | --remove) exit 0 ;;\n" \
	"    -q | --quiet) quiet=1 ;;\n" \
	"    -* | *=*) ;;\n" \
	"    *)\n"
#define IS_LISTED \
	"tr ' ' '\\n' </lib/modules/$(uname -r)/modules 2>/dev/null |\n" \
	"            grep -qxF -e \"$word\" -e \"$(printf %s \"$word\" | tr - _)\""
#define END_OF_MODPROBE \
	"        [ $status = 0 ] || [ $quiet ] ||\n" \
	"            echo \"modprobe: FATAL: Module $word not found in the lab's kernel $(uname -r).\" >&2\n" \
	"        ;;\n" \
	"    esac\n" \
	"done\n" \
	"exit $status\n"

/*
 * The image's modprobe looks for files of modules, and there are none. This one asks the kernel, where some drivers wait until
 * they are asked for, then the list of what is built in. What is not there is among what the kernel was asked for.
 */
static void offer_modprobe(void)
{
	static const char script[] =
		"#!/bin/sh\n"
		"# A lab's kernel has no modules: what it has is built in.\n"
		WORDS_OF_MODPROBE
		"        printf %s \"$word\" 2>/dev/null >" REQUESTS " ||\n"
		"            " IS_LISTED " || status=1\n"
		END_OF_MODPROBE;

	if (access(REQUESTS, F_OK) || unlink(MODPROBE))
		return;
	create_file(MODPROBE, script);
	chmod(MODPROBE, 0755);
}

/* On the exact clock the kernel itself runs this one, with -q and --, for what is not loaded. */
static void offer_modprobe_of_exact_labs(void)
{
	static const char script[] =
		"#!/bin/sh\n"
		"# A lab has loaded the modules that it has.\n"
		"for_a_program=modprobe-\n"
		"[ \"$1 $2\" = '-q --' ] && for_a_program=\n"
		WORDS_OF_MODPROBE
		"        { [ $for_a_program ] && " IS_LISTED "; } || {\n"
		"            grep -qxF -e \"$for_a_program$word\" " OWN_REQUESTS " 2>/dev/null ||\n"
		"                echo \"$for_a_program$word\" >>" OWN_REQUESTS "\n"
		"            status=1\n"
		"        }\n"
		END_OF_MODPROBE;

	if (unlink(MODPROBE))
		return;
	create_file(MODPROBE, script);
	chmod(MODPROBE, 0755);
	write_module_names();
}

static void settle(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	name_lab();
	if (exact)
		offer_modprobe_of_exact_labs();
	else
		offer_modprobe();
	limit_memory();
	limit_processes();
	if (cpu_is_free()) {
		set_threads_of_the_channel_apart();
		outlast_chance();
	}
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
}

static void mount_host(const char *host, const char *where, unsigned long flags)
{
	if (exact) {
		mount_packed(host, where, !(flags & MS_RDONLY));
		return;
	}
	make_folders(where);
	if (mount("none", where, "hostfs", flags, host))
		fail("cannot mount the host's %s on %s: %s", host, where, strerror(errno));
}

/* From now on not even root can mount more of the host, or write to what is there to read. */
static void keep_to_shares(void)
{
	int fd;

	if (exact) {
		hide_packed();
		return;
	}
	fd = open("/proc/sys/fs/hostfs_mount_disabled", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		fail("cannot keep the lab to its shares: %s", strerror(errno));
	close(fd);
}

static void add_word(struct job *job, char *word)
{
	job->words = realloc(job->words, (job->n_words + 2) * sizeof(*job->words));
	if (!job->words)
		fail("no memory for the command's words");
	job->words[job->n_words++] = word;
	job->words[job->n_words] = NULL;
}

/*
 * Until the host sends something. In a lab that sleeps a virtual clock would run on for
 * as long as the host takes, so look, before anybody else runs. A poll that found nothing
 * takes time, so let it find that a folder can be read.
 */
static void look_out(void)
{
	const struct sched_param none = { .sched_priority = 0 };
	struct pollfd fds[2] = {
		{ .fd = channel, .events = POLLIN },
		{ .fd = disk, .events = POLLIN },
	};

	/* The kernel's thread that brings the bytes goes first. */
	sched_setscheduler(0, SCHED_IDLE, &none);
	while (poll(fds, 2, 0) > 0 && !fds[0].revents)
		;
	sched_setscheduler(0, SCHED_OTHER, &none);
}

/* The pieces of the job as one; the caller keeps it, words and environment point into it. */
static char *take_pieces(size_t *whole)
{
	char *job = NULL, *piece;
	uint32_t size;
	char type;

	*whole = 0;
	do {
		look_out();
		type = take_frame(&piece, &size);
		if (type != 'J')
			fail("expected a job, not a frame of type %c", type);
		job = realloc(job, *whole + size + 1);
		if (!job)
			fail("no memory for a job of %zu bytes", *whole + size);
		memcpy(job + *whole, piece, size + 1);
		*whole += size;
		free(piece);
		acknowledge(HEAD_BYTES + size);
	} while (size);
	return job;
}

static void take_job(struct job *job)
{
	const char *host = "";
	size_t size;
	char *data;

	send_frame('R', NULL, 0);
	data = exact ? read_exact_job(&size) : take_pieces(&size);

	for (char *p = data, *next; p < data + size; p = next) {
		char *value = strchr(p, '=');
		size_t key = value ? (size_t)(value++ - p) : 0;

		next = p + strlen(p) + 1;
		if (key == 3 && !strncmp(p, "arg", 3)) {
			add_word(job, value);
		} else if (key == 3 && !strncmp(p, "env", 3)) {
			putenv(value);
		} else if (key == 3 && !strncmp(p, "cwd", 3)) {
			job->cwd = value;
		} else if (key == 3 && !strncmp(p, "tty", 3)) {
			job->tty = 1;
		} else if (key == 5 && !strncmp(p, "limit", 5)) {
			job->limit = strtol(value, NULL, 10);
		} else if (key == 4 && !strncmp(p, "host", 4)) {
			host = value;
		} else if (key == 2 && !strncmp(p, "ro", 2)) {
			mount_host(host, value, MS_RDONLY);
		} else if (key == 2 && !strncmp(p, "rw", 2)) {
			mount_host(host, value, 0);
		} else if (key == 5 && !strncmp(p, "clock", 5)) {
			struct timeval now = { .tv_sec = strtoll(value, NULL, 10) };

			settimeofday(&now, NULL);
		} else {
			fail("unclear line in the job: %s", p);
		}
	}
	if (!job->n_words)
		fail("no command in the job");
	if (exact && !exact_head.later)
		draw_chance();
}

static void run_words(struct job *job)
{
	int status = 126;
	sigset_t none;

	write_file(GROUP "/cgroup.procs", "0");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (job->cwd && chdir(job->cwd)) {
		dprintf(2, "slownet: cannot enter %s: %s\n", job->cwd, strerror(errno));
	} else {
		execvp(job->words[0], job->words);
		status = errno == ENOENT ? 127 : 126;
		dprintf(2, "slownet: %s: %s\n", job->words[0], strerror(errno));
	}
	_exit(status);
}

static pid_t fork_or_fail(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot start a process for the command: %s", strerror(errno));
	return pid;
}

static void start_on_terminal(struct job *job, struct command *command)
{
	char name[64];
	int number = 0;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || ioctl(master, TIOCSPTLCK, &number) || ioctl(master, TIOCGPTN, &number))
		fail("no pseudo terminal: %s", strerror(errno));
	snprintf(name, sizeof(name), "/dev/pts/%d", number);
	command->pid = fork_or_fail();
	if (!command->pid) {
		int fd;

		setsid();
		fd = open(name, O_RDWR);
		ioctl(fd, TIOCSCTTY, 0);
		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		if (fd > 2)
			close(fd);
		run_words(job);
	}
	fcntl(master, F_SETFL, O_NONBLOCK);
	command->in = command->out[0] = master;
	command->tty = 1;
}

static void start_on_pipes(struct job *job, struct command *command)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("no pipes: %s", strerror(errno));
	command->pid = fork_or_fail();
	if (!command->pid) {
		setsid();
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		run_words(job);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	command->in = in[1];
	command->out[0] = out[0];
	command->out[1] = err[0];
}

/* Passes on what the command wrote; returns whether there was anything. */
static int pump_output(struct command *command, int i)
{
	char data[CHUNK];
	ssize_t n = read(command->out[i], data, sizeof(data));

	if (n > 0) {
		send_frame(i ? 'E' : 'O', data, n);
		return 1;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (command->out[i] == command->in)
		command->in = -1;
	close(command->out[i]);
	command->out[i] = -1;
	return 0;
}

/* Passes on what the command takes of its input; returns how many bytes that were. */
static size_t pump_input(struct command *command)
{
	ssize_t n = 0;

	if (command->in < 0)
		return 0;
	if (command->n_input)
		n = write(command->in, command->input, command->n_input);
	if (n > 0) {
		command->n_input -= n;
		memmove(command->input, command->input + n, command->n_input);
	}
	if (!command->tty && ((n < 0 && errno != EAGAIN && errno != EINTR) ||
			      (command->input_ended && !command->n_input))) {
		close(command->in);
		command->in = -1;
	}
	return n > 0 ? n : 0;
}

/* Keeps the buffer full of what there is, until the command takes no more. */
static void pump_exact_input(struct command *command)
{
	size_t n;

	do {
		n = WINDOW_BYTES - command->n_input;
		if (n > exact_input_size)
			n = exact_input_size;
		memcpy(command->input + command->n_input, exact_input, n);
		command->n_input += n;
		exact_input += n;
		exact_input_size -= n;
		command->input_ended = !exact_input_size;
	} while (pump_input(command) && exact_input_size);
}

static void obey(struct command *command)
{
	uint32_t size;
	char *data;
	char type = take_frame(&data, &size);

	if (type == 'I') {
		if (size > WINDOW_BYTES - command->n_input)
			fail("%u bytes of input where there is room for %zu", size, WINDOW_BYTES - command->n_input);
		memcpy(command->input + command->n_input, data, size);
		command->n_input += size;
		acknowledge(HEAD_BYTES + pump_input(command));
	} else if (type == 'Z') {
		command->input_ended = 1;
		pump_input(command);
	} else if (type == 'K' && command->pid > 0) {
		/* It is no group yet while it has not come as far as setsid(). */
		if (kill(-command->pid, atoi(data)) && errno == ESRCH)
			kill(command->pid, atoi(data));
	} else if (type == 'W' && command->tty && command->in >= 0) {
		struct winsize size_now = { 0 };

		if (sscanf(data, "%hu %hu", &size_now.ws_row, &size_now.ws_col) == 2)
			ioctl(command->in, TIOCSWINSZ, &size_now);
	}
	free(data);
}

/*
 * Notes whether there is hardly room for another process. What could start none ends, in a busy lab long before the command does,
 * so this looks before each such process is reaped: until then it counts.
 */
static void look_for_a_crowd(void)
{
	struct sysinfo info;

	crowded |= !sysinfo(&info) && info.procs >= most_processes / 10 * 9;
}

static int reap(pid_t of_interest, int *status)
{
	int ended = 0, s;
	pid_t pid;

	look_for_a_crowd();
	while ((pid = waitpid(-1, &s, WNOHANG)) > 0) {
		if (pid == of_interest) {
			*status = s;
			ended = 1;
		}
	}
	return ended;
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Kills what the kernel's OOM killer would kill. */
static void kill_largest(void)
{
	DIR *all = opendir("/proc");
	unsigned long most = 0;
	pid_t largest = 0;
	char path[64];

	for (struct dirent *one; all && (one = readdir(all));) {
		const pid_t pid = atoi(one->d_name);
		unsigned long score;

		if (pid <= 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/oom_score", pid);
		score = read_number(path);
		if (score > most) {
			most = score;
			largest = pid;
		}
	}
	if (all)
		closedir(all);
	if (largest)
		kill(largest, SIGKILL);
}

/*
 * Kills a process if hardly anything of the command's memory is left but programs, and these are evicted and read again all the
 * time. The kernel's OOM killer does not see that: as long as there are pages of programs to evict it goes on, for hours. A major
 * fault reads up to 32 pages, so each page was read again many times since the last look. Returns whether it was so.
 */
static int kill_if_starved(void)
{
	static unsigned long long faults_before;
	static time_t looked = -LOOK_S * 3;
	const unsigned long long limit = read_number(GROUP "/memory.max");	/* 0 if there is none */
	const unsigned long long faults = number_behind(GROUP "/memory.stat", "pgmajfault");
	const unsigned long long evictable =
		number_behind(GROUP "/memory.stat", "file") - number_behind(GROUP "/memory.stat", "shmem");
	const int starves = seconds() - looked <= LOOK_S * 2 && evictable < limit / 16 &&
			    faults - faults_before > READS_OF_A_PAGE * (evictable / 4096 + 16);

	looked = seconds();
	faults_before = faults;
	if (starves)
		kill_largest();
	return starves;
}

/* A file that is ready when the command's memory is next full: poll() waits for what happens after a read. */
static int open_events(void)
{
	char text[256];
	int fd = open(GROUP "/memory.events", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text)) <= 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Tells the host of what there was too little. */
static void report_full(int starved)
{
	struct statvfs now;

	if (starved || number_behind(GROUP "/memory.events", "oom_kill"))
		send_frame('F', "memory", 6);
	else if (disk >= 0 && !fstatvfs(disk, &now) && now.f_bavail * now.f_bsize < 65536)
		send_frame('F', "disk", 4);
	else if (crowded)
		send_frame('F', "processes", 9);
}

/* Tells the host what the kernel would have loaded if it had modules. Names that do not fit are left out. */
static void report_requests(void)
{
	char names[CHUNK + 1];
	size_t size = 0;
	ssize_t n = 1;
	const int fd = open(exact ? OWN_REQUESTS : REQUESTS, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && size < CHUNK && (n = read(fd, names + size, CHUNK - size)) > 0)
		size += n;
	close(fd);
	while (size && names[size - 1] != '\n')
		size--;
	if (size)
		send_frame('A', names, size - 1);
}

static const struct { long number; const char *name; } CALLS[] = {
	{ SYS_read, "read" }, { SYS_write, "write" }, { SYS_readv, "readv" }, { SYS_writev, "writev" },
	{ SYS_poll, "poll" }, { SYS_ppoll, "ppoll" }, { SYS_select, "select" }, { SYS_pselect6, "pselect" },
	{ SYS_epoll_wait, "epoll_wait" }, { SYS_epoll_pwait, "epoll_pwait" }, { SYS_pause, "pause" },
	{ SYS_futex, "futex" }, { SYS_wait4, "wait4" }, { SYS_waitid, "waitid" },
	{ SYS_nanosleep, "nanosleep" }, { SYS_clock_nanosleep, "clock_nanosleep" },
	{ SYS_rt_sigtimedwait, "sigtimedwait" }, { SYS_rt_sigsuspend, "sigsuspend" },
	{ SYS_connect, "connect" }, { SYS_accept, "accept" }, { SYS_accept4, "accept" },
	{ SYS_recvfrom, "recv" }, { SYS_recvmsg, "recvmsg" }, { SYS_sendto, "send" }, { SYS_sendmsg, "sendmsg" },
	{ SYS_flock, "flock" }, { SYS_fcntl, "fcntl" }, { SYS_io_getevents, "io_getevents" },
	{ SYS_semop, "semop" }, { SYS_semtimedop, "semtimedop" }, { SYS_msgrcv, "msgrcv" },
};

/* "sleep in clock_nanosleep"; 0 for the kernel's own threads and for what has ended. */
static int describe(const char *pid, char *text, int size)
{
	char command[2], name[17], call[12];
	const char *known = NULL;

	read_of(pid, "cmdline", command, sizeof(command));
	read_of(pid, "comm", name, sizeof(name));
	read_of(pid, "syscall", call, sizeof(call));
	if (!command[0] || !call[0])
		return 0;
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		if (CALLS[i].number == atol(call))
			known = CALLS[i].name;
	call[strcspn(call, " ")] = 0;
	if (call[0] < '0' || call[0] > '9')
		snprintf(text, size, "%s %s", name, call);	/* running */
	else if (known)
		snprintf(text, size, "%s in %s", name, known);
	else
		snprintf(text, size, "%s in system call %s", name, call);
	return 1;
}

/* Ends the lab of a command that was silent for so long: it says what its processes wait for, alike ones together. */
static void give_up(long limit)
{
	enum { KINDS = 10 };
	char kinds[KINDS][64], text[64], line[448] = "";
	int counts[KINDS] = { 0 }, n = 0, more = 0;
	DIR *all = opendir("/proc");

	for (struct dirent *one; all && (one = readdir(all));) {
		int i = 0;

		if (one->d_name[0] < '0' || one->d_name[0] > '9' || atoi(one->d_name) == getpid() ||
		    !describe(one->d_name, text, sizeof(text)))
			continue;
		while (i < n && strcmp(kinds[i], text))
			i++;
		if (i == KINDS) {
			more++;
			continue;
		}
		if (i == n)
			strcpy(kinds[n++], text);
		counts[i]++;
	}
	for (int i = 0; i < n; i++) {
		size_t at = strlen(line);

		if (counts[i] > 1)
			snprintf(text, sizeof(text), "%d ", counts[i]);
		else
			text[0] = 0;
		snprintf(line + at, sizeof(line) - at, "%s%s%s", i ? ", " : "", text, kinds[i]);
	}
	if (more)
		snprintf(text, sizeof(text), " and %d more", more);
	else
		text[0] = 0;
	fail("the command said nothing for %ld %s of the lab's clock; what waits: %s%s", limit % 86400 ? limit : limit / 86400,
	     limit % 86400 ? "s" : "days", n ? line : "nothing", text);
}

/*
 * Until the command ends. What it started and left behind ends with it.
 *
 * On a virtual clock one that waits for ever would busy the host for ever. It is
 * given up after `limit` seconds without a word, unless there is somebody who may
 * still tell it something.
 */
static int attend(struct command *command, int signals, long limit)
{
	int status = 0, ended = 0, starved = 0;
	int full = open_events();
	time_t heard = seconds(), next_look = 0;

	if (exact) {
		command->input_ended = !exact_input_size;
		pump_exact_input(command);
	}
	while (!ended) {
		const time_t now = seconds();
		const int limited = limit && !command->tty && command->input_ended;
		const int looks_later = now < next_look;
		struct timespec left = { .tv_sec = heard + limit - now };
		struct pollfd fds[] = {
			{ .fd = exact ? -1 : channel, .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
			{ .fd = command->out[0], .events = POLLIN },
			{ .fd = command->out[1], .events = POLLIN },
			{ .fd = command->n_input ? command->in : -1, .events = POLLOUT },
			{ .fd = looks_later ? -1 : full, .events = POLLPRI },
		};

		if (limited && left.tv_sec <= 0)
			give_up(limit);
		if (looks_later && (!limited || next_look - now < left.tv_sec))
			left.tv_sec = next_look - now;
		if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), limited || looks_later ? &left : NULL, NULL) <= 0)
			continue;
		if (fds[5].revents) {
			starved |= kill_if_starved();
			close(full);
			full = open_events();
			next_look = seconds() + LOOK_S;
		}
		if (fds[0].revents || fds[2].revents || fds[3].revents || fds[4].revents)
			heard = seconds();
		for (int i = 0; i < 2; i++)
			if (fds[2 + i].revents)
				pump_output(command, i);
		if (fds[4].revents && exact)
			pump_exact_input(command);
		else if (fds[4].revents)
			acknowledge(pump_input(command));
		if (fds[0].revents) {
			obey(command);
			was_obeyed();
		}
		if (fds[1].revents) {
			struct signalfd_siginfo info;

			if (read(signals, &info, sizeof(info)) < 0)
				continue;
			if (info.ssi_signo == SIGUSR1)
				go_on_later();
			ended = reap(command->pid, &status);
		}
	}
	report_full(starved);
	close(full);
	kill(-1, SIGKILL);
	for (int i = 0; i < 2; i++) {
		if (command->out[i] < 0)
			continue;
		fcntl(command->out[i], F_SETFL, O_NONBLOCK);
		while (command->out[i] >= 0 && pump_output(command, i))
			;
	}
	return status;
}

int main(void)
{
	struct job job = { .n_words = 0 };
	static struct command command = { .in = -1, .out = { -1, -1 } };
	char text[16];
	sigset_t chld;
	int signals;

	if (getenv("slownet_exact"))
		exact = 1;
	unsetenv("slownet_exact");
	open_channel();
	if (exact) {
		seed_random(0);
		load_modules();
		find_devices();
	}
	enter_image();
	settle();
	if (exact)
		stop_here();
	take_job(&job);
	keep_to_shares();

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	if (exact)
		sigaddset(&chld, SIGUSR1);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	signals = signalfd(-1, &chld, SFD_CLOEXEC);
	if (cpu_is_free())
		let_the_host_interrupt();

	if (job.tty)
		start_on_terminal(&job, &command);
	else
		start_on_pipes(&job, &command);
	snprintf(text, sizeof(text), "%d", attend(&command, signals, job.limit));
	sync();
	if (exact)
		send_all_changes();
	report_requests();
	send_frame('X', text, strlen(text));
	power_off();
	return 0;
}
