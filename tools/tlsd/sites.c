// SPDX-License-Identifier: GPL-2.0
/* Which certificate is for which site: configfs says where they are. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include "tlsd.h"

/* `ip netns exec` covers /sys with a new one, where configfs is not mounted. Return: 0, or -1,
 * which is said: a daemon that sees no site would refuse each handshake.
 */
int find_sites(void)
{
	struct stat st;

	if (!stat(CONFIG, &st) ||
	    (!mount("configfs", CONFIGFS, "configfs", 0, NULL) && !stat(CONFIG, &st)))
		return 0;
	say(CONFIG " is not there: configfs cannot be mounted on " CONFIGFS ": %s",
	    strerror(errno));
	return -1;
}

/* An attribute of a site, without its last newline. Return: its length, 0 also if there is none; -1
 * if it cannot be read.
 */
static int get(const char *site, const char *name, char *value, size_t size)
{
	char path[PATH_MAX];
	size_t len;
	FILE *file;

	*value = '\0';
	snprintf(path, sizeof(path), CONFIG "/%s/%s", site, name);
	file = fopen(path, "r");
	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	len = fread(value, 1, size - 1, file);
	fclose(file);
	if (len && value[len - 1] == '\n')
		len--;
	value[len] = '\0';
	return len;
}

/* Return: the site, if it has a certificate; NULL with *@err -1 if that cannot be known. */
static struct site *read_site(const char *name, int *err)
{
	struct site *site = calloc(1, sizeof(*site));
	char send_proxy[4];
	int len = -1;

	if (site) {
		strcpy(site->name, name);
		len = get(name, "certificate", site->certificate, PATH_MAX);
	}
	if (len > 0 && (get(name, "behind", site->behind, KHTTPD_NAME_SIZE) < 0 ||
			get(name, "key", site->key, PATH_MAX) < 0 ||
			get(name, "client_ca", site->client_ca, PATH_MAX) < 0 ||
			get(name, "send_proxy", send_proxy, sizeof(send_proxy)) < 0))
		len = -1;
	if (len > 0)
		site->send_proxy = *send_proxy == '1';
	if (len < 0)
		*err = -1;
	if (len <= 0) {
		free(site);
		return NULL;
	}
	return site;
}

/* All sites that have a certificate, in *@sites. Return: 0, or -1 if they cannot be read; errno
 * says why.
 */
int read_sites(struct site **sites)
{
	DIR *dir = opendir(CONFIG);
	struct dirent *entry;
	struct site *site;
	int err = 0;

	*sites = NULL;
	if (!dir)
		return -1;
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= KHTTPD_NAME_SIZE)
			continue;
		site = read_site(entry->d_name, &err);
		if (!site)
			continue;
		site->next = *sites;
		*sites = site;
	}
	if (err) {
		free_sites(*sites);
		*sites = NULL;
	}
	closedir(dir);
	return err;
}

void free_sites(struct site *sites)
{
	struct site *next;

	for (; sites; sites = next) {
		next = sites->next;
		SSL_CTX_free(sites->ctx);
		free(sites);
	}
}

/* FNV-1a */
static uint64_t mix(uint64_t mark, const void *data, size_t len)
{
	const unsigned char *byte = data;

	while (len--)
		mark = (mark ^ *byte++) * 0x100000001b3;
	return mark;
}

static uint64_t mix_file(uint64_t mark, const char *path)
{
	struct stat st = {};

	if (stat(path, &st))
		st.st_ino = 0;
	mark = mix(mark, path, strlen(path) + 1);
	mark = mix(mark, &st.st_dev, sizeof(st.st_dev));
	mark = mix(mark, &st.st_ino, sizeof(st.st_ino));
	mark = mix(mark, &st.st_size, sizeof(st.st_size));
	mark = mix(mark, &st.st_mtim, sizeof(st.st_mtim));
	return mix(mark, &st.st_ctim, sizeof(st.st_ctim));
}

