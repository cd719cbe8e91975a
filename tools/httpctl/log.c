// SPDX-License-Identifier: GPL-2.0
/* The access log: records of /dev/khttpd_log as lines, in Combined format or as JSON. Their file
 * is opened anew on SIGHUP, for those who rotate it, or is rotated here when it is long.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <time.h>
#include "httpctl.h"

#define LOG_DEVICE	"/dev/khttpd_log"
#define LOG_BUFFER	(256 * 1024)
/* Rotated files that are kept, if nobody says how many. */
#define KEEP		7

static volatile sig_atomic_t reopen, finish;
static int log_fd;

static void on_hangup(int sig)
{
	(void)sig;
	reopen = 1;
}

static void on_end(int sig)
{
	(void)sig;
	finish = 1;
	/* A read that is only about to begin does not wait either. */
	fcntl(log_fd, F_SETFL, O_NONBLOCK);
}

/* A text of the client's: nothing in it can end the field or the line, or speak
 * to a terminal.
 */
static void print_escaped(const char *text, size_t len)
{
	size_t i;

	if (!len)
		putchar('-');
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
			printf("\\x%02X", c);
		else
			putchar(c);
	}
}

static void format_address(const struct khttpd_log_record *record, char *text,
			   size_t size)
{
	static const unsigned char mapped[12] = {
		[10] = 0xff, [11] = 0xff,
	};

	if (!memcmp(record->address, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, record->address + 12, text, size);
	else
		inet_ntop(AF_INET6, record->address, text, size);
}

/* The texts of a record, in their order. Return: false if it is cut. */
static bool find_texts(const struct khttpd_log_record *record,
		       const char *text[6])
{
	const __u16 *len = &record->site_len;
	const char *at = record->text;
	int i;

	for (i = 0; i < 6; i++) {
		text[i] = at;
		at += len[i];
	}
	return at <= (const char *)record + record->size;
}

/* Host, site and the rest are not part of the format; JSON has them. */
static void print_combined(const struct khttpd_log_record *record,
			   const char *address, const char *text[6])
{
	time_t second = record->time / 1000000000;
	char when[64];

	strftime(when, sizeof(when), "%d/%b/%Y:%H:%M:%S %z", localtime(&second));
	printf("%s - - [%s] \"", address, when);
	if (record->method_len) {
		print_escaped(text[2], record->method_len);
		putchar(' ');
		print_escaped(text[3], record->target_len);
		printf(" HTTP/1.%u", record->minor);
	} else {
		putchar('-');
	}
	printf("\" %u %llu \"", record->status,
	       (unsigned long long)record->bytes);
	print_escaped(text[4], record->referer_len);
	printf("\" \"");
	print_escaped(text[5], record->agent_len);
	printf("\"\n");
}

static void print_record_json(const struct khttpd_log_record *record,
			      const char *address, const char *text[6])
{
	static const char * const names[6] = {
		"site", "host", "method", "target", "referer", "agent",
	};
	const __u16 *len = &record->site_len;
	int i;

	printf("{\"time\":%llu.%09llu,\"address\":\"%s\",\"port\":%u,"
	       "\"status\":%u,\"bytes\":%llu,\"minor\":%u",
	       (unsigned long long)record->time / 1000000000,
	       (unsigned long long)record->time % 1000000000, address,
	       record->port, record->status, (unsigned long long)record->bytes,
	       record->minor);
	for (i = 0; i < 6; i++) {
		printf(",\"%s\":", names[i]);
		print_json(text[i], len[i]);
	}
	printf("}\n");
}

static void print_records(const char *at, const char *end, bool json)
{
	while (at < end) {
		const struct khttpd_log_record *record = (const void *)at;
		const char *text[6];
		char address[64];

		at += record->size;
		if (!find_texts(record, text))
			continue;
		format_address(record, address, sizeof(address));
		if (json)
			print_record_json(record, address, text);
		else
			print_combined(record, address, text);
	}
	fflush(stdout);
}

static int open_output(const char *output)
{
	if (!output || freopen(output, "a", stdout))
		return 0;
	say("%s: %s", output, strerror(errno));
	return -1;
}

/* FILE becomes FILE.1, FILE.1 becomes FILE.2 and so on; the last one goes. */
static int rotate(const struct options *opt)
{
	char from[PATH_MAX], to[PATH_MAX];
	int i;

	for (i = opt->keep ? opt->keep : KEEP; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%d", opt->output, i);
		if (i == 1)
			snprintf(from, sizeof(from), "%s", opt->output);
		else
			snprintf(from, sizeof(from), "%s.%d", opt->output, i - 1);
		if (rename(from, to) && errno != ENOENT) {
			say("%s: %s", to, strerror(errno));
			return -1;
		}
	}
	return open_output(opt->output);
}

/* Is it time to? */
static bool is_long(const struct options *opt)
{
	struct stat st;

	return opt->rotate && !fstat(STDOUT_FILENO, &st) &&
	       st.st_size >= opt->rotate;
}

int show_log(const struct options *opt)
{
	static char buffer[LOG_BUFFER] __attribute__((aligned(8)));
	struct sigaction hangup = { .sa_handler = on_hangup };
	struct sigaction end = { .sa_handler = on_end };
	ssize_t len;
	int fd;

	if (opt->rotate && !opt->output) {
		say("--rotate needs --output");
		return -1;
	}
	fd = open(LOG_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		say(LOG_DEVICE ": %s", errno == EBUSY ?
		    "somebody reads the log already" : strerror(errno));
		return -1;
	}
	log_fd = fd;
	sigaction(SIGHUP, &hangup, NULL);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (open_output(opt->output))
		return -1;
	for (;;) {
		len = read(fd, buffer, sizeof(buffer));
		if (len < 0 && errno != EINTR && errno != EAGAIN) {
			say(LOG_DEVICE ": %s", strerror(errno));
			return -1;
		}
		if (len > 0)
			print_records(buffer, buffer + len, opt->json);
		if (finish)
			break;
		if (reopen && open_output(opt->output))
			return -1;
		reopen = 0;
		if (is_long(opt) && rotate(opt))
			return -1;
	}
	/* What came until the end. */
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		print_records(buffer, buffer + len, opt->json);
	close(fd);
	return 0;
}
