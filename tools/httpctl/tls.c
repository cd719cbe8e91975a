// SPDX-License-Identifier: GPL-2.0
/* HTTPS: who does handshakes, how they went, how long certificates are good; and having
 * khttpd-tlsd read them, again or for the first time.
 */
#include "httpctl.h"
#include <signal.h>
#include <time.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#define DAEMON	"khttpd-tlsd"
#define DAY	(24 * 60 * 60)
/* How long the daemon may take to read all certificates, in ms. */
#define TELL	20000

/* What is said of all certificates. */
struct report {
	bool json;
	int count;
	int bad;
};

/* A site's certificate. */
struct pem {
	char certificate[PATH_MAX];
	char key[PATH_MAX];
	X509 *x509;
	const char *why;	/* it is no good, or NULL */
};

/* A site may have several certificates: one more line in the attribute. Return: false if this is
 * the first, or another attribute.
 */
bool add_pem_line(struct options *opt, const char *name, const char *path)
{
	size_t len = strlen(name);
	char *lines;
	int i;

	if (!*path || (strcmp(name, "certificate") && strcmp(name, "key")))
		return false;
	for (i = 0; i < opt->sets; i++) {
		if (strncmp(opt->set[i], name, len) || strncmp(opt->set[i] + len, "=/", 2))
			continue;
		if (asprintf(&lines, "%s\n%s", opt->set[i], path) < 0)
			exit(1);
		opt->set[i] = lines;
		return true;
	}
	return false;
}

static long long counter(const char *stats, const char *name)
{
	size_t len = strlen(name);
	const char *line;

	for (line = stats; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtoll(line + len, NULL, 10);
	}
	return 0;
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

/* As khttpd-tlsd will find it. */
static const char *judge_key(const struct pem *pem)
{
	FILE *file = fopen(pem->key, "r");
	const char *why = NULL;
	EVP_PKEY *key;

	if (!file)
		return "its key cannot be opened";
	key = PEM_read_PrivateKey(file, NULL, no_password, NULL);
	fclose(file);
	if (!key)
		why = "there is no key that can be read";
	else if (X509_check_private_key(pem->x509, key) != 1)
		why = "the key is another certificate's";
	EVP_PKEY_free(key);
	return why;
}

/* Return: false if the site has no certificate of that number. The caller frees pem->x509. */
static bool read_pem(const char *site, unsigned int number, struct pem *pem)
{
	char authorities[PATH_MAX], lines[PATH_MAX];
	FILE *file;

	memset(pem, 0, sizeof(*pem));
	if (get(site, "certificate", lines, PATH_MAX) <= 0 ||
	    !get_line(lines, number, pem->certificate))
		return false;
	if (get(site, "key", lines, PATH_MAX) <= 0 || !get_line(lines, number, pem->key))
		strcpy(pem->key, pem->certificate);
	file = fopen(pem->certificate, "r");
	if (!file) {
		pem->why = strerror(errno);
		return true;
	}
	pem->x509 = PEM_read_X509(file, NULL, no_password, NULL);
	fclose(file);
	pem->why = pem->x509 ? judge_key(pem) : "it is no certificate";
	if (!pem->why && get(site, "client_ca", authorities, PATH_MAX) > 0 &&
	    access(authorities, R_OK))
		pem->why = "its client_ca cannot be read";
	return true;
}

static bool ends(const X509 *x509, time_t *end)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(X509_get0_notAfter(x509), &tm) != 1)
		return false;
	*end = timegm(&tm);
	return true;
}

/* What is in a certificate may be any bytes. */
static void print_name(const char *name, int len, bool json)
{
	int i;

	if (json) {
		print_json(name, len);
		return;
	}
	for (i = 0; i < len; i++)
		putchar(name[i] > ' ' && name[i] <= '~' ? name[i] : '?');
}

/* RFC 6125: the names that count are those of the extension. */
static void print_names(const X509 *x509, bool json)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(x509, NID_subject_alt_name, NULL, NULL);
	int i, n = 0;

	for (i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type != GEN_DNS)
			continue;
		if (n++)
			fputs(json ? "," : " ", stdout);
		print_name((const char *)ASN1_STRING_get0_data(name->d.dNSName),
			   ASN1_STRING_length(name->d.dNSName), json);
	}
	GENERAL_NAMES_free(names);
}

static void print_end(time_t end)
{
	long long left = (long long)end - time(NULL);
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%d %H:%M", gmtime(&end));
	if (left < 0)
		printf("  ended at %s UTC\n", text);
	else
		printf("  until %s UTC, %lld day%s\n", text, left / DAY,
		       left / DAY == 1 ? "" : "s");
}

static void print_site(const char *name, const struct pem *pem)
{
	time_t end;

	printf("site %s: %s\n", name, pem->certificate);
	if (pem->x509) {
		fputs("  names ", stdout);
		print_names(pem->x509, false);
		putchar('\n');
		if (ends(pem->x509, &end))
			print_end(end);
	}
	if (pem->why)
		printf("  no good: %s\n", pem->why);
}

static void print_site_json(const char *name, const struct pem *pem, bool first)
{
	time_t end;

	printf("%s{\"name\":", first ? "" : ",");
	print_json(name, strlen(name));
	printf(",\"certificate\":");
	print_json(pem->certificate, strlen(pem->certificate));
	if (pem->x509) {
		printf(",\"names\":[");
		print_names(pem->x509, true);
		putchar(']');
		if (ends(pem->x509, &end))
			printf(",\"until\":%lld", (long long)end);
	}
	if (pem->why) {
		printf(",\"error\":");
		print_json(pem->why, strlen(pem->why));
	}
	putchar('}');
}

