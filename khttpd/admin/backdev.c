// SPDX-License-Identifier: GPL-2.0
/* /dev/khttpd_giveback: a server gives a connection back to khttpd. Everybody may open it: who has
 * a listening socket to which a site is attached, and a connection of it, is that server.
 */
#include <linux/file.h>
#include <linux/khttpd.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "../http/parse.h"
#include "../http/proxyhead.h"
#include "../listen/giveback.h"
#include "config.h"

static long khttpd_backdev_give(const struct khttpd_giveback *arg)
{
	struct socket *sock;
	u8 *head;
	int err;

	if (arg->flags || !arg->head_len ||
	    arg->head_len > KHTTPD_PROXYHEAD_MAX + KHTTPD_HEAD_MAX)
		return -EINVAL;
	head = memdup_user(u64_to_user_ptr(arg->head), arg->head_len);
	if (IS_ERR(head))
		return PTR_ERR(head);
	sock = sockfd_lookup(arg->listener, &err);
	if (sock) {
		err = khttpd_giveback(sock, arg->fd, head, arg->head_len);
		sockfd_put(sock);
	}
	if (err)
		kfree(head);
	return err;
}

static long khttpd_backdev_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct khttpd_giveback arg;

	if (cmd != KHTTPD_IOC_GIVEBACK)
		return -ENOTTY;
	if (copy_from_user(&arg, (void __user *)user, sizeof(arg)))
		return -EFAULT;
	return khttpd_backdev_give(&arg);
}

static const struct file_operations khttpd_backdev_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = khttpd_backdev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice khttpd_backdev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "khttpd_giveback",
	.fops = &khttpd_backdev_fops,
	.mode = 0666,
};

/**
 * khttpd_backdev_init() - make the device
 *
 * Return: 0 or a negative errno.
 */
int khttpd_backdev_init(void)
{
	return misc_register(&khttpd_backdev);
}

/**
 * khttpd_backdev_exit() - remove it
 */
void khttpd_backdev_exit(void)
{
	misc_deregister(&khttpd_backdev);
}
