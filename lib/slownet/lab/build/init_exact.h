// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of init.c for an exact lab: an emulated machine whose clock counts instructions.
 *
 * Nothing comes from outside while it runs, because when it came would depend on the host. Memory of the machine holds all
 * that a User-Mode Linux lab reads from the host, each in a device of its own:
 *
 *   the image
 *   struct exact_head, then the job, then the command's input, then what it is told later
 *   a squashfs with a folder for each share, named by its number in the job
 *   the project's layer, if it has one
 *
 * They lie in memory in this order; the kernel's numbers for them may have another.
 *
 * The machine stops itself at two instructions, where the host may save it, and go on with as many copies as it likes: when
 * the image is entered, before it reads its job, and when the command asks for it with SIGUSR1 to this process, which then
 * reads what the command is told later into LATER. So what differs between two runs is read behind a stop: the job, or that,
 * the seed of random numbers, and by how much the date is later; not even the size of memory that is allocated before a stop
 * depends on what is read behind it. Where nobody saves it, it goes on.
 *
 * What comes out goes over a serial line that the host keeps in a file, so nobody waits for a reader. A writable share is
 * an overlay in memory; what changed there is sent when the command has ended:
 *
 *   S   of a share: a letter, the share's number, the mode in octal, a path, and for l a target, each followed by a NUL.
 *       d a folder   f a file   l a symbolic link   r what was there is gone
 *   C   content of the last file
 */
#define MOST_SHARES 64
#define LATER "/run/slownet-later"
#define STOP_PORT 0x505	/* of QEMU's pvpanic */

enum { THE_IMAGE, THE_JOB, THE_SHARES, THE_LAYER, MOST_DEVICES };

static int exact;	/* this is such a lab */
static struct exact_head {	/* little-endian */
	uint64_t seed;		/* of random numbers */
	uint64_t seconds;	/* by which the date is later than the job's */
	uint64_t job;		/* its bytes */
	uint64_t input;		/* bytes of the command's input */
	uint64_t later;		/* bytes of what the command is told later, 0 if it does not ask */
} exact_head;
static struct exact_device {
	char path[16];
	unsigned long long address;
} exact_devices[MOST_DEVICES];
static char *exact_input;
static size_t exact_input_size;

static struct exact_share {
	const char *number;
	int upper;	/* folder with what changed; -1 for a share that is read-only */
} exact_shares[MOST_SHARES];
static size_t n_exact_shares;

/*
 * Random numbers follow from the seed alone. Without it the kernel would measure its clock for
 * a second to gather chance, and find none.
 */
static void seed_random(uint64_t number)
{
	struct {
		struct rand_pool_info head;
		uint32_t words[16];
	} seed = { .head = { .entropy_count = 512, .buf_size = 64 } };
	uint32_t x = number * 2654435761u;
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < 16; i++)
		seed.words[i] = x = x * 1664525 + 1013904223;
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed) || ioctl(fd, RNDRESEEDCRNG))
		fail("no random numbers: %s", strerror(errno));
	close(fd);
}

static int module_names = -1;

/* The kernel's modules, in the order in which /modules/list has them. */
static void load_modules(void)
{
	FILE *list = fopen("/modules/list", "re");
	char path[256];

	while (list && fgets(path, sizeof(path), list)) {
		int fd;

		path[strcspn(path, "\n")] = 0;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fail("cannot load %s: %s", path, strerror(errno));
		close(fd);
	}
	if (list)
		fclose(list);
	unlink("/modules/list");
	module_names = open("/modules/names", O_RDONLY | O_CLOEXEC);
}

/* The table of what is loaded and what is built in, where modprobe looks for it. */
static void write_module_names(void)
{
	struct utsname kernel;
	char path[128];
	int fd;

	uname(&kernel);
	mkdir("/lib/modules", 0755);
	snprintf(path, sizeof(path), "/lib/modules/%s", kernel.release);
	mkdir(path, 0755);
	strcat(path, "/modules");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	while (fd >= 0 && sendfile(fd, module_names, NULL, 1 << 20) > 0)
		;
	close(fd);
	close(module_names);
}

