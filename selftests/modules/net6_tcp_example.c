// SPDX-License-Identifier: GPL-2.0
/* An example of <net6/tcp.h>: a server that answers lines in softirq and hands what it
 * does not know to an ordinary program. Limits: lines of up to 127 bytes, 1000
 * connections, no time-outs.
 *
 * A program opens /dev/net6_example and writes
 *
 *	attach FD	its listener FD offers new connections to this module first
 *	other FD	where connections that say "other" are to go
 *	take FD		accept a connection of listener FD, and make it one of this module's
 *
 * Lines that a peer may send: "hello" is answered with "5 hello", "page N" with a header
 * and N bytes out of a page, "bye" the same as "hello" with FIN, "drop" with a reset;
 * "other" goes to the second listener, anything else to the first one, line included.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/delay.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net6/tcp.h>

#define EXAMPLE_LINE	128
#define EXAMPLE_CONNS	1000

/**
 * struct example - an open file of ours
 * @user: what net6 calls; first attach, then connections
 * @listener: attached to, or NULL; the reference is net6_tcp_attach()'s
 * @other: second listener, reference held, or NULL
 * @lock: protects @conns and @count; BH disabled; inside the locks of connections
 * @conns: connections taken, struct example_conn
 * @count: how many
 */
struct example {
	struct net6_tcp_user	user;
	struct sock		*listener;
	struct sock		*other;
	spinlock_t		lock;
	struct list_head	conns;
	unsigned int		count;
};

/* Whoever takes it off the list has to finish the connection. */
struct example_conn {
	struct list_head	list;
	struct sock		*sk;
	unsigned int		page_left;	/* bytes that did not fit the send buffer */
};

static struct page *example_page;

static bool example_claim(struct example *ex, struct example_conn *conn)
{
	bool was;

	spin_lock_bh(&ex->lock);
	was = !list_empty(&conn->list);
	if (was) {
		list_del_init(&conn->list);
		ex->count--;
	}
	spin_unlock_bh(&ex->lock);
	return was;
}

static bool example_accept(struct net6_tcp_user *user, struct sock *sk)
{
	struct example *ex = container_of(user, struct example, user);
	struct example_conn *conn = kzalloc(sizeof(*conn), GFP_ATOMIC);
	bool room;

	if (!conn)
		return false;
	conn->sk = sk;
	spin_lock_bh(&ex->lock);
	room = ex->count < EXAMPLE_CONNS;
	if (room) {
		ex->count++;
		list_add(&conn->list, &ex->conns);
	}
	spin_unlock_bh(&ex->lock);
	if (!room) {
		kfree(conn);
		return false;
	}
	sk->sk_user_data = conn;
	return true;
}

/* sk is closed, or of no use any more. */
static void example_end(struct example *ex, struct example_conn *conn, bool reset)
{
	if (!example_claim(ex, conn))
		return;
	net6_tcp_finish_locked(conn->sk, reset);
	kfree(conn);
}

static void example_give(struct example *ex, struct example_conn *conn, struct sock *listener)
{
	if (!example_claim(ex, conn))
		return;
	if (!listener || net6_tcp_give(conn->sk, listener))
		net6_tcp_finish_locked(conn->sk, true);
	kfree(conn);
}

static int example_say(struct sock *sk, const char *text, bool fin)
{
	size_t len = strlen(text);
	/* In two pieces, for the test of it. */
	struct kvec pieces[] = {
		{ .iov_base = (void *)text, .iov_len = len / 2 },
		{ .iov_base = (void *)text + len / 2, .iov_len = len - len / 2 },
	};
	struct net6_tcp_msg msg = {
		.header		= pieces,
		.nr_header	= ARRAY_SIZE(pieces),
		.fin		= fin,
	};

	return net6_tcp_send(sk, &msg);
}

