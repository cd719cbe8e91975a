/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* A server behind khttpd gives a connection back, to have a file sent: libkhttpd-giveback. It has
 * read the head of a request and decided what the client gets. All calls are made by one thread,
 * and nobody else uses the connection: no other descriptor, no epoll. Documentation/khttpd.rst,
 * "Giving back".
 */
#ifndef KHTTPD_GIVEBACK_H
#define KHTTPD_GIVEBACK_H

#include <sys/types.h>

/* Read the head of a request, and nothing behind it. What a trusted proxy says comes first and
 * belongs to it (proxy_protocol of the site): all of it is to be given back. The connection blocks,
 * or the head is there already. Return: its length, its empty line included; 0 if there is none any
 * more; -1, with errno EMSGSIZE if it is longer than @size.
 */
ssize_t khttpd_giveback_read(int connection, char *head, size_t size);

/* Have a head answered: GET or HEAD, without content. The answer may be any, 404 included; khttpd
 * goes on with the connection. @listener is the socket from which it was accepted. Return: 0, and
 * @connection is closed; -1 with errno, see <linux/khttpd.h>.
 */
int khttpd_giveback_head(int listener, int connection, const char *head, size_t len);

/* The same for another path than the head has: one below the site's document root, that begins
 * with "/". It is encoded here. All else in the head counts: method, conditions, ranges.
 */
int khttpd_giveback_file(int listener, int connection, const char *head, size_t len,
			 const char *path);

#endif /* KHTTPD_GIVEBACK_H */
