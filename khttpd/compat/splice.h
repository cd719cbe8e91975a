/* SPDX-License-Identifier: GPL-2.0 */
/* Giving pages to a socket by reference: sendpage until 6.4, MSG_SPLICE_PAGES
 * from 6.5 on. Ends with the last kernel below 6.5.
 */
#ifndef _KHTTPD_COMPAT_SPLICE_H
#define _KHTTPD_COMPAT_SPLICE_H

#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
/* One lock for all pages where the family has a call for it. */
static inline int khttpd_splice_pages(struct socket *sock, struct bio_vec *vec,
				      unsigned int vecs, int flags)
{
	int (*locked)(struct sock *sk, struct page *page, int offset,
		      size_t size, int flags) = sock->ops->sendpage_locked;
	int len = 0, err = 0;
	unsigned int i;

	if (locked)
		lock_sock(sock->sk);
	for (i = 0; i < vecs; i++) {
		int more = i + 1 < vecs ? MSG_MORE | MSG_SENDPAGE_NOTLAST : 0;

		if (locked)
			err = locked(sock->sk, vec[i].bv_page, vec[i].bv_offset,
				     vec[i].bv_len, flags | more);
		else
			err = kernel_sendpage(sock, vec[i].bv_page,
					      vec[i].bv_offset, vec[i].bv_len,
					      flags | more);
		if (err < 0)
			break;
		len += err;
		if (err < vec[i].bv_len)
			break;
	}
	if (locked)
		release_sock(sock->sk);
	return len ? len : err;
}
#else
static inline int khttpd_splice_pages(struct socket *sock, struct bio_vec *vec,
				      unsigned int vecs, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < vecs; i++)
		len += vec[i].bv_len;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, vec, vecs, len);
	return sock_sendmsg(sock, &msg);
}
#endif

#endif /* _KHTTPD_COMPAT_SPLICE_H */
