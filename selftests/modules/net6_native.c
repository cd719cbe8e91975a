// SPDX-License-Identifier: GPL-2.0
/* Calls native TCP's functions on a program's socket, as the kernel's own users of sockets
 * (sunrpc, RDS, NVMe, iSCSI) call them. It is told by one of these words, a descriptor and a
 * number, written to /proc/net6_native. What is written returns the number of bytes read for
 * "read", and 1 for "send" if the task's page was used.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

static int native_recv(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
		       size_t len)
{
	len = min(len, desc->count);
	desc->count -= len;
	return len;
}

static int native_read(struct sock *sk, int count)
{
	read_descriptor_t desc = { .count = count };
	int n;

	lock_sock(sk);
	n = tcp_read_sock(sk, &desc, native_recv);
	release_sock(sk);
	return n;
}

/* As sunrpc has it for NFS, by which memory is got back. */
static void native_reclaims(struct sock *sk)
{
	lock_sock(sk);
	sk->sk_allocation = GFP_NOFS;
	sk->sk_use_task_frag = false;
	release_sock(sk);
}

static int native_send(struct sock *sk, int len)
{
	struct page_frag before = current->task_frag;
	struct msghdr msg = {};
	struct kvec data;
	int err;

	if (len <= 0 || len > 1 << 20)
		return -EINVAL;
	data.iov_len = len;
	data.iov_base = kvzalloc(len, GFP_KERNEL);
	if (!data.iov_base)
		return -ENOMEM;
	err = kernel_sendmsg(sk->sk_socket, &msg, &data, 1, len);
	kvfree(data.iov_base);
	if (err < 0)
		return err;
	return before.page != current->task_frag.page || before.offset != current->task_frag.offset;
}

static int native_call(struct sock *sk, const char *what, int value)
{
	if (!strcmp(what, "cork"))
		tcp_sock_set_cork(sk, value);
	else if (!strcmp(what, "nodelay"))
		tcp_sock_set_nodelay(sk);
	else if (!strcmp(what, "quickack"))
		tcp_sock_set_quickack(sk, value);
	else if (!strcmp(what, "user_timeout"))
		tcp_sock_set_user_timeout(sk, value);
	else if (!strcmp(what, "keepalive"))
		sock_set_keepalive(sk);
	else if (!strcmp(what, "syncnt"))
		return tcp_sock_set_syncnt(sk, value);
	else if (!strcmp(what, "keepidle"))
		return tcp_sock_set_keepidle(sk, value);
	else if (!strcmp(what, "keepintvl"))
		return tcp_sock_set_keepintvl(sk, value);
	else if (!strcmp(what, "keepcnt"))
		return tcp_sock_set_keepcnt(sk, value);
	else if (!strcmp(what, "reclaims"))
		native_reclaims(sk);
	else if (!strcmp(what, "send"))
		return native_send(sk, value);
	else if (!strcmp(what, "read"))
		return native_read(sk, value);
	else
		return -EOPNOTSUPP;
	return 0;
}

static ssize_t native_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char line[64], what[16];
	struct socket *sock;
	int fd, value, err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%15s %d %d", what, &fd, &value) != 3)
		return -EINVAL;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = native_call(sock->sk, what, value);
	sockfd_put(sock);
	return err ? : len;
}

static const struct proc_ops native_proc_ops = {
	.proc_write	= native_write,
};

static int __init native_init(void)
{
	return proc_create("net6_native", 0200, NULL, &native_proc_ops) ? 0 : -ENOMEM;
}

static void __exit native_exit(void)
{
	remove_proc_entry("net6_native", NULL);
}

module_init(native_init);
module_exit(native_exit);
MODULE_DESCRIPTION("Calls native TCP's functions on a program's socket, for a test");
MODULE_LICENSE("GPL");
