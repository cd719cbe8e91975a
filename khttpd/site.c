// SPDX-License-Identifier: GPL-2.0
/* A running site: a document root and the credentials to read it with. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include "khttpd.h"

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

/**
 * khttpd_site_create() - make a site from its configuration
 * @name: its name
 * @docroot: path of a directory, looked up as the calling process
 * @index: index file's name, or empty
 * @uid: user as whom files are read
 * @gid: group
 *
 * Context: process.
 * Return: the site with one reference, or an error.
 */
struct khttpd_site *khttpd_site_create(const char *name, const char *docroot,
				       const char *index, kuid_t uid,
				       kgid_t gid)
{
	struct khttpd_site *site;
	int err = -ENOMEM;

	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	refcount_set(&site->refs, 1);
	strscpy(site->name, name, sizeof(site->name));
	strscpy(site->index, index, sizeof(site->index));

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
	kfree(site);
	return ERR_PTR(err);
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
	kfree(site);
}
