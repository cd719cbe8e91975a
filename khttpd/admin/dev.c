// SPDX-License-Identifier: GPL-2.0
/* /dev/khttpd: what needs a file descriptor and so cannot be in configfs. */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/khttpd.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "../listen/handover.h"
#include "config.h"

static long khttpd_dev_attach(void __user *user)
{
	struct khttpd_attach arg;
	struct khttpd_site *site;
	struct socket *sock;
	int err;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.flags || strnlen(arg.site, sizeof(arg.site)) == sizeof(arg.site))
		return -EINVAL;
	sock = sockfd_lookup(arg.fd, &err);
	if (!sock)
		return err;
	if (!ns_capable(sock_net(sock->sk)->user_ns, CAP_NET_ADMIN)) {
		sockfd_put(sock);
		return -EPERM;
	}
	do {
		err = -ENOENT;
		site = khttpd_configfs_find(arg.site);
		if (!site)
			break;
		err = khttpd_attach(site, sock);
		khttpd_site_put(site);
	} while (err == -ESTALE);
	sockfd_put(sock);
	return err;
}

static long khttpd_dev_detach(void __user *user)
{
	struct khttpd_detach arg;
	struct khttpd_site *site;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.flags || strnlen(arg.site, sizeof(arg.site)) == sizeof(arg.site))
		return -EINVAL;
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	site = khttpd_configfs_find(arg.site);
	if (!site)
		return -ENOENT;
	arg.count = khttpd_detach(site);
	khttpd_site_put(site);
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long khttpd_dev_ioctl(struct file *file, unsigned int cmd,
			     unsigned long arg)
{
	switch (cmd) {
	case KHTTPD_IOC_ATTACH:
		return khttpd_dev_attach((void __user *)arg);
	case KHTTPD_IOC_DETACH:
		return khttpd_dev_detach((void __user *)arg);
	default:
		return khttpd_tlsdev_ioctl(file, cmd, (void __user *)arg);
	}
}

static const struct file_operations khttpd_dev_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = khttpd_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.open = khttpd_tlsdev_open,
	.release = khttpd_tlsdev_release,
	.poll = khttpd_tlsdev_poll,
	.llseek = noop_llseek,
};

static struct miscdevice khttpd_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "khttpd",
	.fops = &khttpd_dev_fops,
	.mode = 0600,
};

/**
 * khttpd_dev_init() - make the device
 *
 * Return: 0 or a negative errno.
 */
int khttpd_dev_init(void)
{
	BUILD_BUG_ON(KHTTPD_NAME_SIZE != KHTTPD_SITE_NAME);
	return misc_register(&khttpd_dev);
}

/**
 * khttpd_dev_exit() - remove it
 */
void khttpd_dev_exit(void)
{
	misc_deregister(&khttpd_dev);
}
