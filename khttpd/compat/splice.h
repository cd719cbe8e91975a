/* SPDX-License-Identifier: GPL-2.0 */
/* Giving pages to a socket by reference: the iterator's call of MSG_ZEROCOPY or
 * sendpage until 6.4, MSG_SPLICE_PAGES from 6.5 on. Ends with the last kernel below 6.5.
 */
#ifndef _KHTTPD_COMPAT_SPLICE_H
#define _KHTTPD_COMPAT_SPLICE_H

#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
/* TCP has this take pages out of the iterator: as many as @skb has room for, each with a
 * reference of its own. Like sendpage, it charges what is sent of a page. It also does the
 * part of __zerocopy_sg_from_iter() that TCP has. A packet of such pages only (skb_zcopy_pure())
 * counts for the send buffer but not for tcp_mem.
 */
static inline int khttpd_splice_fill(struct sock *sk, struct sk_buff *skb,
				     struct iov_iter *iter, size_t len)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	int nr = shinfo->nr_frags, max = READ_ONCE(sysctl_max_skb_frags);
	const struct bio_vec *vec = iter->bvec;
	size_t done = iter->iov_offset, left = len;

	if (unlikely(nr >= max || skb_zcopy_managed(skb)))
		return -EMSGSIZE;
	while (left && nr < max) {
		unsigned int size = min_t(size_t, left, vec->bv_len - done);

		get_page(vec->bv_page);
		__skb_fill_page_desc_noacc(shinfo, nr++, vec->bv_page,
					   vec->bv_offset + done, size);
		left -= size;
		done += size;
		if (done == vec->bv_len) {
			vec++;
			done = 0;
		}
	}
	shinfo->nr_frags = nr;
	len -= left;
	iter->nr_segs -= vec - iter->bvec;
	iter->bvec = vec;
	iter->iov_offset = done;
	iter->count -= len;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	sk_wmem_queued_add(sk, len);
	if (!skb_zcopy_pure(skb))
		sk_mem_charge(sk, len);
	return 0;
}

static inline void khttpd_splice_done(struct sk_buff *skb,
				      struct ubuf_info *ubuf, bool success)
{
}

/* All pages with one call. TCP wants somebody to tell, and tells @ubuf when the call ends. When a
 * packet is gone it is told only if that has SKBFL_ZEROCOPY_ENABLE. These have sendpage's flag,
 * so they are delivered on this machine without a copy. Nobody looks at the destructor_arg that
 * points to @ubuf when this function has returned.
 */
static inline int khttpd_splice_tcp(struct socket *sock, struct bio_vec *vec,
				    unsigned int vecs, size_t len, int flags)
{
	struct ubuf_info ubuf = {
		.callback = khttpd_splice_done,
		.refcnt = REFCOUNT_INIT(1),
		.flags = SKBFL_SHARED_FRAG,
	};
	struct msghdr msg = {
		.msg_flags = flags | MSG_ZEROCOPY,
		.msg_ubuf = &ubuf,
		.sg_from_iter = khttpd_splice_fill,
	};

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, vec, vecs, len);
	return sock->ops->sendmsg(sock, &msg, len);
}

static inline int khttpd_splice_pages(struct socket *sock, struct bio_vec *vec,
				      unsigned int vecs, size_t size, int flags)
{
	int len = 0, err = 0;
	unsigned int i;

	if (likely(sock->sk->sk_prot->sendmsg == tcp_sendmsg))
		return khttpd_splice_tcp(sock, vec, vecs, size, flags);
	for (i = 0; i < vecs; i++) {
		int more = i + 1 < vecs ? MSG_MORE | MSG_SENDPAGE_NOTLAST : 0;

		err = kernel_sendpage(sock, vec[i].bv_page, vec[i].bv_offset,
				      vec[i].bv_len, flags | more);
		if (err < 0)
			break;
		len += err;
		if (err < vec[i].bv_len)
			break;
	}
	return len ? len : err;
}
#else
static inline int khttpd_splice_pages(struct socket *sock, struct bio_vec *vec,
				      unsigned int vecs, size_t size, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, vec, vecs, size);
	return sock_sendmsg(sock, &msg);
}
#endif

#endif /* _KHTTPD_COMPAT_SPLICE_H */
