// SPDX-License-Identifier: GPL-2.0
/* A link layer of another module than net6: a wire that a program holds both ends of.
 * Each open of /dev/net6-wire is a device wireN in the opener's network namespace, with
 * a link-layer address of 16 bits. read() takes a frame that it has sent, write() brings
 * one that it receives. A frame is destination, source and an IPv6 packet.
 * Documentation/link-layer.rst goes through this file.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <net/dst.h>
#include <net/net_namespace.h>
#include <net6/link.h>

#include "../../net6/compat/netdevice.h"

#define WIRE_ADDR	2	/* bytes of a link-layer address */
#define WIRE_HEADER	4	/* destination and source */
#define WIRE_ALL	0xffff	/* everybody */
#define WIRE_MTU	1500
#define WIRE_QUEUE	256	/* frames that wait to be read */

/**
 * struct wire - an open file, and the device that goes with it
 * @dev: device; its private part points back here. NULL once it is being unregistered:
 *	with its namespace it goes, and is freed, before the file. Written under RTNL, RCU
 * @queue: frames that it has sent
 * @wait: readers
 */
struct wire {
	struct net_device __rcu	*dev;
	struct sk_buff_head	queue;
	wait_queue_head_t	wait;
};

struct wire_priv {
	struct wire	*wire;
};

/* The contract */

static int wire_send(struct net6_iface *iface, struct sk_buff *skb, const u8 *lladdr)
{
	struct net_device *dev = net6_link_dev(iface);
	int err;

	if (skb_cow_head(skb, LL_RESERVED_SPACE(dev))) {
		kfree_skb(skb);
		return -ENOMEM;
	}
	skb_push(skb, WIRE_HEADER);
	memcpy(skb->data, lladdr, WIRE_ADDR);
	memcpy(skb->data + WIRE_ADDR, net6_link_addr(iface), WIRE_ADDR);
	skb_reset_mac_header(skb);
	skb->dev = dev;
	err = dev_queue_xmit(skb);
	return net_xmit_eval(err) ? -ENOBUFS : 0;
}

static int wire_set_multicast(struct net6_iface *iface, const u8 *maddr, bool join)
{
	return 0;		/* a wire brings everything */
}

static void wire_make_iid(const struct net6_iface *iface, u8 iid[8])
{
	memset(iid, 0, 8);
	iid[3] = 0xff;
	iid[4] = 0xfe;
	memcpy(iid + 6, net6_link_addr(iface), WIRE_ADDR);
}

static void wire_map_multicast(const struct net6_iface *iface, const struct in6_addr *group,
			       u8 *lladdr)
{
	memset(lladdr, 0xff, WIRE_ADDR);
}

/* As RFC 4944 section 8 has it for addresses of this length: 8 octets, padded. */
static int wire_read_option(const u8 *body, unsigned int len, u8 *lladdr)
{
	if (len != 6)
		return -EINVAL;
	memcpy(lladdr, body, WIRE_ADDR);
	return 0;
}

static unsigned int wire_write_option(u8 type, const u8 *lladdr, u8 *buf)
{
	memset(buf, 0, 8);
	buf[0] = type;
	buf[1] = 1;
	memcpy(buf + 2, lladdr, WIRE_ADDR);
	return 8;
}

static void wire_fill_header(const struct net6_iface *iface, const u8 *lladdr, u8 *header)
{
	memcpy(header, lladdr, WIRE_ADDR);
	memcpy(header + WIRE_ADDR, net6_link_addr(iface), WIRE_ADDR);
}

static const struct net6_link_ops wire_ops = {
	.name			= "wire",
	.owner			= THIS_MODULE,
	.flags			= NET6_LINK_MULTICAST | NET6_LINK_ND | NET6_LINK_DIRECT,
	.addr_len		= WIRE_ADDR,
	.header_len		= WIRE_HEADER,
	.send			= wire_send,
	.set_multicast		= wire_set_multicast,
	.make_iid		= wire_make_iid,
	.map_multicast		= wire_map_multicast,
	.read_lladdr_option	= wire_read_option,
	.write_lladdr_option	= wire_write_option,
	.fill_header		= wire_fill_header,
};

static bool wire_match(const struct net_device *dev);

static struct net6_link_type wire_type = {
	.ops	= &wire_ops,
	.match	= wire_match,
};

/* The device */

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire *wire = ((struct wire_priv *)netdev_priv(dev))->wire;

	if (skb_queue_len(&wire->queue) >= WIRE_QUEUE || skb_linearize(skb)) {
		dev->stats.tx_dropped++;
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	dev->stats.tx_packets++;
	skb_queue_tail(&wire->queue, skb);
	wake_up_interruptible(&wire->wait);
	return NETDEV_TX_OK;
}

/* RTNL held; nothing is transmitted any more, a grace period follows. */
static void wire_uninit(struct net_device *dev)
{
	RCU_INIT_POINTER(((struct wire_priv *)netdev_priv(dev))->wire->dev, NULL);
}

static const struct net_device_ops wire_netdev_ops = {
	.ndo_start_xmit	= wire_xmit,
	.ndo_uninit	= wire_uninit,
};

static bool wire_match(const struct net_device *dev)
{
	return dev->netdev_ops == &wire_netdev_ops;
}

static void wire_setup(struct net_device *dev)
{
	dev->netdev_ops = &wire_netdev_ops;
	dev->needs_free_netdev = true;
	dev->type = ARPHRD_VOID;
	dev->addr_len = WIRE_ADDR;
	dev->hard_header_len = WIRE_HEADER;
	dev->flags = IFF_NOARP;
	dev->mtu = WIRE_MTU;
	dev->tx_queue_len = WIRE_QUEUE;
	/* It stays in its namespace, and goes with it. */
	net6_compat_netns_local(dev);
}

