// SPDX-License-Identifier: GPL-2.0
/* khttpdctl: start, attach, watch and stop the web server in the kernel. All
 * it does is to write the configfs tree and, for attaching, to borrow another
 * process's listening sockets and name them to /dev/khttpd.
 */
#include "httpctl.h"

static int usage(FILE *to)
{
	fputs("usage: khttpdctl COMMAND [OPTION...]\n"
	      "\n"
	      "  serve   --docroot DIR --listen ADDRESS:PORT[,net6][,OPTION]...\n"
	      "          [--certificate PEM [--key PEM]]...\n"
	      "          [--site NAME] [--index FILE] [--user USER]\n"
	      "          [--set ATTRIBUTE=VALUE | --set ATTRIBUTE=@FILE]...\n"
	      "  attach  --pid PID --port PORT --docroot DIR\n"
	      "          [--site NAME] [--index FILE] [--user USER] [--set ...]\n"
	      "  attach  [--pid PID] --fd NUMBER --docroot DIR [...]\n"
	      "  detach  [--site NAME]\n"
	      "  load    FILE\n"
	      "  check   FILE\n"
	      "  save\n"
	      "  import  nginx [FILE | -T OUTPUT] [--output FILE] [--types FILE]\n"
	      "  status  [-j | --prometheus]\n"
	      "  top     [--interval SECONDS] [--count NUMBER]\n"
	      "  log     [-j] [--output FILE [--rotate BYTES [--keep NUMBER]]]\n"
	      "  tls     status [-j] | reload\n"
	      "  stop    [--site NAME | --all]\n"
	      "  doctor  [-j]\n"
	      "  --help, --version\n"
	      "\n"
	      "NAME is \"default\" if not given, FILE index.html, USER nobody.\n"
	      "IPv6 addresses stand in brackets. See khttpdctl(8).\n", to);
	return to == stderr ? 2 : 0;
}

static int number(const char *text, int min, int max, const char *what,
		  int *result)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text && !*end && value >= min && value <= max) {
		*result = value;
		return 0;
	}
	say("'%s' is no %s", text, what);
	return -1;
}

/* "4096", "64K", "100M" or "1G" */
static int size(const char *text, long long *result)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	*result = strtoll(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (*result > 0 && *result < 1LL << 30 &&
	    (!*end || (unit && !end[1]))) {
		if (unit)
			*result <<= 10 * (unit - units + 1);
		return 0;
	}
	say("'%s' is no number of bytes", text);
	return -1;
}

/* The options that are numbers. */
static int parse_number(struct options *opt, int option)
{
	switch (option) {
	case 'p':
		return number(optarg, 1, INT_MAX, "process id", &opt->pid);
	case 'P':
		return number(optarg, 1, 65535, "port", &opt->port);
	case 'f':
		return number(optarg, 0, INT_MAX, "descriptor", &opt->fd);
	case 'I':
		return number(optarg, 1, 3600, "interval", &opt->interval);
	case 'c':
		return number(optarg, 1, INT_MAX, "count", &opt->count);
	case 'k':
		return number(optarg, 1, 10000, "number of files", &opt->keep);
	case 'r':
		return size(optarg, &opt->rotate);
	default:
		usage(stderr);
		return -1;
	}
}

static int add_set(struct options *opt, const char *text)
{
	if (opt->sets == SETS_MAX) {
		say("more than %d settings", SETS_MAX);
		return -1;
	}
	opt->set[opt->sets++] = text;
	return 0;
}

/* A file that khttpd-tlsd will read, which has another working directory. */
static int add_pem(struct options *opt, const char *name)
{
	char path[PATH_MAX], *text;

	if (!file_path(optarg, path) || access(path, R_OK)) {
		say("%s: %s", optarg, strerror(errno));
		return -1;
	}
	if (add_pem_line(opt, name, path))
		return 0;
	if (asprintf(&text, "%s=%s", name, path) < 0)
		return -1;
	return add_set(opt, text);
}

static int parse(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "site", required_argument, NULL, 's' },
		{ "docroot", required_argument, NULL, 'd' },
		{ "index", required_argument, NULL, 'i' },
		{ "user", required_argument, NULL, 'u' },
		{ "listen", required_argument, NULL, 'l' },
		{ "certificate", required_argument, NULL, 'C' },
		{ "key", required_argument, NULL, 'K' },
		{ "set", required_argument, NULL, 'S' },
		{ "pid", required_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'P' },
		{ "json", no_argument, NULL, 'j' },
		{ "all", no_argument, NULL, 'a' },
		{ "prometheus", no_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "fd", required_argument, NULL, 'f' },
		{ "interval", required_argument, NULL, 'I' },
		{ "count", required_argument, NULL, 'c' },
		{ "rotate", required_argument, NULL, 'r' },
		{ "keep", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "jh", longs, NULL)) != -1) {
		switch (option) {
		case 's':
			opt->site = optarg;
			break;
		case 'd':
			opt->docroot = optarg;
			break;
		case 'i':
			opt->index = optarg;
			break;
		case 'u':
			opt->user = optarg;
			break;
		case 'l':
			if (opt->listens == LISTENERS_MAX) {
				say("more than %d listeners", LISTENERS_MAX);
				return -1;
			}
			opt->listen[opt->listens++] = optarg;
			break;
		case 'S':
			if (add_set(opt, optarg))
				return -1;
			break;
		case 'C':
		case 'K':
			if (add_pem(opt, option == 'C' ? "certificate" : "key"))
				return -1;
			break;
		case 'j':
			opt->json = true;
			break;
		case 'a':
			opt->all = true;
			break;
		case 'm':
			opt->prometheus = true;
			break;
		case 'o':
			opt->output = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			if (parse_number(opt, option))
				return -1;
		}
	}
	if (opt->takes) {
		opt->file = argv[optind];
		if (!opt->file) {
			say("no %s given", opt->takes);
			return -1;
		}
		optind++;
	}
	if (optind < argc) {
		say("'%s' was not expected", argv[optind]);
		return -1;
	}
	return bad_name(opt->site);
}

static const struct command {
	const char *name;
	int (*run)(const struct options *opt);
	const char *takes;
	bool needs_nothing;
} commands[] = {
	{ "load", load, "FILE", true },
	{ "check", check, "FILE", true },
	{ "doctor", doctor, NULL, true },
	{ "save", save, NULL, false },
	{ "serve", serve_one, NULL, false },
	{ "attach", attach, NULL, false },
	{ "detach", detach, NULL, false },
	{ "status", status, NULL, false },
	{ "tls", tls, "status or reload", false },
	{ "top", top, NULL, false },
	{ "stop", stop, NULL, false },
	{ "log", show_log, NULL, false },
};

int main(int argc, char **argv)
{
	struct options opt = { .site = "default", .fd = -1 };
	size_t i;

	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("khttpdctl " NET6_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "import"))
		return import(argc - 1, argv + 1);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[1]))
			continue;
		opt.takes = commands[i].takes;
		if (parse(&opt, argc - 1, argv + 1))
			return 2;
		if (!commands[i].needs_nothing && loaded())
			return 1;
		return commands[i].run(&opt) ? 1 : 0;
	}
	say("unknown command '%s'", argv[1]);
	return usage(stderr);
}
