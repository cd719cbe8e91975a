// SPDX-License-Identifier: GPL-2.0
/* /dev/khttpd for who does TLS handshakes, khttpd-tlsd, and for its parent, who watches for sites
 * that are new. Who may open the device is root. A descriptor stays what it was made by BEGIN when
 * its process gives up privileges.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/khttpd.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include "../conn/ktls.h"
#include "../http/proxyhead.h"
#include "../listen/tls.h"
#include "config.h"

/* Longest time to wait for those who watch, in ms. */
#define KHTTPD_TLSDEV_WAIT	60000

/**
 * struct khttpd_tlsdev - an open descriptor
 * @tlsd: it does handshakes; set once, NULL before
 * @node: in khttpd_tlsdev_watches if it watches, else empty
 * @seen: what it was told of khttpd_tlsdev_asked
 * @done: how much of that it has done
 * @failed: it could not do that
 */
struct khttpd_tlsdev {
	struct khttpd_tlsd *tlsd;
	struct list_head node;
	u32 seen;
	u32 done;
	bool failed;
};

static DEFINE_SPINLOCK(khttpd_tlsdev_lock);	/* all that follows, and what each one has */
static LIST_HEAD(khttpd_tlsdev_watches);
static u32 khttpd_tlsdev_asked;			/* how often sites were to be read again */
static DECLARE_WAIT_QUEUE_HEAD(khttpd_tlsdev_wait);

/* Return: the daemon that this descriptor is, or NULL. */
static struct khttpd_tlsd *khttpd_tlsdev_of(const struct file *file)
{
	struct khttpd_tlsdev *dev = file->private_data;

	/* Pairs with khttpd_tlsdev_begin(). */
	return smp_load_acquire(&dev->tlsd);
}

/**
 * khttpd_tlsdev_open() - open /dev/khttpd
 * @inode: the device
 * @file: it does no handshakes yet
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_tlsdev_open(struct inode *inode, struct file *file)
{
	struct khttpd_tlsdev *dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);

	if (!dev)
		return -ENOMEM;
	INIT_LIST_HEAD(&dev->node);
	file->private_data = dev;
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
	struct khttpd_tlsdev *dev = file->private_data;

	khttpd_tls_daemon_end(dev->tlsd);
	spin_lock(&khttpd_tlsdev_lock);
	list_del(&dev->node);
	spin_unlock(&khttpd_tlsdev_lock);
	/* Nobody waits for it any more. */
	wake_up_all(&khttpd_tlsdev_wait);
	kfree(dev);
	return 0;
}

/**
 * khttpd_tlsdev_poll() - is there a connection to take, or are sites to be read again?
 * @file: the device
 * @wait: poll's
 */
__poll_t khttpd_tlsdev_poll(struct file *file, poll_table *wait)
{
	struct khttpd_tlsdev *dev = file->private_data;
	__poll_t events = EPOLLERR;

	if (khttpd_tlsdev_of(file))
		return khttpd_tls_daemon_poll(file, wait);
	poll_wait(file, &khttpd_tlsdev_wait, wait);
	spin_lock(&khttpd_tlsdev_lock);
	if (!list_empty(&dev->node))
		events = dev->seen == khttpd_tlsdev_asked ? 0 : EPOLLIN | EPOLLRDNORM;
	spin_unlock(&khttpd_tlsdev_lock);
	return events;
}

static long khttpd_tlsdev_begin(struct khttpd_tlsdev *dev)
{
	struct khttpd_tlsd *tlsd;
	bool begun = false;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	tlsd = khttpd_tls_daemon_begin();
	if (!tlsd)
		return -ENOMEM;
	spin_lock(&khttpd_tlsdev_lock);
	if (!dev->tlsd && list_empty(&dev->node)) {
		/* Pairs with khttpd_tlsdev_of(). */
		smp_store_release(&dev->tlsd, tlsd);
		begun = true;
	}
	spin_unlock(&khttpd_tlsdev_lock);
	if (begun)
		return 0;
	khttpd_tls_daemon_end(tlsd);
	return -EBUSY;
}

