// SPDX-License-Identifier: GPL-2.0
/* net6xlat.ko: a translator between IPv6 and IPv4, RFC 7915. It uses what include/net6/ gives to
 * any module.
 */
#include <linux/module.h>

#include "xlat.h"

static int __init net6_xlat_init(void)
{
	int err = net6_xlat_dev_init();

	if (err)
		return err;
	err = net6_xlat_nl_init();
	if (err)
		net6_xlat_dev_exit();
	return err;
}

static void __exit net6_xlat_exit(void)
{
	net6_xlat_nl_exit();
	net6_xlat_dev_exit();
}

module_init(net6_xlat_init);
module_exit(net6_xlat_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(NET6_VERSION));
MODULE_DESCRIPTION("net6xlat, a translator between IPv6 and IPv4");