/* The file */

static int wire_open(struct inode *inode, struct file *file)
{
	static atomic_t last;
	u16 addr = atomic_inc_return(&last) & 0x7fff;
	struct net_device *dev;
	struct wire *wire;
	int err = -ENOMEM;

	wire = kzalloc(sizeof(*wire), GFP_KERNEL);
	if (!wire)
		return err;
	skb_queue_head_init(&wire->queue);
	init_waitqueue_head(&wire->wait);
	dev = alloc_netdev(sizeof(struct wire_priv), "wire%d", NET_NAME_ENUM, wire_setup);
	if (!dev)
		goto err_free;
	((struct wire_priv *)netdev_priv(dev))->wire = wire;
	rcu_assign_pointer(wire->dev, dev);
	dev_net_set(dev, current->nsproxy->net_ns);
	dev_addr_mod(dev, 0, &addr, sizeof(addr));
	err = register_netdev(dev);
	if (err)
		goto err_dev;
	file->private_data = wire;
	return nonseekable_open(inode, file);

err_dev:
	free_netdev(dev);
err_free:
	kfree(wire);
	return err;
}

/* The device may be on its way out already, with its namespace. */
static int wire_release(struct inode *inode, struct file *file)
{
	struct wire *wire = file->private_data;
	struct net_device *dev;

	rtnl_lock();
	dev = rtnl_dereference(wire->dev);
	if (dev)
		unregister_netdevice(dev);
	rtnl_unlock();
	skb_queue_purge(&wire->queue);
	kfree(wire);
	return 0;
}

static ssize_t wire_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct wire *wire = file->private_data;
	struct sk_buff *skb;
	ssize_t n;

	while (!(skb = skb_dequeue(&wire->queue))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(wire->wait, !skb_queue_empty(&wire->queue)))
			return -ERESTARTSYS;
	}
	n = min_t(size_t, len, skb->len);
	if (copy_to_user(to, skb->data, n))
		n = -EFAULT;
	consume_skb(skb);
	return n;
}

/* What has come in goes up. BH disabled, under RCU: device and interface cannot go. */
static void wire_receive(struct net_device *dev, struct sk_buff *skb)
{
	struct net6_iface *iface = net6_link_iface(dev);
	u16 dest;

	memcpy(&dest, skb->data, sizeof(dest));
	skb_pull(skb, WIRE_HEADER);
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IPV6);
	skb->pkt_type = dest == WIRE_ALL ? PACKET_MULTICAST : PACKET_HOST;
	dev->stats.rx_packets++;
	if (iface && (dest == WIRE_ALL || !memcmp(&dest, net6_link_addr(iface), sizeof(dest))))
		net6_rcv(iface, skb);
	else
		kfree_skb(skb);
}

static ssize_t wire_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct wire *wire = file->private_data;
	struct net_device *dev;
	struct sk_buff *skb;

	if (len < WIRE_HEADER || len > WIRE_HEADER + WIRE_MTU)
		return -EMSGSIZE;
	skb = alloc_skb(NET_SKB_PAD + len, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, NET_SKB_PAD);
	if (copy_from_user(skb_put(skb, len), from, len)) {
		kfree_skb(skb);
		return -EFAULT;
	}
	local_bh_disable();
	rcu_read_lock();
	dev = rcu_dereference(wire->dev);
	if (dev)
		wire_receive(dev, skb);
	else
		kfree_skb(skb);
	rcu_read_unlock();
	local_bh_enable();
	return dev ? len : -ENODEV;
}

static __poll_t wire_poll(struct file *file, poll_table *table)
{
	struct wire *wire = file->private_data;

	poll_wait(file, &wire->wait, table);
	return EPOLLOUT | (skb_queue_empty(&wire->queue) ? 0 : EPOLLIN);
}

static const struct file_operations wire_fops = {
	.owner		= THIS_MODULE,
	.open		= wire_open,
	.release	= wire_release,
	.read		= wire_read,
	.write		= wire_write,
	.poll		= wire_poll,
};

static struct miscdevice wire_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "net6-wire",
	.fops	= &wire_fops,
	.mode	= 0600,
};

/* /sys/module/net6_wire/parameters/registered: the link layer can be taken away and
 * brought back under traffic.
 */
static bool registered;
static DEFINE_MUTEX(registered_mutex);

static int wire_set_registered(const char *value, const struct kernel_param *kp)
{
	bool want;
	int err = kstrtobool(value, &want);

	if (err)
		return err;
	mutex_lock(&registered_mutex);
	if (want && !registered)
		err = net6_link_register(&wire_type);
	else if (!want && registered)
		net6_link_unregister(&wire_type);
	if (!err)
		registered = want;
	mutex_unlock(&registered_mutex);
	return err;
}

static const struct kernel_param_ops wire_registered_ops = {
	.set	= wire_set_registered,
	.get	= param_get_bool,
};
module_param_cb(registered, &wire_registered_ops, &registered, 0600);
MODULE_PARM_DESC(registered, "the link layer is there (Y after loading)");

static int __init wire_init(void)
{
	int err = wire_set_registered("1", NULL);

	if (err)
		return err;
	err = misc_register(&wire_misc);
	if (err)
		wire_set_registered("0", NULL);
	return err;
}

static void __exit wire_exit(void)
{
	misc_deregister(&wire_misc);
	wire_set_registered("0", NULL);
}

module_init(wire_init);
module_exit(wire_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("An example of a link layer for net6");