/* @arg: what was done, if it watches already, and how often it was asked for by now. */
static int khttpd_tlsdev_note(struct khttpd_tlsdev *dev, struct khttpd_tls_watch *arg)
{
	int err = 0;

	spin_lock(&khttpd_tlsdev_lock);
	if (dev->tlsd) {
		err = -EBUSY;
	} else if (list_empty(&dev->node)) {
		list_add(&dev->node, &khttpd_tlsdev_watches);
		dev->done = khttpd_tlsdev_asked;
	} else if (arg->asked != dev->seen) {
		err = -EINVAL;
	} else {
		dev->done = dev->seen;
		dev->failed = arg->failed;
	}
	if (!err)
		dev->seen = khttpd_tlsdev_asked;
	arg->asked = dev->seen;
	spin_unlock(&khttpd_tlsdev_lock);
	return err;
}

static long khttpd_tlsdev_watch(struct khttpd_tlsdev *dev, struct khttpd_tls_watch __user *user)
{
	struct khttpd_tls_watch arg;
	int err;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.failed > 1)
		return -EINVAL;
	err = khttpd_tlsdev_note(dev, &arg);
	if (err)
		return err;
	wake_up_all(&khttpd_tlsdev_wait);
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

/* Return: how often that was asked for, this time included. */
static u32 khttpd_tlsdev_ask(void)
{
	u32 asked;

	spin_lock(&khttpd_tlsdev_lock);
	asked = ++khttpd_tlsdev_asked;
	spin_unlock(&khttpd_tlsdev_lock);
	wake_up_all(&khttpd_tlsdev_wait);
	return asked;
}

/* Have all who watch done what was asked for then? @failed: one could not. */
static bool khttpd_tlsdev_answered(u32 asked, bool *failed)
{
	struct khttpd_tlsdev *dev;
	bool all = true;

	*failed = false;
	spin_lock(&khttpd_tlsdev_lock);
	list_for_each_entry(dev, &khttpd_tlsdev_watches, node) {
		all &= (s32)(dev->done - asked) >= 0;
		*failed |= dev->failed;
	}
	spin_unlock(&khttpd_tlsdev_lock);
	return all;
}

static long khttpd_tlsdev_ask_and_wait(const u32 __user *user)
{
	u32 timeout, asked;
	bool failed;
	long left;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (get_user(timeout, user))
		return -EFAULT;
	timeout = min_t(u32, timeout, KHTTPD_TLSDEV_WAIT);
	asked = khttpd_tlsdev_ask();
	left = wait_event_interruptible_timeout(khttpd_tlsdev_wait,
						khttpd_tlsdev_answered(asked, &failed),
						msecs_to_jiffies(timeout));
	if (left <= 0)
		return left ? -EINTR : -ETIME;
	return failed ? -EKEYREJECTED : 0;
}

/**
 * khttpd_tlsdev_changed() - a site was started, changed or removed
 *
 * Context: process.
 */
void khttpd_tlsdev_changed(void)
{
	khttpd_tlsdev_ask();
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

static long khttpd_tlsdev_says(const struct khttpd_tlsd *tlsd,
			       const struct khttpd_tls_says __user *user)
{
	struct khttpd_tls_says arg;
	u8 *value;
	int err = -EINVAL;

	BUILD_BUG_ON(KHTTPD_TLS_SAYS_MAX != KHTTPD_PROXYHEAD_TLS);
	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (!arg.len || arg.len > KHTTPD_TLS_SAYS_MAX)
		return -EINVAL;
	value = memdup_user(u64_to_user_ptr(arg.value), arg.len);
	if (IS_ERR(value))
		return PTR_ERR(value);
	if (khttpd_proxyhead_tls_good(value, arg.len))
		err = khttpd_tls_daemon_says(tlsd, arg.id, value, arg.len);
	if (err)
		kfree(value);
	return err;
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
		return khttpd_tlsdev_begin(file->private_data);
	case KHTTPD_IOC_TLS_WATCH:
		return khttpd_tlsdev_watch(file->private_data, user);
	case KHTTPD_IOC_TLS_ASK:
		return khttpd_tlsdev_ask_and_wait(user);
	case KHTTPD_IOC_TLS_TAKE:
		return tlsd ? khttpd_tlsdev_take(tlsd, user) : -EPERM;
	case KHTTPD_IOC_TLS_SAYS:
		return tlsd ? khttpd_tlsdev_says(tlsd, user) : -EPERM;
	case KHTTPD_IOC_TLS_DONE:
		return tlsd ? khttpd_tlsdev_done(tlsd, user) : -EPERM;
	case KHTTPD_IOC_TLS_CIPHERS:
		return khttpd_tlsdev_ciphers(user);
	default:
		return -ENOTTY;
	}
}