static int by_address(const void *a, const void *b)
{
	const struct exact_device *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void find_devices(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	char path[64];
	size_t n = 0;

	mkdir("/sys", 0755);
	mount_or_fail("sys", "/sys", "sysfs", 0, NULL);
	for (; n < MOST_DEVICES; n++) {
		struct exact_device *device = &exact_devices[n];
		FILE *file;

		snprintf(path, sizeof(path), "/sys/bus/nd/devices/region%zu/resource", n);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%llx", &device->address) != 1)
			break;
		fclose(file);
		snprintf(device->path, sizeof(device->path), "/dev/pmem%zu", n);
		for (int i = 0; access(device->path, F_OK); i++) {
			if (i == 5000)
				fail("no %s after five seconds", device->path);
			nanosleep(&moment, NULL);
		}
	}
	if (n <= THE_SHARES)
		fail("%zu memory devices instead of %d", n, THE_SHARES + 1);
	qsort(exact_devices, n, sizeof(exact_devices[0]), by_address);
	umount("/sys");
}

/*
 * Stops the machine at this instruction, for the host to save it. Registers tell the host when that was: R9 has the time stamp
 * counter, six instructions before the one that stops, and R8 what R9 is found by. See machine_state.py.
 */
static void stop_here(void)
{
	if (ioperm(STOP_PORT, 1, 1))
		fail("cannot stop the machine: %s", strerror(errno));
	__asm__ volatile(
		"movabs	$0x736c6f776e657421, %%r8\n\t"
		"rdtsc\n\t"
		"shl	$32, %%rdx\n\t"
		"or	%%rdx, %%rax\n\t"
		"mov	%%rax, %%r9\n\t"
		"mov	$1, %%eax\n\t"
		"mov	%0, %%edx\n\t"
		"outb	%%al, %%dx"
		: : "i"(STOP_PORT) : "rax", "rdx", "r8", "r9", "cc", "memory");
	ioperm(STOP_PORT, 1, 0);
}

/*
 * Bytes that a command may have. Debian's kernel needs more than User-Mode Linux does, such as 1.6 % of the image's size
 * to address it. If commands got that, the lab would read programs again and again instead of running out of memory.
 */
static unsigned long long available_memory(void)
{
	const unsigned long long kilobytes = number_behind("/proc/meminfo", "MemAvailable:");

	if (!kilobytes)
		fail("the kernel does not say how much memory there is");
	return kilobytes << 10;
}

/* What is another one in each boot: random numbers and the date. */
static void draw_chance(void)
{
	struct timeval now;

	seed_random(exact_head.seed);
	gettimeofday(&now, NULL);
	now.tv_sec += exact_head.seconds;
	if (exact_head.seconds)
		settimeofday(&now, NULL);
}

/* So many bytes of the job's device from there on, and a NUL. The caller keeps them. */
static char *read_told(size_t size, size_t from)
{
	char *told = malloc(size + 1);
	int fd = open(exact_devices[THE_JOB].path, O_RDONLY | O_CLOEXEC);

	if (!told)
		fail("no memory for a job of %zu bytes", size);
	if (fd < 0)
		fail("cannot read the job: %s", strerror(errno));
	for (size_t got = 0; got < size;) {
		ssize_t n = pread(fd, told + got, size - got, from + got);

		if (n <= 0)
			fail("cannot read the job: %s", n ? strerror(errno) : "it ends");
		got += n;
	}
	close(fd);
	told[size] = 0;
	return told;
}

static void read_head(void)
{
	char *head = read_told(sizeof(exact_head), 0);

	memcpy(&exact_head, head, sizeof(exact_head));
	free(head);
}

/* The job; behind it the input of the command. The caller keeps it. */
static char *read_exact_job(size_t *size)
{
	char *job;

	read_head();
	job = read_told(exact_head.job + exact_head.input, sizeof(exact_head));
	*size = exact_head.job;
	exact_input = job + exact_head.job;
	exact_input_size = exact_head.input;
	return job;
}

/* The command has done what every boot does in the same way: another one may go on from here with another job. */
static void go_on_later(void)
{
	char *later;

	stop_here();
	read_head();
	draw_chance();
	later = read_told(exact_head.later, sizeof(exact_head) + exact_head.job + exact_head.input);
	create_file(LATER ".new", later);
	rename(LATER ".new", LATER);
	free(later);
}

static void mount_packed(const char *number, const char *where, int writable)
{
	struct exact_share *share = &exact_shares[n_exact_shares];
	char from[64], options[512], upper[64], work[64];
	struct stat about;

	if (n_exact_shares == MOST_SHARES)
		fail("more than %d shares", MOST_SHARES);
	mkdir("/run/packed", 0700);
	if (!n_exact_shares) {
		mount_or_fail(exact_devices[THE_SHARES].path, "/run/packed", "squashfs", MS_RDONLY, NULL);
		/* As a peer of its bind mounts it would take what is mounted on them along when it is hidden. */
		mount(NULL, "/run/packed", NULL, MS_PRIVATE, NULL);
	}
	n_exact_shares++;
	share->number = number;
	share->upper = -1;
	snprintf(from, sizeof(from), "/run/packed/%s", number);
	make_folders(where);
	if (!writable) {
		if (mount(from, where, NULL, MS_BIND, NULL))
			fail("cannot mount share %s on %s: %s", number, where, strerror(errno));
		return;
	}
	snprintf(upper, sizeof(upper), "%s.upper", number);
	snprintf(work, sizeof(work), "%s.work", number);
	if (stat(from, &about) || mkdirat(disk, upper, 0755) || mkdirat(disk, work, 0755))
		fail("no place for share %s: %s", number, strerror(errno));
	fchmodat(disk, upper, about.st_mode & 07777, 0);
	share->upper = openat(disk, upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "lowerdir=%s,upperdir=/proc/self/fd/%d/%s,workdir=/proc/self/fd/%d/%s,redirect_dir=off,metacopy=off,index=off",
		 from, disk, upper, disk, work);
	mount_or_fail("share", where, "overlay", 0, options);
}

static void hide_packed(void)
{
	if (n_exact_shares)
		umount2("/run/packed", MNT_DETACH);
	rmdir("/run/packed");
}

static void tell_of_share(char what, const char *number, unsigned int mode, const char *path, const char *target)
{
	char text[2 * PATH_MAX + 64];
	int n = snprintf(text, sizeof(text), "%c%c%s%c%o%c%s%c", what, 0, number, 0, mode & 07777, 0, path, 0);

	if (target)
		n += snprintf(text + n, sizeof(text) - n, "%s%c", target, 0);
	if (n < (int)sizeof(text))
		send_frame('S', text, n);
}

static void send_content(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char data[CHUNK];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, data, sizeof(data))) > 0)
		send_frame('C', data, n);
	close(fd);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Sends what changed in a folder of a writable share. */
