// SPDX-License-Identifier: GPL-2.0
/* net6ctl doctor: what is in the way of net6 on this machine, a line each. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <linux/inet_diag.h>
#include <linux/net6.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../lib/findings.h"
#include "ctl.h"

#define CONFIG_MAX	1048576

static struct utsname kernel;
static char *config;		/* the kernel's configuration, NULL if it cannot be read */
static char module_file[PATH_MAX];
static bool loaded, takeover;

/* The first line of a small file, without its end; "" if there is none. */
static char *line_of(char *line, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *file;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	*line = '\0';
	file = fopen(path, "re");
	if (!file)
		return line;
	if (!fgets(line, size, file))
		*line = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void read_config(void)
{
	static const char *const places[][2] = {
		{ "/boot/config-", "" }, { "/lib/modules/", "/config" },
		{ "/lib/modules/", "/build/.config" } };
	char path[PATH_MAX];
	FILE *file = NULL;
	size_t i, got;

	for (i = 0; i < ARRAY_SIZE(places) && !file; i++) {
		snprintf(path, sizeof(path), "%s%s%s", places[i][0], kernel.release,
			 places[i][1]);
		file = fopen(path, "re");
	}
	if (!file)
		return;
	config = malloc(CONFIG_MAX);
	if (!config)
		die("out of memory");
	got = fread(config, 1, CONFIG_MAX - 1, file);
	config[got] = '\0';
	fclose(file);
}

/* 'y', 'm', or 'n' */
static char option_of(const char *name)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), "\nCONFIG_%s=", name);
	at = strstr(config, wanted);
	return at ? at[strlen(wanted)] : 'n';
}

static void check_kernel(void)
{
	static const char *const needed[] = {
		"MODULES", "NET", "INET", "NET_NS", "PROC_FS", "SYSCTL", "SYSFS",
		"CRYPTO_LIB_SHA256" };
	size_t i;

	if (!config) {
		note("kernel", "the configuration of %s is nowhere to be read", kernel.release);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (option_of(needed[i]) == 'n')
			fault("kernel", "%s was built without CONFIG_%s", kernel.release,
			      needed[i]);
	if (option_of("IPV6") != 'y')
		fault("kernel", "CONFIG_IPV6 is %c in %s: net6 needs what is built in with =y",
		      option_of("IPV6"), kernel.release);
	if (option_of("NETFILTER_INGRESS") != 'y' && !takeover)
		fault("kernel", "no CONFIG_NETFILTER_INGRESS in %s: net6 works with "
		      "ipv6.disable=1 only",
		      kernel.release);
	if (option_of("INET_TUNNEL") == 'n')
		note("kernel", "no CONFIG_INET_TUNNEL in %s: there are no tunnels", kernel.release);
}

static int on_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	if (type == FTW_F && !strncmp(path + ftw->base, "net6.ko", 7))
		snprintf(module_file, sizeof(module_file), "%s", path);
	return 0;
}

/* The kernel's own modules are none of ours. */
static void find_module(void)
{
	static const char *const folders[] = { "updates", "extra" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "/lib/modules/%s/%s", kernel.release, folders[i]);
		nftw(path, on_file, 16, FTW_PHYS);
	}
}

static bool is_signed(void)
{
	static const char mark[] = "~Module signature appended~\n";
	char end[sizeof(mark)] = "";
	FILE *file = fopen(module_file, "re");

	if (!file)
		return true;
	if (!fseek(file, -(long)(sizeof(mark) - 1), SEEK_END) &&
	    fread(end, 1, sizeof(mark) - 1, file) != sizeof(mark) - 1)
		*end = '\0';
	fclose(file);
	return !strcmp(end, mark);
}

static void check_signature(void)
{
	char enforce[8], lockdown[128];
	const char *dot = strrchr(module_file, '.');
	bool wanted;

	line_of(enforce, sizeof(enforce), "/sys/module/module/parameters/sig_enforce");
	line_of(lockdown, sizeof(lockdown), "/sys/kernel/security/lockdown");
	wanted = *enforce == 'Y' || strstr(lockdown, "[integrity]") ||
		 strstr(lockdown, "[confidentiality]");
	/* A compressed module cannot be looked into; modprobe says it then. */
	if (wanted && *module_file && dot && !strcmp(dot, ".ko") && !is_signed())
		fault("module", "%s is not signed, and this kernel takes signed modules only "
		      "(Secure Boot)",
		      module_file);
}

