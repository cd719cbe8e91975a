// SPDX-License-Identifier: GPL-2.0
/* net6-run: start a dynamically linked program whose IPv6 sockets are net6's. It only
 * puts libnet6-run.so in front of the C library; the work is done there.
 */
#include <arpa/inet.h>
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/net6.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIBRARY		"libnet6-run.so"
#define MAX_MAP		4096	/* bytes of NET6_RUN_MAP */
#define MAX_SCRIPTS	4	/* interpreters of interpreters, as the kernel */

#define EXIT_CANNOT	126	/* found, but it cannot be run this way */
#define EXIT_NOT_FOUND	127

static void usage(FILE *out)
{
	fputs("usage: net6-run [-m V4ADDR=V6ADDR]... PROGRAM [ARG...]\n"
	      "       net6-run --help | --version\n"
	      "Runs PROGRAM with net6 behind its IPv6 sockets.\n"
	      "  -m V4ADDR=V6ADDR  for programs without IPv6: IPv4 sockets too are net6's, and\n"
	      "                    where the program says V4ADDR, V6ADDR is meant. An interface\n"
	      "                    may follow: fe80::1%eth0. 0.0.0.0 is ::, 127.0.0.1 is ::1.\n"
	      "Static programs, those that make system calls themselves (Go) and setuid ones\n"
	      "cannot be run this way.\n", out);
}

/* Check one -m and add it to the list. */
static void add_map(char *map, const char *arg)
{
	char v4[INET_ADDRSTRLEN], v6[INET6_ADDRSTRLEN + IF_NAMESIZE];
	const char *eq = strchr(arg, '=');
	struct in6_addr a6;
	struct in_addr a4;
	char *zone;

	if (!eq || (size_t)(eq - arg) >= sizeof(v4) || strlen(eq + 1) >= sizeof(v6))
		errx(2, "-m %s: want V4ADDR=V6ADDR", arg);
	snprintf(v4, sizeof(v4), "%.*s", (int)(eq - arg), arg);
	snprintf(v6, sizeof(v6), "%s", eq + 1);
	zone = strchr(v6, '%');
	if (zone)
		*zone++ = '\0';
	if (inet_pton(AF_INET, v4, &a4) != 1)
		errx(2, "-m %s: %s is no IPv4 address", arg, v4);
	if (inet_pton(AF_INET6, v6, &a6) != 1)
		errx(2, "-m %s: %s is no IPv6 address", arg, v6);
	if (zone && !if_nametoindex(zone))
		errx(2, "-m %s: no interface %s", arg, zone);
	if (!zone && IN6_IS_ADDR_LINKLOCAL(&a6))
		errx(2, "-m %s: a link-local address needs an interface: %s%%eth0", arg, v6);
	if (strlen(map) + strlen(arg) + 2 > MAX_MAP)
		errx(2, "too many -m");
	if (*map)
		strcat(map, ",");
	strcat(map, arg);
}

/* As execvp() searches. */
static bool find_program(const char *name, char *path)
{
	const char *dirs = getenv("PATH"), *end;
	struct stat st;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && !stat(path, &st);
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (; *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - dirs), dirs, name) < PATH_MAX &&
		    !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK))
			return true;
	}
	return false;
}

/* The loader ignores LD_PRELOAD for programs that gain privileges. */
static void check_privileges(const char *path, const struct stat *st)
{
	if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
		errx(EXIT_CANNOT, "%s is setuid: the loader would not load our library", path);
	if ((st->st_mode & S_ISGID) && st->st_gid != getegid())
		errx(EXIT_CANNOT, "%s is setgid: the loader would not load our library", path);
	if (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		errx(EXIT_CANNOT, "%s has file capabilities: the loader would not load our library",
		     path);
}

static void check_elf(const char *path, int fd, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;
	int i;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		errx(EXIT_CANNOT, "%s is a 32-bit program, our library is not", path);
	for (i = 0; i < eh->e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), eh->e_phoff + (off_t)i * sizeof(ph)) != sizeof(ph))
			break;
		if (ph.p_type == PT_INTERP)
			return;
	}
	errx(EXIT_CANNOT, "%s is statically linked: its socket calls cannot be redirected", path);
}

/* Would our library be loaded into @path? Exits with a message if not. */
static void check_program(const char *path)
{
	char head[PATH_MAX], interpreter[PATH_MAX];
	int depth, fd;
	ssize_t len;
	struct stat st;

	snprintf(interpreter, sizeof(interpreter), "%s", path);
	for (depth = 0; depth <= MAX_SCRIPTS; depth++) {
		fd = open(interpreter, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == EACCES)
			return;		/* executable, not readable: exec will tell */
		if (fd < 0 || fstat(fd, &st))
			err(EXIT_CANNOT, "%s", interpreter);
		check_privileges(interpreter, &st);
		len = pread(fd, head, sizeof(head) - 1, 0);
		if (len >= (ssize_t)sizeof(Elf64_Ehdr) && !memcmp(head, ELFMAG, SELFMAG))
			check_elf(interpreter, fd, (const Elf64_Ehdr *)head);
		close(fd);
		if (len < 3 || head[0] != '#' || head[1] != '!')
			return;
		head[len] = '\0';
		if (sscanf(head + 2, "%4095s", interpreter) != 1)
			return;
	}
}

/* Beside us, or where make install puts it. */
static void find_library(char *path)
{
	char dir[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (len < 0)
		err(EXIT_CANNOT, "/proc/self/exe");
	dir[len] = '\0';
	*strrchr(dir, '/') = '\0';
	if (snprintf(path, PATH_MAX, "%s/" LIBRARY, dir) < PATH_MAX && !access(path, R_OK))
		return;
	if (snprintf(path, PATH_MAX, "%s/../lib/net6/" LIBRARY, dir) < PATH_MAX &&
	    !access(path, R_OK))
		return;
	errx(EXIT_CANNOT, LIBRARY " is neither in %s nor in %s/../lib/net6", dir, dir);
}

static void check_net6(void)
{
	int fd = socket(AF_NET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 && errno == EAFNOSUPPORT)
		errx(EXIT_CANNOT, "net6 is not loaded (modprobe net6)");
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	char library[PATH_MAX], path[PATH_MAX], map[MAX_MAP] = "";
	static const struct option longs[] = {
		{ "map", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL }
	};
	const char *old = getenv("LD_PRELOAD");
	char *preload;
	int c;

	while ((c = getopt_long(argc, argv, "+m:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'm':
			add_map(map, optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			puts("net6-run " NET6_VERSION);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind >= argc) {
		usage(stderr);
		return 2;
	}
	check_net6();
	if (!find_program(argv[optind], path))
		errx(EXIT_NOT_FOUND, "%s: not found", argv[optind]);
	check_program(path);
	find_library(library);

	if (asprintf(&preload, "%s%s%s", library, old && *old ? ":" : "", old ? old : "") < 0)
		errx(EXIT_CANNOT, "out of memory");
	if (setenv("LD_PRELOAD", preload, 1) || (*map && setenv("NET6_RUN_MAP", map, 1)))
		err(EXIT_CANNOT, "environment");
	execv(path, argv + optind);
	err(EXIT_CANNOT, "%s", path);
}
