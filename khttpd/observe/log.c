// SPDX-License-Identifier: GPL-2.0
/* The access log: a record a reply into a ring of the CPU that makes it, out of the rings through
 * /dev/khttpd_log. Writers never wait: a record that finds no room is lost and counted. There are
 * rings only while somebody has the device open.
 */
#include <linux/khttpd.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/net6.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/sock.h>
#include "far.h"
#include "log.h"
#include "stats.h"

/* Bytes of a CPU's ring; a power of two. */
#define KHTTPD_LOG_SIZE		(512 * 1024)
/* Longest text taken of a field. */
#define KHTTPD_LOG_TEXT		1024
/* How often a reader that waits looks at the rings. */
#define KHTTPD_LOG_INTERVAL	(HZ / 10)

/**
 * struct khttpd_log_ring - records of one CPU
 * @head: bytes ever written; the CPU's, bottom halves off
 * @tail: bytes ever read; the reader's
 * @data: where they are, by position modulo the size
 */
struct khttpd_log_ring {
	u32 head;
	u32 tail;
	u8 *data;
};

static struct khttpd_log_ring __percpu *khttpd_log_rings;
static unsigned long khttpd_log_open;	/* bit 0: somebody has it open */
bool khttpd_log_on;			/* records are made; changes under RCU */
static DEFINE_MUTEX(khttpd_log_lock);	/* one read at a time */

static void khttpd_log_put(struct khttpd_log_ring *ring, u32 *at,
			   const void *data, size_t len)
{
	u32 from = *at & (KHTTPD_LOG_SIZE - 1);
	u32 first = min_t(u32, len, KHTTPD_LOG_SIZE - from);

	memcpy(ring->data + from, data, first);
	memcpy(ring->data, data + first, len - first);
	*at += len;
}

static void khttpd_log_peer(struct khttpd_log_record *record, const struct sock *sk,
			    const struct khttpd_endpoint *client)
{
	struct in6_addr address;

	if (client) {
		memcpy(record->address, client->address, sizeof(client->address));
		record->port = client->port;
		return;
	}
	khttpd_far(sk, &address);
	memcpy(record->address, &address, sizeof(address));
	record->port = ntohs(sk->sk_dport);
}

static u16 khttpd_log_field(const struct khttpd_request *req, const u8 *head,
			    enum khttpd_field_id id, const u8 **text)
{
	const struct khttpd_field *field;
	unsigned int from = 0;

	field = khttpd_field_next(req, id, &from);
	if (!field)
		return 0;
	*text = head + field->at;
	return min_t(u16, field->len, KHTTPD_LOG_TEXT);
}

static void khttpd_log_write(const char *site,
			     const struct khttpd_request *req, const u8 *head,
			     struct khttpd_log_record *record)
{
	const u8 *text[6] = { (u8 *)site };
	u16 *len = &record->site_len;
	struct khttpd_log_ring *ring;
	unsigned int i;
	u32 at;

	len[0] = strlen(site);
	if (head) {
		text[1] = head + req->host;
		len[1] = min_t(u16, req->host_len, KHTTPD_LOG_TEXT);
		text[2] = head + req->start;
		while (len[2] < KHTTPD_METHOD_MAX && text[2][len[2]] != ' ')
			len[2]++;
		text[3] = head + req->path;
		len[3] = min_t(u16, req->path_len + req->query_len,
			       2 * KHTTPD_LOG_TEXT);
		len[4] = khttpd_log_field(req, head, KHTTPD_FIELD_REFERER,
					  &text[4]);
		len[5] = khttpd_log_field(req, head, KHTTPD_FIELD_USER_AGENT,
					  &text[5]);
		record->minor = req->minor;
	}
	record->size = sizeof(*record);
	for (i = 0; i < ARRAY_SIZE(text); i++)
		record->size += len[i];
	record->size = ALIGN(record->size, 8);

	ring = this_cpu_ptr(khttpd_log_rings);
	/* Pairs with the release in khttpd_log_take(). */
	at = smp_load_acquire(&ring->tail);
	if (KHTTPD_LOG_SIZE - (ring->head - at) < record->size) {
		khttpd_count(log_lost);
		return;
	}
	at = ring->head;
	khttpd_log_put(ring, &at, record, sizeof(*record));
	for (i = 0; i < ARRAY_SIZE(text); i++)
		khttpd_log_put(ring, &at, text[i], len[i]);
	/* Pairs with the acquire in khttpd_log_take(). */
	smp_store_release(&ring->head, ring->head + record->size);
}

/**
 * khttpd_log_reply() - note a reply, if somebody wants to know
 * @sk: the connection
 * @client: for whom a trusted proxy speaks there, or NULL
 * @site: name of the site that answered
 * @req: the request
 * @head: its bytes; NULL if no request could be read
 * @status: of the reply
 * @bytes: length of its content
 *
 * Context: any but hard interrupts; never waits.
 */
