/* SPDX-License-Identifier: GPL-2.0 */
/* From the path of a request target to a name beneath a document root.
 * Pure: see pure.h.
 */
#ifndef _KHTTPD_PATH_H
#define _KHTTPD_PATH_H

#include "pure.h"

/* Longest normalised name, its NUL included. */
#define KHTTPD_PATH_MAX		1024
/* Longest file name (NAME_MAX). */
#define KHTTPD_NAME_MAX		255

enum khttpd_path_result {
	KHTTPD_PATH_OK,
	KHTTPD_PATH_BAD,	/* malformed or leaving the root: 400 */
	KHTTPD_PATH_NONE,	/* well-formed, but no file can have this name */
};

/**
 * struct khttpd_path - a normalised path
 * @name: relative to the root, no empty, "." or ".." parts, NUL-terminated;
 *	empty for the root itself
 * @len: length of @name
 * @dir: the path ended in "/", so a directory is meant
 */
struct khttpd_path {
	u16 len;
	bool dir;
	char name[KHTTPD_PATH_MAX];
};

enum khttpd_path_result khttpd_path_normalise(struct khttpd_path *path,
					      const u8 *in, size_t len);
size_t khttpd_path_encode(char *out, size_t size, const char *name,
			  size_t len);
bool khttpd_path_add_index(struct khttpd_path *path, const char *index);

#endif /* _KHTTPD_PATH_H */
