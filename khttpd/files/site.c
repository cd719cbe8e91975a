// SPDX-License-Identifier: GPL-2.0
/* A running site: a document root and the credentials to read it with. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include "site.h"

/* Credentials of whoever configures, with other ids and without powers. */
static const struct cred *khttpd_site_cred(kuid_t uid, kgid_t gid)
{
	struct group_info *groups;
	struct cred *cred;

	groups = groups_alloc(0);
	if (!groups)
		return NULL;
	cred = prepare_creds();
	if (!cred)
		goto out;
	cred->uid = uid;
	cred->euid = uid;
	cred->suid = uid;
	cred->fsuid = uid;
	cred->gid = gid;
	cred->egid = gid;
	cred->sgid = gid;
	cred->fsgid = gid;
	cap_clear(cred->cap_inheritable);
	cap_clear(cred->cap_permitted);
	cap_clear(cred->cap_effective);
	cap_clear(cred->cap_bset);
	cap_clear(cred->cap_ambient);
	set_groups(cred, groups);
out:
	put_group_info(groups);
	return cred;
}

static bool khttpd_site_options(struct khttpd_options *to,
				const struct khttpd_options *from)
{
	*to = *from;
	to->rules = NULL;
	to->types = NULL;
	if (from->rules) {
		to->rules = kmemdup(from->rules, sizeof(*from->rules),
				    GFP_KERNEL);
		if (!to->rules)
			return false;
	}
	if (from->types) {
		to->types = kvmalloc(from->types_len, GFP_KERNEL);
		if (!to->types)
			return false;
		memcpy(to->types, from->types, from->types_len);
	}
	return true;
}

/**
 * khttpd_site_create() - make a site from its configuration
 * @id: what this site and those have in common that take its place
 * @name: its name
 * @docroot: path of a directory, looked up as the calling process
 * @options: what else it does; copied
 * @uid: user as whom files are read
 * @gid: group
 *
 * Context: process.
 * Return: the site with one reference, or an error.
 */
struct khttpd_site *khttpd_site_create(const void *id, const char *name,
				       const char *docroot,
				       const struct khttpd_options *options,
				       kuid_t uid, kgid_t gid)
{
	struct khttpd_site *site;
	int err = -ENOMEM;

	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	refcount_set(&site->refs, 1);
	site->id = id;
	INIT_LIST_HEAD(&site->vhosts);
	strscpy(site->name, name, sizeof(site->name));
	if (!khttpd_site_options(&site->options, options))
		goto fail_cred;

	site->cred = khttpd_site_cred(uid, gid);
	if (!site->cred)
		goto fail_cred;
	err = kern_path(docroot, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &site->root);
	if (err)
		goto fail_root;
	return site;

fail_root:
	put_cred(site->cred);
fail_cred:
	kfree(site->options.rules);
	kvfree(site->options.types);
	kfree(site);
	return ERR_PTR(err);
}

/**
 * khttpd_site_move() - make a site that differs in its document root only
 * @old: the one
 * @root: the other's document root
 *
 * Context: process.
 * Return: the site with one reference and nothing behind it, or NULL without memory.
 */
struct khttpd_site *khttpd_site_move(const struct khttpd_site *old, const struct path *root)
{
	struct khttpd_site *site;

	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return NULL;
	refcount_set(&site->refs, 1);
	site->id = old->id;
	INIT_LIST_HEAD(&site->vhosts);
	strscpy(site->name, old->name, sizeof(site->name));
	if (!khttpd_site_options(&site->options, &old->options)) {
		kfree(site->options.rules);
		kfree(site);
		return NULL;
	}
	site->cred = get_cred(old->cred);
	site->root = *root;
	path_get(&site->root);
	return site;
}

/**
 * khttpd_site_get() - take a reference
 * @site: the site
 *
 * Return: @site
 */
struct khttpd_site *khttpd_site_get(struct khttpd_site *site)
{
	refcount_inc(&site->refs);
	return site;
}

/**
 * khttpd_site_put() - give a reference back
 * @site: the site
 *
 * Context: process.
 */
void khttpd_site_put(struct khttpd_site *site)
{
	if (!refcount_dec_and_test(&site->refs))
		return;
	path_put(&site->root);
	put_cred(site->cred);
	kfree(site->options.rules);
	kvfree(site->options.types);
	/* A search for a listener's site may compare it still. */
	kfree_rcu(site, rcu);
}