static void check_module(void)
{
	char word[64];

	loaded = !access("/sys/module/net6", F_OK);
	find_module();
	if (loaded) {
		line_of(word, sizeof(word), "/sys/module/net6/version");
		if (strcmp(word, NET6_VERSION))
			note("module", "version %s is loaded, this is net6ctl " NET6_VERSION,
			     *word ? word : "unknown");
		return;
	}
	if (*module_file)
		fault("module", "net6 is not loaded (modprobe net6)");
	else
		fault("module", "net6 is neither loaded nor installed for %s "
		      "(make install)",
		      kernel.release);
	line_of(word, sizeof(word), "/proc/sys/kernel/modules_disabled");
	if (*word == '1')
		fault("module", "kernel.modules_disabled is 1: no module can be loaded until the "
		      "next boot");
	check_signature();
}

/* Does net6 tell programs such as ss of its sockets? It refuses to look for a datagram socket, and
 * inet_diag would look.
 */
static bool net6_answers_ss(void)
{
	char buffer[MNL_SOCKET_BUFFER_SIZE];
	struct mnl_socket *nl = mnl_socket_open(NETLINK_SOCK_DIAG);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct inet_diag_req_v2 *req;
	bool refused = false;

	if (!nl)
		return false;
	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = AF_INET6;
	req->sdiag_protocol = IPPROTO_UDP;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0 &&
	    mnl_socket_recvfrom(nl, buffer, sizeof(buffer)) > (ssize_t)NLMSG_LENGTH(sizeof(int)))
		refused = ((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error == -EOPNOTSUPP;
	mnl_socket_close(nl);
	return refused;
}

static bool kernel_from(unsigned int major, unsigned int minor)
{
	unsigned int a, b;

	return sscanf(kernel.release, "%u.%u", &a, &b) == 2 &&
	       (a > major || (a == major && b >= minor));
}

/* Which IPv6 do programs get? */
static void check_native(void)
{
	char word[32];
	int fd;

	if (takeover) {
		line_of(word, sizeof(word), "/sys/module/net6/parameters/family");
		if (loaded && !strcmp(word, "net6"))
			note("native", "IPv6 is off and net6 was loaded with family=net6: "
			     "programs have AF_NET6 only");
		if (loaded && !access("/sys/module/inet_diag", F_OK) && !net6_answers_ss())
			note("ss", "inet_diag was loaded before net6: ss -6 wants PROC_ROOT=/proc");
		line_of(word, sizeof(word), "/proc/sys/net/bridge/bridge-nf-call-ip6tables");
		/* From 7.1 on net6 cannot answer in native's place. */
		if (*word == '1' && kernel_from(7, 1))
			fault("bridge", "br_netfilter drops all IPv6 that a bridge passes on where "
			      "native is off (sysctl net.bridge.bridge-nf-call-ip6tables=0)");
	} else {
		note("native", "native IPv6 is on: only AF_NET6 and net6-run lead to net6. For "
		     "all programs boot with ipv6.disable=1");
		line_of(word, sizeof(word), "/proc/sys/net/ipv6/conf/all/disable_ipv6");
		if (*word == '1')
			note("native", "net.ipv6.conf.all.disable_ipv6 is 1, which is not "
			     "ipv6.disable=1: native still has AF_INET6");
	}
	if (!loaded)
		return;
	fd = socket(AF_NET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fault("sockets", "no socket of AF_NET6: %s", strerror(errno));
	else
		close(fd);
}

static void check_clock(void)
{
	char date[32], source[32];
	time_t now = time(NULL);
	struct tm tm;

	line_of(source, sizeof(source),
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") || !strcmp(source, "jiffies"))
		note("clock", "the clock source is %s, which makes each packet slower", source);
	if (now >= FINDINGS_YOUNGEST || !gmtime_r(&now, &tm))
		return;
	strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	note("clock", "it is said to be %s: the clock was never set", date);
}

/* What net6 says of its interfaces, by name. */
struct seen {
	char	name[32];
	bool	disabled;
	bool	ignores_ra;
	bool	hooked;			/* packets can come in */
};

static struct seen *seen;
static size_t n_seen;

static void on_iface(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *name = attrs[NET6_A_IFACE_NAME];
	struct seen *s;

	if (cmd != NET6_CMD_IFACE_GET || !name)
		return;
	seen = realloc(seen, (n_seen + 1) * sizeof(*seen));
	if (!seen)
		die("out of memory");
	s = &seen[n_seen++];
	snprintf(s->name, sizeof(s->name), "%.*s", (int)mnl_attr_get_payload_len(name),
		 (const char *)mnl_attr_get_payload(name));
	s->disabled = ctl_u32(attrs[NET6_A_IFACE_DISABLE_IPV6]);
	s->hooked = ctl_u32(attrs[NET6_A_IFACE_FLAGS]) & NET6_IFACE_FLAGS_HOOKED;
	s->ignores_ra = ctl_u32(attrs[NET6_A_IFACE_FORWARDING]) &&
			ctl_u32(attrs[NET6_A_IFACE_ACCEPT_RA]) == 1;
}

static void on_addr(uint8_t cmd, const struct nlattr **attrs)
{
	struct in6_addr address = ctl_address(attrs[NET6_A_ADDR_ADDRESS]);
	char text[INET6_ADDRSTRLEN];

	if (cmd == NET6_CMD_ADDR_GET &&
	    ctl_u32(attrs[NET6_A_ADDR_STATE]) == NET6_ADDR_STATE_DUPLICATE)
		fault("address", "%s is another node's, too: it is not used",
		      inet_ntop(AF_INET6, &address, text, sizeof(text)));
}

static const struct seen *net6_on(const char *dev)
{
	size_t i;

	for (i = 0; i < n_seen; i++)
		if (!strcmp(seen[i].name, dev))
			return &seen[i];
	return NULL;
}

/* Does a device @dev have a link of this kind: upper_macvlan0, brport? */
static bool has_link(const char *dev, const char *beginning)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s", dev);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		found |= !strncmp(entry->d_name, beginning, strlen(beginning));
	if (dir)
		closedir(dir);
	return found;
}

/* Why net6 does not run on this Ethernet device that is up. */
static void check_bare(const char *dev)
{
	char mtu[16], attach[16];

	line_of(mtu, sizeof(mtu), "/sys/class/net/%s/mtu", dev);
	line_of(attach, sizeof(attach), "/sys/module/net6/parameters/attach");
	if (has_link(dev, "brport"))
		note("device", "%s is a port of a bridge: net6 runs on the bridge", dev);
	else if (has_link(dev, "master"))
		note("device", "%s has a master (a bond or the like): net6 runs on that", dev);
	else if (has_link(dev, "upper_"))
		note("device", "%s serves other devices (macvlan or the like): net6 runs on those",
		     dev);
	else if (atoi(mtu) < 1280)
		fault("device", "the MTU of %s is %s, IPv6 wants 1280 (RFC 8200 section 5)", dev,
		      mtu);
	else if (!strcmp(attach, "manual"))
		note("device", "net6 does not run on %s, it was loaded with attach=manual "
		     "(net6ctl attach dev %s)",
		     dev, dev);
	else
		fault("device", "net6 does not run on %s (net6ctl attach dev %s says why)", dev,
		      dev);
}

static void check_device(const char *dev)
{
	const struct seen *s = net6_on(dev);
	char flags[16], type[16];

	if (s && s->disabled)
		fault("device", "IPv6 is off on %s (net6ctl set dev %s disable-ipv6 off); a "
		      "duplicate address does that, too",
		      dev, dev);
	if (s && s->ignores_ra)
		note("device", "%s forwards and so takes no Router Advertisements (accept-ra 2 "
		     "does)",
		     dev);
	line_of(flags, sizeof(flags), "/sys/class/net/%s/flags", dev);
	line_of(type, sizeof(type), "/sys/class/net/%s/type", dev);
	if ((!s || !s->hooked) && !strcmp(type, "1") && (strtoul(flags, NULL, 16) & 1))
		check_bare(dev);
}

static void check_devices(void)
{
	const struct dirent *entry;
	DIR *dir;

	ctl_open();
	ctl_dump(NET6_CMD_IFACE_GET, on_iface);
	ctl_dump(NET6_CMD_ADDR_GET, on_addr);
	dir = opendir("/sys/class/net");
	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			check_device(entry->d_name);
	if (dir)
		closedir(dir);
}

/* /sys shows the devices of the namespace in which it was mounted. */
static bool own_sys(void)
{
	if (!unshare(CLONE_NEWNS) && !mount("", "/", NULL, MS_SLAVE | MS_REC, NULL) &&
	    !mount("sysfs", "/sys", "sysfs", 0, NULL))
		return true;
	note("device", "devices of another namespace are not looked at: %s", strerror(errno));
	return false;
}

/* Ends the program: 1 if something is in the way. */
void doctor(int argc, char **argv, bool json, bool netns)
{
	char disabled[8];
	bool errors;

	if (argc)
		die("'%s' does not belong here", *argv);
	findings_begin(json ? print_json_string : NULL);
	uname(&kernel);
	line_of(disabled, sizeof(disabled), "/sys/module/ipv6/parameters/disable");
	takeover = *disabled == '1';
	read_config();
	check_module();
	check_kernel();
	check_native();
	check_clock();
	if (loaded && (!netns || own_sys()))
		check_devices();
	errors = findings_end();
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	exit(errors ? 1 : 0);
}
