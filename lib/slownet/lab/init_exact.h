// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of init.c for an exact lab: an emulated machine whose clock counts instructions.
 *
 * Nothing comes from outside while it runs, because when it came would depend on the host. Memory of the machine holds all
 * that a User-Mode Linux lab reads from the host, each in a device of its own:
 *
 *   the image
 *   the length of the job and of the command's input, 64 bits little-endian each, then both
 *   a squashfs with a folder for each share, named by its number in the job
 *   the project's layer, if it has one
 *
 * They lie in memory in this order; the kernel's numbers for them may have another.
 *
 * What comes out goes over a serial line that the host keeps in a file, so nobody waits for a reader. A writable share is
 * an overlay in memory; what changed there is sent when the command has ended:
 *
 *   S   of a share: a letter, the share's number, the mode in octal, a path, and for l a target, each followed by a NUL.
 *       d a folder   f a file   l a symbolic link   r what was there is gone
 *   C   content of the last file
 */
#define MOST_SHARES 64

enum { THE_IMAGE, THE_JOB, THE_SHARES, THE_LAYER, MOST_DEVICES };

static int exact;	/* not 0: this is such a lab, and draws the random numbers of that seed */
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
static void seed_random(void)
{
	struct {
		struct rand_pool_info head;
		uint32_t words[16];
	} seed = { .head = { .entropy_count = 512, .buf_size = 64 } };
	uint32_t x = exact * 2654435761u;
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < 16; i++)
		seed.words[i] = x = x * 1664525 + 1013904223;
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed))
		fail("no random numbers: %s", strerror(errno));
	close(fd);
}

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

/* The job; behind it the input of the command. The caller keeps it. */
static char *read_exact_job(size_t *size)
{
	int fd = open(exact_devices[THE_JOB].path, O_RDONLY | O_CLOEXEC);
	uint64_t sizes[2];
	char *job;

	if (fd < 0 || read(fd, sizes, sizeof(sizes)) != sizeof(sizes))
		fail("cannot read the job: %s", strerror(errno));
	job = malloc(sizes[0] + sizes[1] + 1);
	if (!job)
		fail("no memory for a job of %lu bytes", (unsigned long)(sizes[0] + sizes[1]));
	for (size_t got = 0; got < sizes[0] + sizes[1];) {
		ssize_t n = read(fd, job + got, sizes[0] + sizes[1] - got);

		if (n <= 0)
			fail("cannot read the job: %s", strerror(errno));
		got += n;
	}
	close(fd);
	job[sizes[0] + sizes[1]] = 0;
	*size = sizes[0];
	exact_input = job + sizes[0];
	exact_input_size = sizes[1];
	return job;
}

static void mount_packed(const char *number, const char *where, int writable)
{
	struct exact_share *share = &exact_shares[n_exact_shares];
	char from[64], options[512], upper[64], work[64];
	struct stat about;

	if (n_exact_shares == MOST_SHARES)
		fail("more than %d shares", MOST_SHARES);
	mkdir("/run/packed", 0700);
	if (!n_exact_shares)
		mount_or_fail(exact_devices[THE_SHARES].path, "/run/packed", "squashfs", MS_RDONLY, NULL);
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
