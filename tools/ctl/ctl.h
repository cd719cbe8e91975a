/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of net6ctl: talking to the netlink family, printing what it says, and
 * reading the command line.
 */
#ifndef NET6CTL_H
#define NET6CTL_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/net6_netlink.h>
#include <netinet/in.h>
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
/* From now on requests go to another family than that of net6: that of @module. */
bool ctl_find(const char *name, const char *module);	/* false: there is no such family */
void ctl_use(const char *name, const char *module);
struct nlmsghdr *ctl_request(uint8_t cmd, uint16_t flags);
/* Sends the request; @fn gets each answer's attributes. Ends the program with the
 * kernel's own words when it refuses, but for what ctl_forgive() named. Returns 0 or that
 * errno. While a file is judged nothing is sent.
 */
int ctl_talk(struct nlmsghdr *nlh, void (*fn)(uint8_t cmd, const struct nlattr **attrs));
/* While a file is loaded: these refusals of the next request are none. */
void ctl_forgive(int one, int other);
void ctl_dump(uint8_t cmd, void (*fn)(uint8_t cmd, const struct nlattr **attrs));
/* Attributes come from the kernel, but a newer one may mean other things by them. */
uint32_t ctl_u32(const struct nlattr *attr);
struct in6_addr ctl_address(const struct nlattr *attr);
void ctl_monitor(void (*fn)(uint8_t cmd, const struct nlattr **attrs)) __attribute__((noreturn));
/* The same of rtnetlink; @fn gets each answer whole. */
struct nlmsghdr *route_request(uint16_t type, uint16_t flags);
void route_talk(struct nlmsghdr *nlh, void (*fn)(const struct nlmsghdr *nlh));

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
	KIND_METRICS,		/* of a route, in ip's words */
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
void print_json_string(const char *text);
const char *print_word(const char *const *names, uint32_t value, char *buffer, size_t size);

/* info.c */
void tcp_info_text(FILE *to, const struct nlattr **attrs);
void tcp_info_json(FILE *to, const struct nlattr *attr);

/* show.c */
void show(int argc, char **argv, bool json);
void monitor(bool json);

/* metrics.c */

/**
 * struct metrics - metrics of a route, as they are asked for
 * @any: there are some
 * @congctl: the name of a congestion control, or NULL
 * @value: by NET6_A_METRICS_*, in the kernel's units; 0 for none
 */
struct metrics {
	bool		any;
	const char	*congctl;
	uint32_t	value[NET6_A_METRICS_MAX + 1];
};

int metrics_take(int argc, char **argv, struct metrics *m);
void metrics_put(struct nlmsghdr *nlh, uint16_t type, const struct metrics *m);
void metrics_text(FILE *to, const struct nlattr *nest);

/* route.c */
void change_route(bool add, int argc, char **argv);

/* rule.c, rules.c */
void change_rule(bool add, int argc, char **argv);
void show_rules(int argc, char **argv, bool json);
void save_rules(FILE *to);

/* tunnel.c */
void tunnel(int argc, char **argv);

/* xlat.c */
void xlat(int argc, char **argv);
void show_xlat(int argc, char **argv, bool json);
/* A line that makes it, for each translator. Ends with the family of net6. */
void save_xlats(void (*put)(char *line));

/* load.c */
enum loading {
	LOADING_NOT,		/* the words are from the command line */
	LOADING_JUDGE,		/* a file's words are read, nothing is done */
	LOADING_APPLY,
};

extern enum loading loading;
void load(int argc, char **argv);
/* Puts the file and its line before what is said. */
void load_place(FILE *to);
/* Goes to the next line, if a file is judged. */
void load_wrong(void);
/* A line that names a device that is not there, when such lines may be left out. */
void load_missing(const char *dev);
/* Is this address there, set by hand, with these lifetimes, which are for ever? */
bool load_has(uint32_t index, const struct in6_addr *address, int length, uint32_t valid,
	      uint32_t preferred);

/* judge.c: what the kernel would refuse of a file. Nothing is judged otherwise. */
void judge_start(void);
/* The index of a device that is there, or that the file makes; or 0. */
uint32_t judge_dev(const char *name);
void judge_attach(uint32_t index, bool attach);
void judge_tunnel_add(const char *name, uint32_t remote, uint32_t local);
void judge_xlat_add(const char *name, bool is_there);
void judge_tunnel_set(uint32_t index);
void judge_tunnel_del(uint32_t index);
void judge_gone(uint32_t index);
void judge_runs(uint32_t index);
void judge_routers(uint32_t index);
void judge_lladdr(uint32_t index, unsigned int len);
void judge_mtu(uint32_t index, uint32_t mtu);
void judge_host(uint32_t index, const struct in6_addr *address);
void judge_prefix(const struct in6_addr *prefix, int length);
void judge_global(const struct in6_addr *prefix);
void judge_linklocal(const struct in6_addr *address);
void judge_lifetimes(uint32_t valid, uint32_t preferred);

/* doctor.c; @netns: another network namespace than the one that /sys shows */
void doctor(int argc, char **argv, bool json, bool netns) __attribute__((noreturn));

/* save.c */
void save(int argc, char **argv);

/* net6ctl.c: the command line */
#define MINUS_ONE	3

/**
 * struct setting - a word that is followed by a value; all come from net6.yaml
 * @name: the word, NULL behind the last one
 * @attr: its attribute
 * @on_off: 0: a number; MINUS_ONE: a number or -1; else on, off, or a number up to this
 * @least: least value
 * @most: largest value
 * @initial: what an interface or a namespace begins with
 */
struct setting {
	const char	*name;
	uint16_t	attr;
	uint8_t		on_off;
	int64_t		least;
	int64_t		most;
	int64_t		initial;
};

extern const struct setting iface_settings[];
extern const struct setting limit_settings[];
void run(const char *verb, int argc, char **argv, bool json);
bool matches(const char *word, const char *full);
uint32_t number(const char *word, const char *what);
/* ADDRESS[/LENGTH]. Returns the length, -1 if there is none. */
int network(const char *word, struct in6_addr *address);
/* The value behind a word of the remaining arguments, or NULL. */
const char *option(int argc, char **argv, const char *full);
/* All remaining arguments are pairs that begin with one of these words. */
void only_options(int argc, char **argv, const char *const *words);
void put_address(struct nlmsghdr *nlh, uint16_t type, const char *word);
uint32_t dev_index(const char *name);
uint32_t dev_option(int argc, char **argv, bool required);

#endif