/* As many of @left bytes as one message takes. */
static int example_send_piece(struct example_conn *conn, const char *header, unsigned int left)
{
	struct kvec piece = { .iov_base = (void *)header, .iov_len = strlen(header) };
	struct bio_vec pages[16];
	struct net6_tcp_msg msg = {
		.header		= &piece,
		.nr_header	= 1,
		.pages		= pages,
	};
	int err;

	while (left && msg.nr_pages < ARRAY_SIZE(pages)) {
		pages[msg.nr_pages].bv_page = example_page;
		pages[msg.nr_pages].bv_offset = 0;
		pages[msg.nr_pages].bv_len = min_t(unsigned int, left, PAGE_SIZE);
		left -= pages[msg.nr_pages++].bv_len;
	}
	msg.more = left;
	err = net6_tcp_send(conn->sk, &msg);
	if (!err)
		conn->page_left = left;
	return err;
}

/* What does not fit now goes out when there is room again. */
static int example_send_page(struct example_conn *conn, const char *header, unsigned int n)
{
	int err = example_send_piece(conn, header, n);

	while (!err && conn->page_left)
		err = example_send_piece(conn, "", conn->page_left);
	return conn->page_left && err == -EAGAIN ? 0 : err;
}

/* Answers a line. Returns 0, or why it has to wait or cannot be answered. */
static int example_answer(struct example_conn *conn, const char *line)
{
	char header[32];
	unsigned int n;

	if (sscanf(line, "page %u", &n) != 1)
		return example_say(conn->sk, "5 hello\n", !strcmp(line, "bye"));
	snprintf(header, sizeof(header), "%u ", n);
	return example_send_page(conn, header, n);
}

static bool example_known(const char *line)
{
	return !strcmp(line, "hello") || !strcmp(line, "bye") || !strncmp(line, "page ", 5);
}

/* Returns false if the next line has to wait, or there is no next line. */
static bool example_line(struct example *ex, struct example_conn *conn, char *line, u32 len)
{
	int err;

	line[len - 1] = 0;
	if (!strcmp(line, "drop")) {
		example_end(ex, conn, true);
		return false;
	}
	if (!example_known(line)) {
		example_give(ex, conn, strcmp(line, "other") ? ex->listener : ex->other);
		return false;
	}
	err = example_answer(conn, line);
	if (err == -EAGAIN)
		return false;
	/* Only now: an answer that could not be sent may be tried again. */
	net6_tcp_consume(conn->sk, len);
	if (!err && strcmp(line, "bye"))
		return !conn->page_left;
	example_end(ex, conn, err);
	return false;
}

static void example_receive(struct net6_tcp_user *user, struct sock *sk)
{
	struct example *ex = container_of(user, struct example, user);
	struct example_conn *conn = sk->sk_user_data;
	char line[EXAMPLE_LINE];
	const char *end;
	bool more;
	u32 n;

	/* One reply at a time; what came meanwhile waits in the socket. */
	more = !conn->page_left && sk->sk_state != TCP_CLOSE;
	while (more) {
		n = net6_tcp_peek_copy(sk, 0, line, sizeof(line));
		end = memchr(line, '\n', n);
		if (!end)
			break;
		more = example_line(ex, conn, line, end - line + 1);
	}
	/* Finished or given away? Then it is not ours any more. */
	if (sk->sk_user_data != conn)
		return;
	if (sk->sk_state == TCP_CLOSE || net6_tcp_at_end(sk) ||
	    (more && net6_tcp_unread(sk) >= EXAMPLE_LINE) ||
	    (more && sk->sk_shutdown & RCV_SHUTDOWN))
		example_end(ex, conn, false);
}

static void example_writable(struct net6_tcp_user *user, struct sock *sk)
{
	struct example_conn *conn = sk->sk_user_data;

	if (conn->page_left && example_send_page(conn, "", conn->page_left))
		example_end(container_of(user, struct example, user), conn, true);
	else if (!conn->page_left)
		example_receive(user, sk);
}

static int example_open(struct inode *inode, struct file *file)
{
	struct example *ex = kzalloc(sizeof(*ex), GFP_KERNEL);

	if (!ex)
		return -ENOMEM;
	ex->user.accept = example_accept;
	ex->user.receive = example_receive;
	ex->user.writable = example_writable;
	spin_lock_init(&ex->lock);
	INIT_LIST_HEAD(&ex->conns);
	file->private_data = ex;
	return 0;
}

