/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of net6ctl: talking to the netlink family, printing what it says, and
 * reading the command line.
 */
#ifndef NET6CTL_H
#define NET6CTL_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/net6_netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Larger than any message of a family whose kernel side sends pages. */
#define CTL_BUFFER	65536
/* The largest set is that of interfaces. */
#define CTL_ATTRS	(NET6_A_IFACE_MAX + 1)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Prints "net6ctl: ..." and ends the program with status 1. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* nl.c */
void ctl_open(void);
struct nlmsghdr *ctl_request(uint8_t cmd, uint16_t flags);
/* Sends the request; @fn gets each answer's attributes. Ends the program with the
 * kernel's own words when it refuses.
 */
void ctl_talk(struct nlmsghdr *nlh, void (*fn)(uint8_t cmd, const struct nlattr **attrs));
void ctl_monitor(void (*fn)(uint8_t cmd, const struct nlattr **attrs)) __attribute__((noreturn));

/* print.c */
enum kind {
	KIND_U32,
	KIND_S32,
	KIND_U64,
	KIND_STRING,
	KIND_ADDRESS,
	KIND_NETWORK,		/* address of this attribute, length of the next one */
	KIND_ENDPOINT,		/* address of this attribute, port of the next one */
	KIND_LLADDR,
	KIND_IPV4,
	KIND_TOS,		/* number, or 1: the inner packet's */
	KIND_DEV,		/* interface index, shown as name */
	KIND_BOOL,		/* number, shown as such above 1 */
	KIND_FLAG,		/* attribute without data */
	KIND_PROTOCOL,		/* IPPROTO_* */
	KIND_ENUM,
	KIND_FLAGS,
	KIND_LIFETIME,		/* seconds, all ones for ever */
	KIND_AGE,		/* milliseconds */
	KIND_ADDRESSES,		/* addresses, 16 bytes each */
	KIND_DOMAINS,		/* domain names in labels, padded with zeros */
	KIND_TCP_INFO,		/* struct tcp_info; the last column, on a line of its own */
};

/**
 * struct column - one property of an object
 * @attr: attribute
 * @kind: how to read and write it
 * @key: its name in JSON, NULL if it is only for people
 * @title: head of its column, NULL if it is only in JSON
 * @names: words of enumerations and flags, ended by NULL
 */
struct column {
	uint16_t		attr;
	enum kind		kind;
	const char		*key;
	const char		*title;
	const char *const	*names;
};

/* One object of what is shown. @columns end with a zero attribute. */
void print_begin(const struct column *columns, bool json);
void print_row(const struct nlattr **attrs);
void print_end(void);
void print_event(const struct column *columns, bool json, const char *object,
		 const char *event, const struct nlattr **attrs);
const char *print_word(const char *const *names, uint32_t value, char *buffer, size_t size);

/* info.c */
void tcp_info_text(FILE *to, const struct nlattr **attrs);
void tcp_info_json(FILE *to, const struct nlattr *attr);

/* show.c */
void show(int argc, char **argv, bool json);
void monitor(bool json);

/* tunnel.c */
void tunnel(int argc, char **argv);

/* net6ctl.c: the command line */
bool matches(const char *word, const char *full);
uint32_t dev_index(const char *name);
uint32_t dev_option(int argc, char **argv, bool required);

#endif
