/* SPDX-License-Identifier: GPL-2.0 */
/* Settings that the kernel would refuse are known before it is asked. Each function returns why
 * it is wrong, or NULL.
 */
#ifndef HTTPCTL_JUDGE_H
#define HTTPCTL_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

struct listen;

/* Longest media type, as in khttpd/files/site.h. */
#define TYPE_MAX	96

/* pure.c */
const char *judge_rules(const char *text, size_t len);
const char *judge_names(const char *text, size_t len);
const char *judge_hsts(const char *text);
const char *judge_prefixes(const char *text);
const char *judge_types(const char *text, size_t len);

/* judge.c */
const char *judge_number(const char *text, unsigned int least,
			 unsigned int most);
const char *judge_switch(const char **value);
const char *judge_index(const char *name);
const char *judge_listen(const struct listen *listen);
const char *judge_attribute(const char *name, const char *value);

#endif /* HTTPCTL_JUDGE_H */
