// SPDX-License-Identifier: GPL-2.0
/* Files of /proc: what the stack shows, and its settings. */
#include <dirent.h>
#include <fcntl.h>

#include "fuzz.h"

static void read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (one_in(10))
		lseek(fd, value(), SEEK_SET);
	for (int i = 0; i < 20; i++)
		if (read(fd, area(), one_in(3) ? 1 + rnd(200) : 4096) <= 0)
			break;
	close(fd);
}

static void do_proc(void)
{
	static const char *const names[] = {
		"tcp6", "udp6", "udplite6", "raw6", "icmp6", "if_inet6",
		"igmp6", "anycast6", "mcfilter6", "snmp6", "sockstat6", "ipv6_route", "sockstat",
		"netstat", "snmp", "dev_snmp6/lo", "dev_snmp6/t0", "protocols", "ptype", "tcp",
		"dev_mcast" };
	char path[64];

	sprintf(path, "/proc/thread-self/net/%s", PICK(names));
	read_all(path);
}

/* A file somewhere below @path, which it replaces. */
static bool walk(char *path, size_t room)
{
	for (int depth = 0; depth < 6; depth++) {
		char found[256] = "";
		struct dirent *e;
		unsigned int n = 0;
		bool dir = false;
		DIR *d = opendir(path);

		if (!d)
			return false;
		while ((e = readdir(d)))
			if (e->d_name[0] != '.' && one_in(++n)) {
				strncpy(found, e->d_name, sizeof(found) - 1);
				dir = e->d_type == DT_DIR;
			}
		closedir(d);
		if (!n || strlen(path) + strlen(found) + 2 > room)
			return false;
		strcat(strcat(path, "/"), found);
		if (!dir)
			return true;
	}
	return false;
}

static void do_sysctl(void)
{
	static const char *const roots[] = { "/proc/sys/net/net6", "/proc/sys/net/net6",
		"/proc/sys/net/ipv6", "/proc/sys/net/ipv4" };
	char path[512], text[64];
	int fd;

	strcpy(path, PICK(roots));
	if (!walk(path, sizeof(path)))
		return;
	/* Of IPv4's settings those of TCP. */
	if (strstr(path, "/ipv4/") && !strstr(path, "/tcp_"))
		return;
	/* Memory of the machine is not the stack's. */
	if (strstr(path, "mem"))
		return;
	if (one_in(3)) {
		read_all(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	switch (rnd(8)) {
	case 0:
		fill(text, sizeof(text));
		break;
	case 1:
		sprintf(text, "%d %d %d", value(), value(), value());
		break;
	case 2:
		sprintf(text, "%d", value());
		break;
	default:
		sprintf(text, "%u", rnd(4));
	}
	if (write(fd, text, one_in(20) ? rnd(64) : strnlen(text, 63)) < 0)
		errno = 0;
	close(fd);
}

/* Settings that choose between ways, each of them worth to be gone. */
static void do_choice(void)
{
	static const struct { const char *path, *words; } choices[] = {
		{ "net6/transition", "auto off" }, { "net6/transition", "auto" },
		{ "ipv4/tcp_syncookies", "0 1 2" }, { "ipv4/tcp_fastopen", "0 1 3 7 519 1539" },
		{ "ipv4/tcp_mtu_probing", "0 1 2" }, { "ipv4/tcp_ecn", "0 1 2" },
		{ "ipv4/tcp_sack", "1 1 0" }, { "ipv4/tcp_timestamps", "1 1 2 0" },
		{ "ipv4/tcp_recovery", "0 1 1 3" }, { "ipv4/tcp_frto", "0 2" },
		{ "ipv4/tcp_tw_reuse", "0 1 2" }, { "ipv4/tcp_abort_on_overflow", "0 0 1" },
		{ "ipv4/tcp_max_syn_backlog", "1 4 128" }, { "ipv4/tcp_fin_timeout", "1 60" },
		{ "ipv4/tcp_migrate_req", "0 1" }, { "core/somaxconn", "1 4 4096" },
		{ "ipv4/tcp_congestion_control", "reno cubic bbr dctcp" },
		{ "ipv4/tcp_keepalive_time", "1 7200" }, { "ipv4/tcp_retries2", "3 15" },
		{ "ipv4/tcp_orphan_retries", "0 2" }, { "ipv4/tcp_rfc1337", "0 1" },
	};
	const char *words;
	char path[80], word[24];
	unsigned int i = rnd(COUNT(choices)), n = 1, at;
	int fd;

	words = choices[i].words;
	for (const char *c = words; *c; c++)
		n += *c == ' ';
	for (at = rnd(n); at; at--)
		words = strchr(words, ' ') + 1;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(words, " "), words);
	sprintf(path, "/proc/sys/net/%s", choices[i].path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, word, strlen(word)) < 0)
		errno = 0;
	close(fd);
}

const struct op file_ops[] = {
	{ "proc", 16, ALL, do_proc },
	{ "sysctl", 8, ALL, do_sysctl },
	{ "choice", 12, ADMIN, do_choice },
	{ },
};
