/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of khttpd-tlsd share. Its parent, root, has no key in memory and talks to
 * nobody. Its workers have the keys, are nobody, and talk to strangers.
 */
#ifndef TLSD_H
#define TLSD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <openssl/ssl.h>
#include <linux/khttpd.h>
#include "../lib/lines.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define CONFIGFS	"/sys/kernel/config"
#define CONFIG	CONFIGFS "/khttpd"
#define DEVICE	"/dev/khttpd"
/* Keys of session tickets, the same for all workers: OpenSSL's format. */
#define TICKET_SIZE	80
/* Exit status of a worker whose certificates are no good. */
#define EXIT_CERTIFICATES	3

/* A site with a certificate. */
struct site {
	struct site *next;
	char name[KHTTPD_NAME_SIZE];
	char behind[KHTTPD_NAME_SIZE];
	char certificate[PATH_MAX];	/* a path a line, of keys of several kinds */
	char key[PATH_MAX];		/* likewise, in the same order */
	char client_ca[PATH_MAX];
	bool send_proxy;		/* a server behind is told of TLS */
	uint64_t judged[2];		/* sessions whose clients it has let in */
	SSL_CTX *ctx;
};

/* A handshake. */
struct shake {
	struct shake *prev;		/* in the order of their deadlines */
	struct shake *next;
	int fd;
	uint32_t id;
	uint32_t events;		/* what is waited for */
	int64_t deadline;		/* ms */
	SSL *ssl;
	bool last;			/* our last message is written */
	const struct site *sites;
	const struct site *site;	/* its listener's */
	unsigned char secret[EVP_MAX_MD_SIZE];	/* of what the client sends, TLS 1.3 */
	size_t secret_len;
};

/* main.c */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* sites.c */
int find_sites(void);
int read_sites(struct site **sites);
void free_sites(struct site *sites);
uint64_t sites_mark(const struct site *sites);
int load_certificates(struct site *sites, const unsigned char *tickets, uint32_t ciphers);
const struct site *find_site(const struct site *sites, const char *name);

/* watch.c */
const char *watch_sites(const struct site *sites, int *inotify);

/* shake.c */
void prepare_context(SSL_CTX *ctx, uint32_t ciphers);
int begin_shake(struct shake *shake);
int continue_shake(struct shake *shake);
void end_shake(struct shake *shake);

/* receive.c */
void note_secret(const SSL *ssl, const char *line);
int receive_by_kernel(const struct shake *shake);

/* told.c */
size_t tell(const struct shake *shake, unsigned char value[KHTTPD_TLS_SAYS_MAX]);

/* sandbox.c */
int enter_sandbox(void);

/* worker.c */
int work(const struct site *sites, int device, int alive);

#endif /* TLSD_H */
