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
	      "  serve   --docroot DIR --listen ADDRESS:PORT[,net6]...\n"
	      "          [--site NAME] [--index FILE] [--user USER]\n"
	      "          [--set ATTRIBUTE=VALUE | --set ATTRIBUTE=@FILE]...\n"
	      "  attach  --pid PID --port PORT --docroot DIR\n"
	      "          [--site NAME] [--index FILE] [--user USER] [--set ...]\n"
	      "  detach  [--site NAME]\n"
	      "  load    FILE\n"
	      "  check   FILE\n"
	      "  save\n"
	      "  status  [-j | --prometheus]\n"
	      "  log     [-j] [--output FILE]\n"
	      "  stop    [--site NAME | --all]\n"
	      "\n"
	      "NAME is \"default\" if not given, FILE index.html, USER nobody.\n"
	      "IPv6 addresses stand in brackets. See khttpdctl(8).\n", to);
	return to == stderr ? 2 : 0;
}

static int number(const char *text, int max, const char *what, int *result)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*text && !*end && value > 0 && value <= max) {
		*result = value;
		return 0;
	}
	say("'%s' is no %s", text, what);
	return -1;
}

static int parse(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "site", required_argument, NULL, 's' },
		{ "docroot", required_argument, NULL, 'd' },
		{ "index", required_argument, NULL, 'i' },
		{ "user", required_argument, NULL, 'u' },
		{ "listen", required_argument, NULL, 'l' },
		{ "set", required_argument, NULL, 'S' },
		{ "pid", required_argument, NULL, 'p' },
		{ "port", required_argument, NULL, 'P' },
		{ "json", no_argument, NULL, 'j' },
		{ "all", no_argument, NULL, 'a' },
		{ "prometheus", no_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "j", longs, NULL)) != -1) {
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
			if (opt->sets == SETS_MAX) {
				say("more than %d settings", SETS_MAX);
				return -1;
			}
			opt->set[opt->sets++] = optarg;
			break;
		case 'p':
			if (number(optarg, INT_MAX, "process id", &opt->pid))
				return -1;
			break;
		case 'P':
			if (number(optarg, 65535, "port", &opt->port))
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
		default:
			usage(stderr);
			return -1;
		}
	}
	if (opt->takes_file) {
		opt->file = argv[optind];
		if (!opt->file) {
			say("no FILE given");
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
	bool takes_file;
	bool needs_nothing;
} commands[] = {
	{ "load", load, true, true },
	{ "check", check, true, true },
	{ "save", save, false, false },
	{ "serve", serve, false, false },
	{ "attach", attach, false, false },
	{ "detach", detach, false, false },
	{ "status", status, false, false },
	{ "stop", stop, false, false },
	{ "log", show_log, false, false },
};

int main(int argc, char **argv)
{
	struct options opt = { .site = "default" };
	size_t i;

	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return usage(stdout);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[1]))
			continue;
		opt.takes_file = commands[i].takes_file;
		if (parse(&opt, argc - 1, argv + 1))
			return 2;
		if (!commands[i].needs_nothing && loaded())
			return 1;
		return commands[i].run(&opt) ? 1 : 0;
	}
	say("unknown command '%s'", argv[1]);
	return usage(stderr);
}