void khttpd_log_reply(const struct sock *sk, const struct khttpd_endpoint *client,
		      const char *site, const struct khttpd_request *req, const u8 *head,
		      u16 status, u64 bytes)
{
	struct khttpd_log_record record = { .status = status, .bytes = bytes };

	BUILD_BUG_ON(sizeof(record) % 8);
	record.time = ktime_get_real_ns();
	khttpd_log_peer(&record, sk, client);
	/* Of a softirq and a thread one comes after the other. */
	local_bh_disable();
	rcu_read_lock();
	/* Pairs with the release in khttpd_log_fopen(): there are rings. */
	if (smp_load_acquire(&khttpd_log_on))
		khttpd_log_write(site, req, head, &record);
	rcu_read_unlock();
	local_bh_enable();
}

/* Copy whole records of a ring to the reader. Return: bytes or -EFAULT. */
static ssize_t khttpd_log_take(struct khttpd_log_ring *ring, char __user *to,
			       size_t room)
{
	/* Pairs with the release in khttpd_log_write(). */
	u32 head = smp_load_acquire(&ring->head), at = ring->tail, first;
	size_t len = 0;

	while (head - at) {
		struct khttpd_log_record *record;
		u32 size;

		/* A record begins at a multiple of 8: its size is whole. */
		record = (void *)ring->data + (at & (KHTTPD_LOG_SIZE - 1));
		size = record->size;
		if (size > room - len)
			break;
		len += size;
		at += size;
	}
	at = ring->tail & (KHTTPD_LOG_SIZE - 1);
	first = min_t(u32, len, KHTTPD_LOG_SIZE - at);
	if (copy_to_user(to, ring->data + at, first) ||
	    copy_to_user(to + first, ring->data, len - first))
		return -EFAULT;
	/* Pairs with the acquire in khttpd_log_write(). */
	smp_store_release(&ring->tail, ring->tail + len);
	return len;
}

static ssize_t khttpd_log_read_now(char __user *to, size_t room)
{
	ssize_t len, all = 0;
	int cpu;

	mutex_lock(&khttpd_log_lock);
	for_each_possible_cpu(cpu) {
		len = khttpd_log_take(per_cpu_ptr(khttpd_log_rings, cpu),
				      to + all, room - all);
		if (len < 0) {
			all = all ?: len;
			break;
		}
		all += len;
	}
	mutex_unlock(&khttpd_log_lock);
	return all;
}

static ssize_t khttpd_log_read(struct file *file, char __user *to, size_t room,
			       loff_t *pos)
{
	ssize_t len;

	/* The longest record must fit, or a reader would wait for ever. */
	if (room < 8 * KHTTPD_LOG_TEXT)
		return -EINVAL;
	while (!(len = khttpd_log_read_now(to, room))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (schedule_timeout_interruptible(KHTTPD_LOG_INTERVAL))
			return -ERESTARTSYS;
	}
	return len;
}

static void khttpd_log_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct khttpd_log_ring *ring = per_cpu_ptr(khttpd_log_rings,
							   cpu);

		kvfree(ring->data);
		memset(ring, 0, sizeof(*ring));
	}
}

static int khttpd_log_fopen(struct inode *inode, struct file *file)
{
	int cpu;

	if (test_and_set_bit_lock(0, &khttpd_log_open))
		return -EBUSY;
	for_each_possible_cpu(cpu) {
		u8 *data = kvzalloc(KHTTPD_LOG_SIZE, GFP_KERNEL);

		if (!data) {
			khttpd_log_free();
			clear_bit_unlock(0, &khttpd_log_open);
			return -ENOMEM;
		}
		per_cpu_ptr(khttpd_log_rings, cpu)->data = data;
	}
	/* Pairs with the acquire in khttpd_log_reply(). */
	smp_store_release(&khttpd_log_on, true);
	return 0;
}

static int khttpd_log_release(struct inode *inode, struct file *file)
{
	WRITE_ONCE(khttpd_log_on, false);
	synchronize_rcu();
	khttpd_log_free();
	clear_bit_unlock(0, &khttpd_log_open);
	return 0;
}

static const struct file_operations khttpd_log_fops = {
	.owner = THIS_MODULE,
	.open = khttpd_log_fopen,
	.read = khttpd_log_read,
	.release = khttpd_log_release,
	.llseek = noop_llseek,
};

static struct miscdevice khttpd_log_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "khttpd_log",
	.fops = &khttpd_log_fops,
	.mode = 0400,
};

/**
 * khttpd_log_init() - make the device
 *
 * Return: 0 or a negative errno.
 */
int khttpd_log_init(void)
{
	int err;

	khttpd_log_rings = alloc_percpu(struct khttpd_log_ring);
	if (!khttpd_log_rings)
		return -ENOMEM;
	err = misc_register(&khttpd_log_dev);
	if (err)
		free_percpu(khttpd_log_rings);
	return err;
}

/**
 * khttpd_log_exit() - remove it; nobody has it open
 */
void khttpd_log_exit(void)
{
	misc_deregister(&khttpd_log_dev);
	free_percpu(khttpd_log_rings);
}
