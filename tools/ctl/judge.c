// SPDX-License-Identifier: GPL-2.0
/* Finds lines of a file that the kernel would refuse, before the first one is done. It knows the
 * devices that there are, what the lines before make of them, and what addresses are for.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl.h"

#define MADE	0x80000000	/* indexes of devices that the file will make */

/**
 * struct dev - a device as it is when all lines so far are done
 * @name: its name
 * @index: its index, or one from MADE on
 * @runs: net6 runs on it
 * @tunnel: a configured tunnel
 * @xlat: a translator that a line has made
 * @remote: the tunnel's far end, in this machine's order, or 0
 * @local: its near end, 0 if the route chooses it
 * @nd: has neighbors, and routers
 * @lladdr_len: length of link-layer addresses
 */
struct dev {
	char		name[IFNAMSIZ];
	uint32_t	index;
	bool		runs;
	bool		tunnel;
	bool		xlat;
	uint32_t	remote;
	uint32_t	local;
	bool		nd;
	unsigned int	lladdr_len;
};

static struct dev *devs;
static size_t n_devs;
static uint32_t n_made;

static struct dev *find(uint32_t index)
{
	size_t i;

	for (i = 0; i < n_devs; i++)
		if (devs[i].index == index)
			return &devs[i];
	return NULL;
}

static struct dev *add(const char *name, uint32_t index)
{
	struct dev *dev;

	devs = realloc(devs, (n_devs + 1) * sizeof(*devs));
	if (!devs)
		die("out of memory");
	dev = &devs[n_devs++];
	memset(dev, 0, sizeof(*dev));
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	dev->index = index;
	return dev;
}

static void on_iface(uint8_t cmd, const struct nlattr **attrs)
{
	const struct nlattr *name = attrs[NET6_A_IFACE_NAME];
	const struct nlattr *lladdr = attrs[NET6_A_IFACE_LLADDR];
	char text[IFNAMSIZ];
	struct dev *dev;

	if (cmd != NET6_CMD_IFACE_GET || !name)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)mnl_attr_get_payload_len(name),
		 (const char *)mnl_attr_get_payload(name));
	dev = add(text, ctl_u32(attrs[NET6_A_IFACE_IFINDEX]));
	dev->runs = true;
	dev->nd = ctl_u32(attrs[NET6_A_IFACE_FLAGS]) & NET6_IFACE_FLAGS_ND;
	dev->lladdr_len = lladdr ? mnl_attr_get_payload_len(lladdr) : 0;
}

static void on_tunnel(uint8_t cmd, const struct nlattr **attrs)
{
	struct dev *dev = find(ctl_u32(attrs[NET6_A_TUNNEL_IFINDEX]));

	if (cmd != NET6_CMD_TUNNEL_GET || !dev)
		return;
	dev->tunnel = ctl_u32(attrs[NET6_A_TUNNEL_KIND]) == NET6_TUNNEL_KIND_CONFIGURED;
	dev->remote = ntohl(ctl_u32(attrs[NET6_A_TUNNEL_REMOTE]));
	dev->local = ntohl(ctl_u32(attrs[NET6_A_TUNNEL_LOCAL]));
}

void judge_start(void)
{
	ctl_dump(NET6_CMD_IFACE_GET, on_iface);
	ctl_dump(NET6_CMD_TUNNEL_GET, on_tunnel);
}

static struct dev *by_name(const char *name)
{
	size_t i;

	for (i = 0; i < n_devs; i++)
		if (!strcmp(devs[i].name, name))
			return &devs[i];
	return NULL;
}

uint32_t judge_dev(const char *name)
{
	const struct dev *dev = by_name(name);
	uint32_t index;

	if (dev)
		return dev->index;
	index = if_nametoindex(name);
	return index ? add(name, index)->index : 0;
}

void judge_attach(uint32_t index, bool attach)
{
	struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (!dev)
		return;
	if (!strcmp(dev->name, "lo"))
		die("the pseudo-loopback is always there");
	if (attach && !dev->runs) {
		dev->nd = true;
		dev->lladdr_len = 6;
	}
	dev->runs = attach;
}