static uint64_t mix_files(uint64_t mark, const char *lines)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; get_line(lines, i, path); i++)
		mark = mix_file(mark, path);
	/* Which one has it? */
	return mix(mark, "", 1);
}

/* Two that differ have another mark, for all practical purposes. */
uint64_t sites_mark(const struct site *sites)
{
	uint64_t mark = 0xcbf29ce484222325;

	for (; sites; sites = sites->next) {
		mark = mix(mark, sites->name, sizeof(sites->name));
		mark = mix(mark, sites->behind, sizeof(sites->behind));
		mark = mix_files(mark, sites->certificate);
		mark = mix_files(mark, sites->key);
		mark = mix_files(mark, sites->client_ca);
		mark = mix(mark, &sites->send_proxy, sizeof(sites->send_proxy));
	}
	return mark;
}

/* No terminal is there to ask for a password. */
static int no_password(char *text, int size, int rwflag, void *data)
{
	(void)text;
	(void)size;
	(void)rwflag;
	(void)data;
	return -1;
}

/* Clients of the site's listeners must have a certificate from one of its authorities. A session
 * that was begun before, or elsewhere, is not resumed: it may be of one who has none.
 */
static bool judge_clients(struct site *site)
{
	struct stack_st_X509_NAME *names = SSL_load_client_CA_file(site->client_ca);

	if (!names)
		return false;
	site->judged[0] = mix(0xcbf29ce484222325, site->name, sizeof(site->name));
	site->judged[1] = mix_file(site->judged[0], site->client_ca);
	SSL_CTX_set_client_CA_list(site->ctx, names);
	SSL_CTX_set_verify(site->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return SSL_CTX_load_verify_file(site->ctx, site->client_ca) == 1 &&
	       SSL_CTX_set_session_id_context(site->ctx, (const void *)site->judged,
					      sizeof(site->judged)) == 1;
}

/* All, with their keys; each takes the place of another one of its kind. The client says which
 * kinds it knows.
 */
static bool use_certificates(const struct site *site, char certificate[PATH_MAX],
			     char key[PATH_MAX])
{
	unsigned int i;

	for (i = 0; get_line(site->certificate, i, certificate); i++) {
		/* One file may have both. */
		if (!get_line(site->key, i, key))
			strcpy(key, certificate);
		if (SSL_CTX_use_certificate_chain_file(site->ctx, certificate) != 1 ||
		    SSL_CTX_use_PrivateKey_file(site->ctx, key, SSL_FILETYPE_PEM) != 1 ||
		    SSL_CTX_check_private_key(site->ctx) != 1)
			return false;
	}
	return true;
}

static bool prepare_site(struct site *site, const unsigned char *tickets, uint32_t ciphers)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	site->ctx = ctx;
	if (!ctx)
		return false;
	prepare_context(ctx, ciphers);
	SSL_CTX_set_default_passwd_cb(ctx, no_password);
	return SSL_CTX_set_tlsext_ticket_keys(ctx, (void *)tickets, TICKET_SIZE) == 1 &&
	       (!*site->client_ca || judge_clients(site));
}

/* @ciphers: KHTTPD_TLS_*. Return: how many are no good. */
int load_certificates(struct site *sites, const unsigned char *tickets, uint32_t ciphers)
{
	char certificate[PATH_MAX], key[PATH_MAX], why[256];
	int bad = 0;

	for (; sites; sites = sites->next) {
		if (prepare_site(sites, tickets, ciphers) &&
		    use_certificates(sites, certificate, key))
			continue;
		ERR_error_string_n(ERR_get_error(), why, sizeof(why));
		ERR_clear_error();
		say("site %s: %s, %s: %s", sites->name, certificate, key, why);
		SSL_CTX_free(sites->ctx);
		sites->ctx = NULL;
		bad++;
	}
	return bad;
}

const struct site *find_site(const struct site *sites, const char *name)
{
	while (sites && strcmp(sites->name, name))
		sites = sites->next;
	return sites;
}
