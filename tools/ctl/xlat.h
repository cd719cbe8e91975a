/* SPDX-License-Identifier: GPL-2.0 */
/* net6ctl: translators as the kernel tells of them, between xlat.c and xlat_show.c. */
#ifndef NET6CTL_XLAT_H
#define NET6CTL_XLAT_H

#include <net/if.h>
#include <netinet/in.h>

#include <linux/net6_xlat.h>

#include "ctl.h"

#define XLAT_MAP	24	/* bytes of a mapping: both prefixes, both lengths, zeros */

/**
 * struct xlat - a translator
 * @index: of its device; @name: the same
 * @prefix: of IPv6 addresses with IPv4 ones in them; @pool: of IPv4 addresses. "" without one
 * @nat64: its kind; what follows is a NAT64's
 * @inside: IPv4 addresses that hosts are lent; @per64: so many for a /64; @idle: seconds
 * @hosts: that have one now; @made, @taken, @ended: as in show xlat
 * @sent: packets; @received, @dropped: the same
 * @maps: mappings, XLAT_MAP octets each; @n: so many
 */
struct xlat {
	uint32_t	index;
	char		name[IFNAMSIZ];
	char		prefix[INET6_ADDRSTRLEN + 4];
	char		pool[INET_ADDRSTRLEN + 3];
	char		inside[INET_ADDRSTRLEN + 3];
	bool		nat64;
	uint32_t	per64, idle, hosts;
	uint64_t	made, taken, ended;
	uint64_t	sent, received, dropped;
	uint8_t		*maps;
	unsigned int	n;
};

extern struct xlat xlats[];
extern unsigned int n_xlats;

/* A request to net6xlat.ko, after which it is talked to. */
struct nlmsghdr *xlat_request(uint8_t cmd, uint16_t flags);
/* Of all, or of one if @index is not 0: fills xlats. */
void xlat_read(uint32_t index);
const char *xlat_kind(const struct xlat *x);
void xlat_map_words(const uint8_t *map, char *four, char *six);
uint64_t xlat_u64(const struct nlattr *attr);
void xlat_string(const struct nlattr *attr, char *text, size_t size);

#endif /* NET6CTL_XLAT_H */
