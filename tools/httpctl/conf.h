/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration file, as it is shared by what reads it, does it and writes it. */
#ifndef HTTPCTL_CONF_H
#define HTTPCTL_CONF_H

#include "httpctl.h"

#define SITES_MAX	64
#define UNWANTED_MAX	(SITES_MAX * LISTENERS_MAX)

/* One [site NAME]. */
struct section {
	struct options opt;
	char *rules;		/* "rules=" and its lines, or NULL */
	int line;
	int user_line;		/* of user or group, the last one */
	int behind_line;
	char *pidfile;		/* of the server to attach to, or NULL */
	bool changed;		/* while it runs; what is not wanted is still there */
	bool kept;		/* it runs and could not be changed */
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

#define ATTRIBUTES	14

struct limit {
	const char *name;
	unsigned int least;
	unsigned int most;
};

#define LIMITS	19

extern const struct limit limits[LIMITS];
extern const struct attribute attributes[ATTRIBUTES];

/* A listener that is wanted. */
struct want {
	struct listen listen;
	bool there;
	bool blocked;		/* by one that is not wanted */
	char *made;		/* its new directory, or NULL */
};

/* One that is there and not wanted. */
struct unwanted {
	char *path;
	bool blocks;		/* one that is wanted */
};

/* The listeners of a site that is there, or not yet, against those that are wanted. */
struct change {
	const char *dir;
	struct want want[LISTENERS_MAX];
	int wants;
	struct unwanted unwanted[UNWANTED_MAX];	/* of other sites, too */
	int unwanteds;
};

/* file.c */
char *join(const char *name, const char *value);
char *copy(const char *text);
char *trim(char *text);
const char *setting(const struct section *site, const char *name);
int read_file(struct file *file, const char *path);

/* listeners.c */
int sort_listeners(const struct file *file, const char *dir,
		   const struct section *site, struct change *change);
bool has_listeners(const char *dir, const struct options *opt);
int make_listeners(struct change *change, bool blocked);
void unmake_listeners(struct change *change, bool blocked);
int open_blocking(const struct change *change, const char *value);
int replace_listeners(struct change *change);
int remove_unwanted(const char *dir, const struct options *opt);
void free_change(struct change *change);

#endif /* HTTPCTL_CONF_H */
