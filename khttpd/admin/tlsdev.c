// SPDX-License-Identifier: GPL-2.0
/* /dev/khttpd for who does TLS handshakes, khttpd-tlsd. Who may open the device is root. A
 * descriptor stays what it was made by BEGIN when its process gives up privileges.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/khttpd.h>
#include <linux/uaccess.h>
#include "../conn/ktls.h"
#include "../listen/tls.h"
#include "config.h"

/* Return: the daemon that this descriptor is, or NULL. */
static struct khttpd_tlsd *khttpd_tlsdev_of(const struct file *file)
{
	/* Pairs with the exchange in khttpd_tlsdev_begin(). */
	return smp_load_acquire((struct khttpd_tlsd **)&file->private_data);
}

/**
 * khttpd_tlsdev_open() - open /dev/khttpd
 * @inode: the device
 * @file: it does no handshakes yet
 *
 * Return: 0
 */
int khttpd_tlsdev_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

/**
 * khttpd_tlsdev_release() - it is closed for the last time
 * @inode: the device
 * @file: what it took ends
 *
 * Return: 0
 */
int khttpd_tlsdev_release(struct inode *inode, struct file *file)
{
	khttpd_tls_daemon_end(khttpd_tlsdev_of(file));
	return 0;
}

/**
 * khttpd_tlsdev_poll() - is there a connection to take?
 * @file: the device
 * @wait: poll's
 */
__poll_t khttpd_tlsdev_poll(struct file *file, poll_table *wait)
{
	return khttpd_tlsdev_of(file) ? khttpd_tls_daemon_poll(file, wait) : EPOLLERR;
}

static long khttpd_tlsdev_begin(struct file *file)
{
	struct khttpd_tlsd *tlsd;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	tlsd = khttpd_tls_daemon_begin();
	if (!tlsd)
		return -ENOMEM;
	if (!cmpxchg((struct khttpd_tlsd **)&file->private_data, NULL, tlsd))
		return 0;
	khttpd_tls_daemon_end(tlsd);
	return -EBUSY;
}

static long khttpd_tlsdev_take(const struct khttpd_tlsd *tlsd, struct khttpd_tls_take __user *user)
{
	struct khttpd_tls_done undo = { .failed = 1 };
	struct khttpd_tls_take arg;
	struct file *file;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.flags)
		return -EINVAL;
	memset(&arg, 0, sizeof(arg));
	arg.fd = get_unused_fd_flags(O_CLOEXEC);
	if (arg.fd < 0)
		return arg.fd;
	file = khttpd_tls_daemon_take(tlsd, &arg);
	if (IS_ERR(file)) {
		put_unused_fd(arg.fd);
		return PTR_ERR(file);
	}
	if (copy_to_user(user, &arg, sizeof(arg))) {
		undo.id = arg.id;
		khttpd_tls_daemon_done(tlsd, &undo);
		put_unused_fd(arg.fd);
		fput(file);
		return -EFAULT;
	}
	fd_install(arg.fd, file);
	return 0;
}

static long khttpd_tlsdev_done(const struct khttpd_tlsd *tlsd, struct khttpd_tls_done __user *user)
{
	struct khttpd_tls_done arg;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.flags || arg.failed > 1)
		return -EINVAL;
	return khttpd_tls_daemon_done(tlsd, &arg);
}

static long khttpd_tlsdev_ciphers(u32 __user *user)
{
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	return put_user(khttpd_ktls_prepare(), user);
}

/**
 * khttpd_tlsdev_ioctl() - a call of who does handshakes
 * @file: the device
 * @cmd: which
 * @user: its argument
 *
 * Return: 0 or a negative errno; -ENOTTY if it is another call.
 */
long khttpd_tlsdev_ioctl(struct file *file, unsigned int cmd, void __user *user)
{
	struct khttpd_tlsd *tlsd = khttpd_tlsdev_of(file);

	switch (cmd) {
	case KHTTPD_IOC_TLS_BEGIN:
		return khttpd_tlsdev_begin(file);
	case KHTTPD_IOC_TLS_TAKE:
		return tlsd ? khttpd_tlsdev_take(tlsd, user) : -EPERM;
	case KHTTPD_IOC_TLS_DONE:
		return tlsd ? khttpd_tlsdev_done(tlsd, user) : -EPERM;
	case KHTTPD_IOC_TLS_CIPHERS:
		return khttpd_tlsdev_ciphers(user);
	default:
		return -ENOTTY;
	}
}
