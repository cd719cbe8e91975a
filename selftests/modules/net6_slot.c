// SPDX-License-Identifier: GPL-2.0
/* Holds address family 19, so that a test can see what net6 says when its slot is
 * taken. Makes no sockets.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/net6.h>

static int net6_slot_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	return -EAFNOSUPPORT;
}

static const struct net_proto_family net6_slot_ops = {
	.family	= PF_NET6,
	.create	= net6_slot_create,
	.owner	= THIS_MODULE,
};

static int __init net6_slot_init(void)
{
	return sock_register(&net6_slot_ops);
}

static void __exit net6_slot_exit(void)
{
	sock_unregister(PF_NET6);
}

module_init(net6_slot_init);
module_exit(net6_slot_exit);
MODULE_DESCRIPTION("Holds the address family of net6, for a test");
MODULE_LICENSE("GPL");
