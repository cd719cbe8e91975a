/* SPDX-License-Identifier: GPL-2.0 */
/* Rules: what asking (rule.c) and telling (rules.c) share. */
#ifndef NET6CTL_RULE_H
#define NET6CTL_RULE_H

#include <linux/fib_rules.h>

#include "ctl.h"

/**
 * struct rule_word - a word and the kernel's number for it
 * @name: the word, NULL behind the last one
 * @value: FR_ACT_* or RT_TABLE_*
 */
struct rule_word {
	const char	*name;
	uint32_t	value;
};

extern const struct rule_word rule_actions[];
extern const struct rule_word rule_tables[];

/* AF_INET6 where native IPv6 is off, else AF_NET6. */
uint8_t rule_family(void);
struct nlmsghdr *rule_request(uint16_t type, uint16_t flags, struct fib_rule_hdr **frh);

#endif
