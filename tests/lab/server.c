/* What the tests' containers run: one program without libraries. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void told(int number) { printf("got signal %d\n", number); exit(7); }

int main(int count, char **words)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	char text[1024], name[64] = "";
	int server, yes = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count > 2 && !strcmp(words[1], "end")) {
		puts("last words");
		return atoi(words[2]);
	}
	gethostname(name, sizeof(name));
	getcwd(text, sizeof(text));
	printf("pid %d uid %d gid %d on %s in %s, home %s\n", getpid(), getuid(), getgid(), name, text, getenv("HOME"));
	if (count > 1 && !strcmp(words[1], "wait"))
		for (;;) pause();
	if (count > 2 && !strcmp(words[1], "serve")) {
		for (int each = 1; each < 32; each++)
			if (each != SIGKILL && each != SIGSTOP && each != SIGCHLD && each != SIGCONT)
				signal(each, told);
		server = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		at.sin_port = htons(atoi(words[2]));
		if (bind(server, (void *)&at, sizeof(at)) || listen(server, 9))
			return perror("bind"), 1;
		for (;;) {
			int client = accept(server, NULL, NULL);
			const char *answer = "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";

			if (read(client, text, sizeof(text)) > 0 && write(client, answer, strlen(answer)) < 0)
				perror("write");
			close(client);
		}
	}
	return 0;
}
