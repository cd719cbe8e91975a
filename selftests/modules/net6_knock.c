// SPDX-License-Identifier: GPL-2.0
/* A protocol above IPv6 of a module's own, as Documentation/extending.rst tells it: a knock
 * is answered. A message is a type, a zero, a checksum, a number and data:
 *
 *   echo '2001:db8::1 0 5' >/proc/net6_knock     knock there: interface index or 0, bytes
 *   cat /proc/net6_knock                         knocks answered, answers, errors, refused
 *
 * Limits: it waits for no answer and repeats nothing.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net6/proto.h>

#define KNOCK	1
#define ANSWER	2

/* 253 is one of two values "for experimentation and testing" (RFC 3692 section 2.1). */
static unsigned int protocol = 253;
module_param(protocol, uint, 0444);
MODULE_PARM_DESC(protocol, "Next Header value");

struct knock_header {
	u8	type;
	u8	zero;
	__sum16	checksum;
	__be32	number;
};

static atomic_t knock_knocks, knock_answers, knock_errors, knock_refused, knock_number;

static __sum16 knock_checksum(const struct sk_buff *skb, const struct in6_addr *saddr,
			      const struct in6_addr *daddr)
{
	return csum_ipv6_magic(saddr, daddr, skb->len, protocol,
			       skb_checksum(skb, 0, skb->len, 0));
}

/* Send @skb's message, complete but for its checksum; consumes. */
static int knock_send(struct net *net, struct sk_buff *skb, struct net6_proto_path *path)
{
	struct knock_header *h = (struct knock_header *)skb->data;
	int err = net6_proto_route(net, path);

	if (err) {
		kfree_skb(skb);
		return err;
	}
	h->checksum = knock_checksum(skb, &path->saddr, &path->daddr);
	return net6_proto_send(net, skb, protocol, path);
}

/* A knock is answered with its own data: never more bytes than came. */
static void knock_answer(struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct net6_proto_path path = { .daddr = ip->saddr };
	struct knock_header *h;
	struct sk_buff *answer;

	/* Who has no address cannot be answered; a group is answered by nobody. */
	if (ipv6_addr_any(&ip->saddr) || ipv6_addr_is_multicast(&ip->daddr))
		return;
	path.saddr = ip->daddr;
	if (ipv6_addr_type(&ip->saddr) & IPV6_ADDR_LINKLOCAL)
		path.oif = net6_proto_ifindex(skb);
	answer = net6_proto_alloc(skb->len, GFP_ATOMIC);
	if (!answer)
		return;
	if (skb_copy_bits(skb, 0, skb_put(answer, skb->len), skb->len)) {
		kfree_skb(answer);
		return;
	}
	h = (struct knock_header *)answer->data;
	h->type = ANSWER;
	h->checksum = 0;
	if (knock_send(dev_net(skb->dev), answer, &path) >= 0)
		atomic_inc(&knock_knocks);
}

static void knock_rcv(struct sk_buff *skb)
{
	const struct ipv6hdr *ip;
	u8 type;

	if (!pskb_may_pull(skb, sizeof(struct knock_header)))
		goto refuse;
	ip = ipv6_hdr(skb);		/* after what may move the head */
	if (knock_checksum(skb, &ip->saddr, &ip->daddr))
		goto refuse;
	type = ((struct knock_header *)skb->data)->type;
	if (type == KNOCK)
		knock_answer(skb);
	else if (type == ANSWER)
		atomic_inc(&knock_answers);
	else
		goto refuse;
	consume_skb(skb);
	return;
refuse:
	atomic_inc(&knock_refused);
	kfree_skb(skb);
}

/* A forged error must not lower a path's MTU: it has to quote a number that was sent. */
static void knock_error(struct sk_buff *skb, const struct net6_icmp_error *err)
{
	const struct knock_header *h = (struct knock_header *)(skb->data + err->offset);
	u32 number = ntohl(h->number);

	if (!number || number > (u32)atomic_read(&knock_number))
		return;
	atomic_inc(&knock_errors);
	net6_proto_too_big(skb, err);
}

static const struct net6_proto knock_proto = {
	.rcv	= knock_rcv,
	.error	= knock_error,
};

static int knock(struct net *net, struct net6_proto_path *path, unsigned int bytes)
{
	struct knock_header *h;
	struct sk_buff *skb;

	skb = net6_proto_alloc(sizeof(*h) + bytes, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	h = skb_put_zero(skb, sizeof(*h) + bytes);
	h->type = KNOCK;
	h->number = htonl(atomic_inc_return(&knock_number));
	return knock_send(net, skb, path);
}

static ssize_t knock_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct net6_proto_path path = { };
	char line[80], address[48];
	unsigned int bytes;
	int err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%47s %d %u", address, &path.oif, &bytes) != 3 || bytes > 32768 ||
	    !in6_pton(address, -1, path.daddr.s6_addr, -1, NULL))
		return -EINVAL;
	err = knock(current->nsproxy->net_ns, &path, bytes);
	return err < 0 ? err : len;
}

static int knock_show(struct seq_file *seq, void *v)
{
	seq_printf(seq, "%d %d %d %d\n", atomic_read(&knock_knocks), atomic_read(&knock_answers),
		   atomic_read(&knock_errors), atomic_read(&knock_refused));
	return 0;
}

static int knock_open(struct inode *inode, struct file *file)
{
	return single_open(file, knock_show, NULL);
}

static const struct proc_ops knock_proc_ops = {
	.proc_open	= knock_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= knock_write,
};

static int __init knock_init(void)
{
	int err;

	if (protocol > 255)
		return -EINVAL;
	err = net6_proto_register(protocol, &knock_proto);
	if (err)
		return err;
	if (proc_create("net6_knock", 0600, NULL, &knock_proc_ops))
		return 0;
	net6_proto_unregister(protocol, &knock_proto);
	return -ENOMEM;
}

static void __exit knock_exit(void)
{
	remove_proc_entry("net6_knock", NULL);	/* nobody knocks any more */
	net6_proto_unregister(protocol, &knock_proto);
}

module_init(knock_init);
module_exit(knock_exit);
MODULE_DESCRIPTION("A protocol above IPv6 of another module's, for a test and as an example");
MODULE_LICENSE("GPL");