static int example_release(struct inode *inode, struct file *file)
{
	struct example *ex = file->private_data;
	struct example_conn *conn;

	if (ex->listener)
		net6_tcp_detach(ex->listener, &ex->user);
	for (;;) {
		spin_lock_bh(&ex->lock);
		conn = list_first_entry_or_null(&ex->conns, struct example_conn, list);
		if (conn)
			list_del_init(&conn->list);
		spin_unlock_bh(&ex->lock);
		if (!conn)
			break;
		net6_tcp_finish(conn->sk, true);
		kfree(conn);
	}
	/* A callback that has just let go of a connection may still look at @ex. */
	synchronize_rcu();
	if (ex->other)
		sock_put(ex->other);
	kfree(ex);
	return 0;
}

/* Give the newest connection to the program from a process that owns it for @ms more. */
static int example_give_slowly(struct example *ex, unsigned int ms)
{
	struct example_conn *conn;
	struct sock *sk = NULL;

	spin_lock_bh(&ex->lock);
	conn = list_first_entry_or_null(&ex->conns, struct example_conn, list);
	if (conn) {
		sk = conn->sk;
		sock_hold(sk);
	}
	spin_unlock_bh(&ex->lock);
	if (!sk)
		return -ENOENT;
	lock_sock(sk);
	/* Finished meanwhile? */
	if (sk->sk_user_data == conn)
		example_give(ex, conn, ex->listener);
	msleep(ms);
	release_sock(sk);
	sock_put(sk);
	return 0;
}

/* @sock was accepted; it is released by the caller. */
static int example_take_sock(struct example *ex, struct socket *sock)
{
	struct sock *sk = sock->sk;
	int err;

	sock_hold(sk);
	lock_sock(sk);
	err = net6_tcp_take(sock, &ex->user);
	if (!err && !example_accept(&ex->user, sk)) {
		local_bh_disable();
		net6_tcp_finish_locked(sk, true);
		local_bh_enable();
		err = -ENOMEM;
	}
	release_sock(sk);
	sock_put(sk);
	return err;
}

static int example_take(struct example *ex, int fd)
{
	struct socket *sock, *conn;
	int err = 0;

	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = kernel_accept(sock, &conn, 0);
	sockfd_put(sock);
	if (err)
		return err;
	err = example_take_sock(ex, conn);
	sock_release(conn);
	return err;
}

static int example_command(struct example *ex, const char *line)
{
	struct socket *sock;
	struct sock **where;
	unsigned int ms;
	int fd, err = 0;

	if (sscanf(line, "give %u", &ms) == 1)
		return example_give_slowly(ex, ms);
	if (sscanf(line, "take %d", &fd) == 1)
		return example_take(ex, fd);
	if (sscanf(line, "attach %d", &fd) == 1)
		where = &ex->listener;
	else if (sscanf(line, "other %d", &fd) == 1)
		where = &ex->other;
	else
		return -EINVAL;
	if (*where)
		return -EBUSY;
	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	if (!net6_tcp_is(sock->sk)) {
		err = -EINVAL;
	} else if (where == &ex->listener) {
		*where = sock->sk;
		err = net6_tcp_attach(sock->sk, &ex->user);
		if (err)
			*where = NULL;
	} else {
		sock_hold(sock->sk);
		*where = sock->sk;
	}
	sockfd_put(sock);
	return err;
}

static ssize_t example_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char line[32];
	int err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = 0;
	err = example_command(file->private_data, line);
	return err ? err : len;
}

static const struct file_operations example_fops = {
	.owner		= THIS_MODULE,
	.open		= example_open,
	.release	= example_release,
	.write		= example_write,
};

static struct miscdevice example_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "net6_example",
	.fops	= &example_fops,
};

static int __init example_init(void)
{
	unsigned int i;
	int err;

	example_page = alloc_page(GFP_KERNEL);
	if (!example_page)
		return -ENOMEM;
	for (i = 0; i < PAGE_SIZE; i++)
		((u8 *)page_address(example_page))[i] = 'a' + i % 26;
	err = misc_register(&example_device);
	if (err)
		__free_page(example_page);
	return err;
}

static void __exit example_exit(void)
{
	misc_deregister(&example_device);
	/* Segments that are not acknowledged yet have references of their own. */
	__free_page(example_page);
}

module_init(example_init);
module_exit(example_exit);

MODULE_DESCRIPTION("net6: example of a server in softirq");
MODULE_LICENSE("GPL");
