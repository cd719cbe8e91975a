/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration file, as it is shared by what reads it, does it and writes it. */
#ifndef HTTPCTL_CONF_H
#define HTTPCTL_CONF_H

#include "httpctl.h"

#define SITES_MAX	64

/* One [site NAME]. */
struct section {
	struct options opt;
	char *rules;		/* "rules=" and its lines, or NULL */
	char *pidfile;		/* of the server to attach to, or NULL */
};

struct file {
	const char *path;
	int line;
	struct section site[SITES_MAX];
	int sites;
	char *limit[SETS_MAX];	/* "NAME=VALUE" */
	int limits;
	bool in_limits;
};

/* Attributes that are set as they stand there, and what they are otherwise. */
struct attribute {
	const char *name;
	const char *otherwise;
};

#define ATTRIBUTES	6

extern const char *const limit_names[];	/* NULL ends them */
extern const struct attribute attributes[ATTRIBUTES];

char *join(const char *name, const char *value);
char *copy(const char *text);
char *trim(char *text);
const char *setting(const struct section *site, const char *name);
int read_file(struct file *file, const char *path);

#endif /* HTTPCTL_CONF_H */
