/* SPDX-License-Identifier: GPL-2.0 */
/* Shrinkers: the owner's structure until 6.6, the core's from 6.7 on. Ends with the last
 * kernel below 6.7.
 */
#ifndef _KHTTPD_COMPAT_SHRINKER_H
#define _KHTTPD_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

/* Start to shrink what @model says; NULL without memory. */
static inline struct shrinker *
khttpd_shrinker_start(const struct shrinker *model, const char *name)
{
	struct shrinker *shrinker;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	shrinker = kmemdup(model, sizeof(*model), GFP_KERNEL);
	if (shrinker && register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
#else
	shrinker = shrinker_alloc(0, "%s", name);
	if (shrinker) {
		shrinker->count_objects = model->count_objects;
		shrinker->scan_objects = model->scan_objects;
		shrinker->seeks = model->seeks;
		shrinker_register(shrinker);
	}
#endif
	return shrinker;
}

/* Its callbacks do not run any more afterwards. May sleep. */
static inline void khttpd_shrinker_stop(struct shrinker *shrinker)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	unregister_shrinker(shrinker);
	kfree(shrinker);
#else
	shrinker_free(shrinker);
#endif
}

#endif /* _KHTTPD_COMPAT_SHRINKER_H */
