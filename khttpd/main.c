// SPDX-License-Identifier: GPL-2.0
/* khttpd: a web server in the kernel. Loading and unloading, in one order. */
#include <linux/module.h>
#include "admin/config.h"
#include "admin/docroot.h"
#include "conn/conn.h"
#include "files/cache.h"
#include "listen/handover.h"
#include "listen/listener.h"
#include "listen/peer.h"
#include "listen/tls.h"
#include "observe/log.h"
#include "soft/soft.h"

struct khttpd_part {
	int (*init)(void);
	void (*exit)(void);
};

/* In the order of use: a later one may use an earlier one. */
static const struct khttpd_part khttpd_parts[] = {
	{ khttpd_log_init, khttpd_log_exit },
	{ khttpd_cache_init, khttpd_cache_exit },
	{ khttpd_peers_init, khttpd_peers_exit },
	{ khttpd_soft_init, khttpd_soft_exit },
	{ khttpd_jobs_init, khttpd_jobs_exit },
	{ khttpd_conns_init, khttpd_conns_exit },
	{ khttpd_threads_init, khttpd_threads_exit },
	{ khttpd_tls_init, khttpd_tls_exit },
	{ khttpd_interpose_init, khttpd_interpose_exit },
	{ khttpd_listeners_init, khttpd_listeners_exit },
	{ khttpd_docroot_init, khttpd_docroot_exit },
	{ khttpd_configfs_init, khttpd_configfs_exit },
	{ khttpd_dev_init, khttpd_dev_exit },
	{ khttpd_backdev_init, khttpd_backdev_exit },
};

static void khttpd_exit_parts(int count)
{
	while (count--)
		khttpd_parts[count].exit();
}

static int __init khttpd_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(khttpd_parts); i++) {
		err = khttpd_parts[i].init();
		if (err) {
			khttpd_exit_parts(i);
			return err;
		}
	}
	return 0;
}

static void __exit khttpd_exit(void)
{
	khttpd_exit_parts(ARRAY_SIZE(khttpd_parts));
	/* Entries and listeners are freed after a grace period. */
	rcu_barrier();
}

module_init(khttpd_init);
module_exit(khttpd_exit);
MODULE_DESCRIPTION("Web server that leaves user space what it is needed for");
MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(NET6_VERSION));
