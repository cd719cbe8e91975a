// SPDX-License-Identifier: GPL-2.0
/* Where all chance comes from: numbers, lengths, addresses and memory. */
#include <arpa/inet.h>
#include <sys/mman.h>

#include "fuzz.h"

static __thread uint64_t state;
static __thread uint8_t *mine;

void rnd_seed(uint64_t seed)
{
	state = seed;
}

/* splitmix64 */
uint64_t rnd64(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

unsigned int rnd(unsigned int below)
{
	return below ? (rnd64() >> 32) % below : 0;
}

bool one_in(unsigned int n)
{
	return rnd(n) == 0;
}

int value(void)
{
	static const int edges[] = {
		-1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 40, 60, 64, 127, 128, 255, 256, 536, 1220, 1279,
		1280, 1281, 1500, 4096, 32767, 32768, 65535, 65536, 1 << 20, 0x7fffffff,
		-0x7fffffff - 1,
	};

	switch (rnd(8)) {
	case 0:	case 1: case 2:
		return PICK(edges);
	case 3:
		return (1U << rnd(32)) + (int)rnd(3) - 1;
	case 4:
		return rnd64();
	default:
		return rnd(4);
	}
}

void fill(void *to, size_t len)
{
	uint8_t *p = to;

	for (size_t i = 0; i < len; i++)
		p[i] = rnd64() >> 40;
}

unsigned int ifindex(void)
{
	return one_in(40) ? (unsigned int)value() : rnd(8);
}

void address(struct in6_addr *to)
{
	static const char *const known[] = {
		"::1", "::1", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0",
		"::ffff:224.0.0.5", "2001:db8:1::1", "2001:db8:1::1", "2001:db8:1::2",
		"2001:db8:1::2", "2001:db8:1::2", "2001:db8:1::99", "2001:db8:2::1",
		"2001:db8:2::2", "2001:db8:2::2", "2001:db8:1::", "2001:db8:7::5", "fe80::2",
		"fe80::2", "ff02::1", "ff02::1:3", "ff05::77", "ff01::9", "ff0e::5", "ff32::99",
		"::192.0.2.2",
	};

	if (one_in(30))
		fill(to, sizeof(*to));
	else
		inet_pton(AF_INET6, PICK(known), to);
}

static socklen_t name_ipv4(struct sockaddr_storage *to)
{
	struct sockaddr_in *sin = (void *)to;

	sin->sin_family = AF_INET;
	sin->sin_port = htons(PORT_BASE + rnd(PORTS));
	sin->sin_addr.s_addr = htonl(one_in(2) ? INADDR_LOOPBACK : INADDR_ANY);
	return sizeof(*sin);
}

socklen_t name(struct sockaddr_storage *to)
{
	struct sockaddr_in6 *sin6 = (void *)to;
	static const int odd[] = { AF_UNSPEC, AF_UNSPEC, 19, AF_UNIX, 0xffff };

	memset(to, 0, sizeof(*to));
	if (one_in(25))
		return name_ipv4(to);
	sin6->sin6_family = one_in(15) ? PICK(odd) : AF_INET6;
	sin6->sin6_port = one_in(20) ? rnd(65536) : htons(PORT_BASE + rnd(PORTS));
	sin6->sin6_flowinfo = one_in(8) ? htonl(rnd64()) : 0;
	address(&sin6->sin6_addr);
	if (IN6_IS_ADDR_LINKLOCAL(&sin6->sin6_addr) || IN6_IS_ADDR_MC_LINKLOCAL(&sin6->sin6_addr) ||
	    one_in(8))
		sin6->sin6_scope_id = ifindex();
	return one_in(20) ? rnd(sizeof(*to) + 1) : one_in(20) ? 24 : sizeof(*sin6);
}

void *area(void)
{
	if (!mine)
		mine = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mine;
}

void *memory(size_t len)
{
	static const uintptr_t bad[] = { 0, 1, 0xfff, 0x7ffffffff000, 0xffffffff81000000 };

	if (one_in(100))
		return (void *)PICK(bad);
	if (len > AREA)
		len = AREA;
	/* The end of the area is the end of what is mapped. */
	if (one_in(10))
		return (uint8_t *)area() + AREA - len;
	return (uint8_t *)area() + rnd(AREA - len + 1);
}

size_t length(void)
{
	switch (rnd(12)) {
	case 0:
		return one_in(4) ? rnd(AREA) : 65000 + rnd(1000);
	case 1:
		return (unsigned int)value() % AREA;
	case 2:
		return rnd(30000);
	case 3: case 4:
		return rnd(8000);
	default:
		return rnd(1500);
	}
}
