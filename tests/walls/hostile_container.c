/* A container's program, as root: tries to change what the host has mounted into it, and more of the host; then waits. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void end(int number) { _exit(number == SIGTERM ? 0 : 1); }

static void harm(const char *folder)
{
	const char *names[] = { "file", "new", "../file", "../../sibling/secret", "deep/file" };
	char path[512];

	for (int i = 0; i < 5; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 06777)) >= 0) {
			if (write(fd, "evil", 4) < 0)
				perror(path);
			close(fd);
		}
		chmod(path, 06777);
		chown(path, 1, 1);
		rename(path, "/bound/moved");
		unlink(path);
		symlink("/etc/passwd", path);
		mkfifo(path, 0666);
		mknod(path, S_IFCHR | 0666, makedev(1, 5));
	}
}

int main(void)
{
	signal(SIGTERM, end);
	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/tmp/host", 0755);
	mount("none", "/tmp/host", "hostfs", 0, "/");
	mount("none", "/bound", "", MS_REMOUNT, "");
	mount("none", "/bound", "", MS_REMOUNT | MS_BIND, "");
	harm("/tmp/host/var/tmp");
	harm("/bound");
	harm("/read");
	harm("/proc/1/root/bound");
	umount2("/bound", MNT_DETACH);
	harm("/bound");
	puts("\033]0;evil\007 done");
	for (;;)
		pause();
}