void judge_tunnel_add(const char *name, uint32_t remote, uint32_t local)
{
	struct dev *dev;
	size_t i;

	if (loading != LOADING_JUDGE)
		return;
	if (strchr(name, '/') || strchr(name, ':') || !strcmp(name, ".") || !strcmp(name, ".."))
		die("'%s' is no name for a device", name);
	dev = by_name(name);
	if ((dev && !dev->tunnel) || (!dev && if_nametoindex(name)))
		die("there is a device %s that is no tunnel of this kind", name);
	for (i = 0; i < n_devs; i++)
		if (devs + i != dev && devs[i].remote == remote && devs[i].local == local)
			die("%s is a tunnel between these ends", devs[i].name);
	if (!dev)
		dev = add(name, MADE + n_made++);
	dev->remote = remote;
	dev->local = local;
	dev->runs = true;
	dev->tunnel = true;
}

void judge_xlat_add(const char *name, bool is_there)
{
	struct dev *dev;

	if (loading != LOADING_JUDGE)
		return;
	dev = by_name(name);
	if (!is_there && !(dev && dev->xlat) && (dev || if_nametoindex(name)))
		die("there is a device %s that is no translator", name);
	if (!dev)
		dev = add(name, MADE + n_made++);
	dev->runs = true;
	dev->xlat = true;
}

void judge_tunnel_set(uint32_t index)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev && !dev->tunnel)
		die("%s is no configured tunnel", dev->name);
}

void judge_gone(uint32_t index)
{
	struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev)
		*dev = devs[--n_devs];
}

void judge_tunnel_del(uint32_t index)
{
	judge_tunnel_set(index);
	judge_gone(index);
}

void judge_runs(uint32_t index)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev && !dev->runs)
		die("net6 does not run on %s", dev->name);
}

void judge_routers(uint32_t index)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev && !dev->nd && !dev->tunnel)
		die("%s has no routers and no proxied addresses", dev->name);
}

void judge_lladdr(uint32_t index, unsigned int len)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev && !dev->nd)
		die("%s has no neighbors to resolve", dev->name);
	if (dev && dev->lladdr_len != len)
		die("a link-layer address of %s has %u octets", dev->name, dev->lladdr_len);
}

void judge_mtu(uint32_t index, uint32_t mtu)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;
	struct ifreq request = { 0 };
	int fd;

	if (!dev || !mtu)
		return;
	if (mtu < 1280)
		die("mtu: at least 1280 (RFC 8200 section 5)");
	if (index >= MADE)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(request.ifr_name, dev->name, sizeof(request.ifr_name));
	if (fd >= 0 && !ioctl(fd, SIOCGIFMTU, &request) && mtu > (uint32_t)request.ifr_mtu)
		die("mtu: %s carries %d at most", dev->name, request.ifr_mtu);
	if (fd >= 0)
		close(fd);
}

void judge_host(uint32_t index, const struct in6_addr *address)
{
	const struct dev *dev = loading == LOADING_JUDGE ? find(index) : NULL;

	if (dev && (IN6_IS_ADDR_MULTICAST(address) || IN6_IS_ADDR_UNSPECIFIED(address) ||
		    IN6_IS_ADDR_V4MAPPED(address) ||
		    (IN6_IS_ADDR_LOOPBACK(address) && strcmp(dev->name, "lo"))))
		die("not a unicast address for %s", dev->name);
}

void judge_prefix(const struct in6_addr *prefix, int length)
{
	int bit;

	if (loading != LOADING_JUDGE)
		return;
	for (bit = length; bit < 128; bit++)
		if (prefix->s6_addr[bit / 8] & 0x80 >> bit % 8)
			die("bits beyond the prefix length are set");
}

void judge_global(const struct in6_addr *prefix)
{
	if (loading == LOADING_JUDGE &&
	    (IN6_IS_ADDR_MULTICAST(prefix) || IN6_IS_ADDR_LINKLOCAL(prefix)))
		die("link-local and multicast prefixes need no entry");
}

void judge_linklocal(const struct in6_addr *address)
{
	if (loading == LOADING_JUDGE && !IN6_IS_ADDR_LINKLOCAL(address))
		die("a router is named by its link-local address");
}

void judge_lifetimes(uint32_t valid, uint32_t preferred)
{
	if (loading == LOADING_JUDGE && !valid)
		die("an address that is valid for 0 seconds is none");
	if (loading == LOADING_JUDGE && preferred > valid)
		die("the preferred lifetime is longer than the valid one");
}