static int report_site(const char *path, const char *name, void *data)
{
	struct report *report = data;
	struct pem pem;
	unsigned int i;

	for (i = 0; read_pem(path, i, &pem); i++) {
		if (report->json)
			print_site_json(name, &pem, !report->count);
		else
			print_site(name, &pem);
		report->count++;
		X509_free(pem.x509);
	}
	return 0;
}

/* Return: how many processes do handshakes. */
long long tls_workers(void)
{
	static char stats[8192];

	return get(ROOT, "stats", stats, sizeof(stats)) < 0 ? 0 : counter(stats, "tls_daemons");
}

/* Return: what is wrong with a certificate of the site at @path, whose name is in @certificate
 * then; NULL if nothing is, or it has none.
 */
const char *tls_fault(const char *path, char *certificate)
{
	struct pem pem = {};
	unsigned int i;

	for (i = 0; !pem.why && read_pem(path, i, &pem); i++) {
		X509_free(pem.x509);
		strcpy(certificate, pem.certificate);
	}
	return pem.why;
}

static int tls_status(const struct options *opt)
{
	struct report report = { .json = opt->json };
	static char stats[8192];
	long long value[5];
	size_t i;
	static const char *const names[] = {
		"tls_daemons", "tls_done", "tls_failed", "tls_lost", "tls_pending",
	};

	if (get(ROOT, "stats", stats, sizeof(stats)) < 0) {
		say(ROOT "/stats: %s", strerror(errno));
		return -1;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		value[i] = counter(stats, names[i]);
	if (opt->json)
		printf("{\"workers\":%lld,\"done\":%lld,\"failed\":%lld,\"lost\":%lld,"
		       "\"waiting\":%lld,\"sites\":[", value[0], value[1], value[2],
		       value[3], value[4]);
	else
		printf("workers: %lld\nhandshakes: %lld done, %lld failed, %lld lost, "
		       "%lld waiting\n", value[0], value[1], value[2], value[3], value[4]);
	each_dir(ROOT, report_site, &report);
	if (opt->json)
		puts("]}");
	else if (report.count && !value[0])
		puts(DAEMON " does not run: connections to listeners with tls are closed");
	return 0;
}

static int judge_site(const char *path, const char *name, void *data)
{
	struct report *report = data;
	char certificate[PATH_MAX];
	const char *why = tls_fault(path, certificate);

	if (why) {
		say("site %s: %s: %s", name, certificate, why);
		report->bad++;
	}
	return 0;
}

/* "PID (NAME) STATE PARENT ..." Return: the parent of a process of root's that has the daemon's
 * name, 0 if it is in another namespace of processes; -1 for another one.
 */
static int parent_of(int pid)
{
	char path[32], text[256];
	struct stat st;
	int parent = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	len = read_text(path, text, sizeof(text) - 1);
	if (len < 0 || stat(path, &st) || st.st_uid)
		return -1;
	text[len] = '\0';
	return sscanf(text, "%*d (" DAEMON ") %*c %d", &parent) == 1 ? parent : -1;
}

/* Those that are not a worker's. Return: 1 if it was told. */
static int tell(int pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0), parent, told = 0;

	if (fd < 0)
		return 0;
	/* Afterwards: the descriptor stays that process's, whoever gets the number. */
	parent = parent_of(pid);
	if (parent >= 0 && parent_of(parent) < 0)
		told = !syscall(SYS_pidfd_send_signal, fd, SIGHUP, NULL, 0);
	close(fd);
	return told;
}

/* Return: -1 if one is no good, which is said. */
static int judge_sites(void)
{
	struct report report = {};

	each_dir(ROOT, judge_site, &report);
	return report.bad ? -1 : 0;
}

/* Return: 0 when the daemon, if there is one, knows the certificates of all sites. */
static int tell_and_wait(void)
{
	int device = open("/dev/khttpd", O_RDWR | O_CLOEXEC), err;
	__u32 timeout = TELL;

	if (device < 0)
		return 0;
	err = ioctl(device, KHTTPD_IOC_TLS_ASK, &timeout) ? errno : 0;
	close(device);
	if (err == ETIME)
		say(DAEMON " has not read the certificates in time");
	else if (err == EKEYREJECTED && !judge_sites())
		say(DAEMON " could not read the certificates");
	return err == ETIME || err == EKEYREJECTED ? -1 : 0;
}

/* There is a new certificate. What is wrong with it is said, and is no reason to do nothing. */
void tls_tell(void)
{
	tell_and_wait();
}

static int tls_reload(void)
{
	struct dirent *entry;
	DIR *proc;
	int n = 0;

	if (judge_sites())
		return -1;
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		if (atoi(entry->d_name) > 0)
			n += tell(atoi(entry->d_name));
	}
	if (proc)
		closedir(proc);
	if (n)
		return tell_and_wait();
	say(DAEMON " does not run");
	return -1;
}

/* "tls status" and "tls reload" */
int tls(const struct options *opt)
{
	if (!strcmp(opt->file, "status"))
		return tls_status(opt);
	if (!strcmp(opt->file, "reload"))
		return tls_reload();
	say("'%s' is neither status nor reload", opt->file);
	return -1;
}
