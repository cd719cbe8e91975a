// SPDX-License-Identifier: GPL-2.0
/* Numbers and switches, which the attributes of all directories have in common. */
#include <linux/kernel.h>
#include "config.h"

DEFINE_MUTEX(khttpd_config_lock);

/* Is what an open listener was made with to be changed? */
static int khttpd_config_fixed(const unsigned int *open)
	__must_hold(&khttpd_config_lock)
{
	lockdep_assert_held(&khttpd_config_lock);
	return open && *open ? -EBUSY : 0;
}

/**
 * khttpd_config_number() - a number was written
 * @number: where it goes
 * @least: smallest that may be
 * @most: largest
 * @open: count of open sockets that have it: 0 if it is to be changed; or NULL
 * @page: what was written
 * @len: its length
 *
 * Without @open nothing is locked: a site that stops holds the lock for as long as limits
 * say, and they must be changed meanwhile. Readers see the old number or the new one.
 *
 * Context: process.
 * Return: @len; -EINVAL if it is no number; -ERANGE; -EBUSY.
 */
ssize_t khttpd_config_number(u32 *number, u32 least, u32 most,
			     const unsigned int *open, const char *page,
			     size_t len)
{
	u32 value;
	int err;

	err = kstrtou32(page, 10, &value);
	if (err)
		return err;
	if (value < least || value > most)
		return -ERANGE;
	if (!open) {
		WRITE_ONCE(*number, value);
		return len;
	}
	mutex_lock(&khttpd_config_lock);
	err = khttpd_config_fixed(open);
	if (!err)
		*number = value;
	mutex_unlock(&khttpd_config_lock);
	return err ?: len;
}

/**
 * khttpd_config_switch() - a switch was written
 * @on: where it goes
 * @open: as for khttpd_config_number()
 * @page: what was written
 * @len: its length
 *
 * Context: process.
 * Return: @len; -EINVAL if it is neither on nor off; -EBUSY.
 */
ssize_t khttpd_config_switch(bool *on, const unsigned int *open,
			     const char *page, size_t len)
{
	bool value;
	int err;

	err = kstrtobool(page, &value);
	if (err)
		return err;
	mutex_lock(&khttpd_config_lock);
	err = khttpd_config_fixed(open);
	if (!err)
		*on = value;
	mutex_unlock(&khttpd_config_lock);
	return err ?: len;
}
