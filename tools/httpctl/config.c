// SPDX-License-Identifier: GPL-2.0
/* Attributes and directories of configfs, read and written. */
#include "httpctl.h"

void say(const char *format, ...)
{
	va_list args;

	fputs("khttpdctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Write one attribute. The errno of a failure is explained by the caller. */
int put_bytes(const char *dir, const char *name, const char *value,
	      size_t len)
{
	char path[PATH_MAX];
	ssize_t done;
	int fd, error;

	/* The kernel would take the first part of it for all. */
	if (len > TEXT_MAX && strcmp(name, "types")) {
		errno = EFBIG;
		return -1;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	done = write(fd, value, len);
	error = errno;
	close(fd);
	errno = error;
	return done == (ssize_t)len ? 0 : -1;
}

int put(const char *dir, const char *name, const char *value)
{
	/* Nothing at all would not reach the kernel. */
	return *value ? put_bytes(dir, name, value, strlen(value)) :
			put_bytes(dir, name, "\n", 1);
}

int put_or_say(const char *dir, const char *name, const char *value)
{
	if (!put(dir, name, value))
		return 0;
	say("%s/%s: cannot set to '%s': %s", dir, name, value, strerror(errno));
	return -1;
}

/* Read one attribute into @buf, without its newline. Return: length or -1. */
ssize_t get(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return -1;
	if (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return len;
}

/* Is @value what the attribute has? */
bool has(const char *dir, const char *name, const char *value)
{
	char now[PATH_MAX + 1];

	return get(dir, name, now, sizeof(now)) >= 0 && !strcmp(now, value);
}

/* Call @call for each directory in @dir, the last made first. */
int each_dir(const char *dir, int (*call)(const char *path,
					  const char *name, void *data),
	     void *data)
{
	struct dirent **entries;
	char path[PATH_MAX];
	struct stat st;
	int n, i, err = 0;

	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		return -1;
	for (i = n - 1; i >= 0; i--) {
		const char *name = entries[i]->d_name;

		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (name[0] != '.' && !stat(path, &st) && S_ISDIR(st.st_mode) &&
		    call(path, name, data))
			err = -1;
		free(entries[i]);
	}
	free(entries);
	return err;
}

/* Read a file, up to @size bytes. Return: how many, or -1 and errno. */
ssize_t read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	ssize_t len;

	if (!file)
		return -1;
	len = fread(text, 1, size, file);
	if (ferror(file))
		len = -1;
	fclose(file);
	return len;
}

static int count_dir(const char *path, const char *name, void *data)
{
	(void)path;
	(void)name;
	++*(int *)data;
	return 0;
}

/* How many directories are in @dir? */
int count_dirs(const char *dir)
{
	int count = 0;

	each_dir(dir, count_dir, &count);
	return count;
}

/* `ip netns exec` covers /sys with a new one, where configfs is not mounted. */
int loaded(void)
{
	if (!access(ROOT, F_OK))
		return 0;
	if (!mount("configfs", CONFIG, "configfs", 0, NULL) && !access(ROOT, F_OK))
		return 0;
	say(access(CONFIG, F_OK) ? "configfs is not there (modprobe configfs)" :
	    "khttpd is not loaded, or configfs not mounted on " CONFIG);
	return -1;
}

int bad_name(const char *site)
{
	if (*site && *site != '.' && !strchr(site, '/') &&
	    strlen(site) < KHTTPD_NAME_SIZE)
		return 0;
	say("'%s' cannot be a site's name", site);
	return -1;
}

void site_path(char *path, size_t size, const char *site)
{
	snprintf(path, size, ROOT "/%s", site);
}
