// SPDX-License-Identifier: GPL-2.0
/* Calls native TCP's functions on a program's socket, as the kernel's own users of sockets
 * (sunrpc, RDS, NVMe, iSCSI) call them: one of these words, a descriptor and a number, written to
 * /proc/net6_native. What is written returns the number of bytes read for "read".
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