static void send_changes(int folder, const char *number, const char *below)
{
	char path[PATH_MAX], target[PATH_MAX], here[64];
	struct dirent **names;
	int n = scandirat(folder, ".", &names, NULL, by_name);

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		struct stat about;
		ssize_t size;
		int inner;

		if (!strcmp(name, ".") || !strcmp(name, "..") || fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) ||
		    snprintf(path, sizeof(path), "%s%s%s", below, *below ? "/" : "", name) >= (int)sizeof(path))
			continue;
		if (S_ISCHR(about.st_mode) && !about.st_rdev) {
			tell_of_share('r', number, 0, path, NULL);
		} else if (S_ISREG(about.st_mode)) {
			tell_of_share('f', number, about.st_mode, path, NULL);
			send_content(folder, name);
		} else if (S_ISLNK(about.st_mode)) {
			size = readlinkat(folder, name, target, sizeof(target) - 1);
			if (size < 0)
				continue;
			target[size] = 0;
			tell_of_share('l', number, about.st_mode, path, target);
		} else if (S_ISDIR(about.st_mode)) {
			inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (inner < 0)
				continue;
			snprintf(here, sizeof(here), "/proc/self/fd/%d", inner);
			if (getxattr(here, "trusted.overlay.opaque", target, 1) == 1 && target[0] == 'y')
				tell_of_share('r', number, 0, path, NULL);
			tell_of_share('d', number, about.st_mode, path, NULL);
			send_changes(inner, number, path);
			close(inner);
		}
	}
	while (n > 0)
		free(names[--n]);
	if (n >= 0)
		free(names);
}

static void send_all_changes(void)
{
	for (size_t i = 0; i < n_exact_shares; i++)
		if (exact_shares[i].upper >= 0)
			send_changes(exact_shares[i].upper, exact_shares[i].number, "");
}
