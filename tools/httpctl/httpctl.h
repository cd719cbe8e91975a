/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of khttpdctl share. */
#ifndef HTTPCTL_H
#define HTTPCTL_H

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/khttpd.h>
#include "../lib/lines.h"

#define CONFIG		"/sys/kernel/config"
#define ROOT		CONFIG "/khttpd"
#define DEVICE		"/dev/khttpd"
#define LISTENERS_MAX	16
#define LISTEN_OPTIONS	6
#define SETS_MAX	24
#define VALUE_MAX	(128 * 1024)
/* Bytes of the name of an index file, its NUL included. */
#define INDEX_SIZE	64
/* Ids of nobody, and of the group of a user that is only a number. */
#define ID_NOBODY	65534
/* Longest one of an attribute that is text. */
#define TEXT_MAX	4095

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* What was asked for on the command line. */
struct options {
	const char *site;
	const char *docroot;
	const char *index;
	const char *user;
	const char *group;	/* NULL: the user's */
	const char *listen[LISTENERS_MAX];
	int listens;
	const char *set[SETS_MAX];
	int sets;
	int pid;
	int port;
	int fd;			/* -1: by port */
	int interval;
	int count;
	int keep;
	long long rotate;
	bool json;
	bool all;
	bool prometheus;
	const char *output;
	const char *takes;	/* what stands behind the command, or NULL */
	const char *file;
};

/* "ADDRESS:PORT[,net6][,OPTION[=VALUE]]..." taken apart */
struct listen {
	char text[256];
	const char *family;
	const char *address;
	const char *port;
	const char *option[LISTEN_OPTIONS];	/* by listen_options[] */
};

/* Options of a listening socket, attributes of its directory. */
struct listen_option {
	const char *name;
	const char *otherwise;
	bool flag;		/* it has no value: it is 1 */
	unsigned int least;
	unsigned int most;
};

extern const struct listen_option listen_options[LISTEN_OPTIONS];

/* doctor.c */
int doctor(const struct options *opt);

/* config.c */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int put(const char *dir, const char *name, const char *value);
int put_bytes(const char *dir, const char *name, const char *value, size_t len);
int put_or_say(const char *dir, const char *name, const char *value);
ssize_t get(const char *dir, const char *name, char *buf, size_t size);
bool has(const char *dir, const char *name, const char *value);
int each_dir(const char *dir, int (*call)(const char *path, const char *name,
					  void *data), void *data);
ssize_t read_text(const char *path, char *text, size_t size);
int count_dirs(const char *dir);
int loaded(void);
int bad_name(const char *site);
void site_path(char *path, size_t size, const char *site);

/* site.c */
const char *find_ids(const char *user, const char *group, unsigned int *uid,
		     unsigned int *gid);
int split_listen(const char *spec, struct listen *listen);
bool wants_tls(const struct options *opt);
int make_listener(const char *site, int number, const struct listen *listen);
bool docroot_path(const char *name, char *path);
bool file_path(const char *name, char *path);
int set_site(const struct options *opt, const char *path);
int remove_dir(const char *path, const char *name, void *data);
int set_attribute(const char *dir, const char *spec);
bool was_taken(const char *dir, const char *name, const char *value,
	       size_t len);
int make_site(const struct options *opt, char *path, size_t size);
int enable_site(const char *path, const char *site);
int remove_site(const char *path, const char *name, void *data);
int serve(const struct options *opt);
int serve_one(const struct options *opt);
int stop(const struct options *opt);

/* file.c */
int check(const struct options *opt);

/* load.c */
int load(const struct options *opt);

/* import.c */
int import(int argc, char **argv);

/* save.c */
int save(const struct options *opt);

/* attach.c */
int attach(const struct options *opt);
/* @until_closed: a site that has to be made ends with its last server. */
int attach_site(const struct options *opt, bool until_closed);
int attach_more(const struct options *opt);
int detach(const struct options *opt);

/* status.c */
int status(const struct options *opt);
void print_json(const char *text, size_t len);
void print_json_text(const char *text);

/* tls.c */
void tls_tell(void);
long long tls_workers(void);
bool add_pem_line(struct options *opt, const char *name, const char *value);
const char *tls_fault(const char *path, char *certificate);
int tls(const struct options *opt);

/* top.c */
int top(const struct options *opt);

/* log.c */
int show_log(const struct options *opt);

#endif /* HTTPCTL_H */
