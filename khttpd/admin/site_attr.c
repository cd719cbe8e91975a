// SPDX-License-Identifier: GPL-2.0
/* The attributes of a site's directory: where the files are, who reads them, what else the site
 * does, and whether it runs.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "../http/mime.h"
#include "../listen/handover.h"
#include "config.h"

/* Longest table of media types. */
#define KHTTPD_TYPES_MAX	(128 * 1024)

static ssize_t khttpd_site_enabled_show(struct config_item *item, char *page)
{
	return sprintf(page, "%d\n", !!READ_ONCE(to_site(item)->site));
}

static ssize_t khttpd_site_enabled_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	bool enable;
	int err;

	err = kstrtobool(page, &enable);
	if (err)
		return err;
	mutex_lock(&khttpd_config_lock);
	if (enable && site->site)
		err = khttpd_site_life_reload(site);
	else if (enable)
		err = khttpd_site_life_start(site);
	else
		khttpd_site_life_stop(site);
	if (!err)
		site->pending = false;
	mutex_unlock(&khttpd_config_lock);
	if (!err)
		khttpd_tlsdev_changed();
	return err ? err : len;
}
CONFIGFS_ATTR(khttpd_site_, enabled);

static ssize_t khttpd_site_pending_show(struct config_item *item, char *page)
{
	struct khttpd_site_item *site = to_site(item);
	bool pending;

	mutex_lock(&khttpd_config_lock);
	pending = site->site && site->pending;
	mutex_unlock(&khttpd_config_lock);
	return sprintf(page, "%d\n", pending);
}
CONFIGFS_ATTR_RO(khttpd_site_, pending);

/* An attribute was written, or, if @result is negative, was not. */
static ssize_t khttpd_site_item_written(struct config_item *item,
					ssize_t result)
{
	if (result < 0)
		return result;
	/* Afterwards: a site that is changed meanwhile may have taken the old one. */
	mutex_lock(&khttpd_config_lock);
	to_site(item)->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return result;
}

/* A string that most sites do without: NULL if it is empty. */
static ssize_t khttpd_site_string_show(char *const *text, char *page)
{
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = sprintf(page, "%s\n", *text ?: "");
	mutex_unlock(&khttpd_config_lock);
	return len;
}

/* One of less than @size bytes, which leave room for a newline in a page. */
static ssize_t khttpd_site_string_store(struct khttpd_site_item *site, char **text, size_t size,
					const char *page, size_t len)
{
	/* One newline comes from echo. */
	size_t used = len && page[len - 1] == '\n' ? len - 1 : len;
	char *copy = NULL;

	if (used >= size || memchr(page, '\0', used))
		return -EINVAL;
	if (used) {
		copy = kstrndup(page, used, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
	}
	mutex_lock(&khttpd_config_lock);
	swap(*text, copy);
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	kfree(copy);
	return len;
}

static ssize_t khttpd_site_docroot_show(struct config_item *item, char *page)
{
	return khttpd_site_string_show(&to_site(item)->docroot, page);
}

static ssize_t khttpd_site_docroot_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	if (page[0] != '/')
		return -EINVAL;
	return khttpd_site_string_store(site, &site->docroot, PAGE_SIZE - 1, page, len);
}
CONFIGFS_ATTR(khttpd_site_, docroot);

static ssize_t khttpd_site_index_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.index);
}

static ssize_t khttpd_site_index_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	char name[KHTTPD_INDEX_NAME];

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, page, len);
	name[len] = '\0';
	if (strchr(name, '/') || !strcmp(strim(name), "..") ||
	    !strcmp(strim(name), "."))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	strscpy(site->options.index, strim(name), sizeof(site->options.index));
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return len;
}
CONFIGFS_ATTR(khttpd_site_, index);

#define KHTTPD_SITE_FLAG(name)						\
static bool *khttpd_site_flag_##name(struct config_item *item)		\
{									\
	return &to_site(item)->options.name;				\
}									\
									\
static ssize_t khttpd_site_##name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	return sprintf(page, "%d\n", *khttpd_site_flag_##name(item));	\
}									\
									\
static ssize_t khttpd_site_##name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	bool *flag = khttpd_site_flag_##name(item);			\
									\
	return khttpd_site_item_written(item,				\
			khttpd_config_switch(flag, NULL, page, len));	\
}

KHTTPD_SITE_FLAG(listing)
CONFIGFS_ATTR(khttpd_site_, listing);
KHTTPD_SITE_FLAG(etag_version)
CONFIGFS_ATTR(khttpd_site_, etag_version);
KHTTPD_SITE_FLAG(precompressed)
CONFIGFS_ATTR(khttpd_site_, precompressed);
KHTTPD_SITE_FLAG(until_closed)
CONFIGFS_ATTR(khttpd_site_, until_closed);
KHTTPD_SITE_FLAG(send_proxy)
CONFIGFS_ATTR(khttpd_site_, send_proxy);

static ssize_t khttpd_site_rules_show(struct config_item *item, char *page)
{
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = sprintf(page, "%s", to_site(item)->rules ?: "");
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_rules_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	struct khttpd_rules *rules;
	ssize_t err = -EINVAL;
	char *text;

	rules = kzalloc(sizeof(*rules), GFP_KERNEL);
	text = kstrndup(page, len, GFP_KERNEL);
	if (!rules || !text) {
		err = -ENOMEM;
		goto out;
	}
	if (strlen(text) != len || !khttpd_rules_parse(rules, text, len))
		goto out;
	mutex_lock(&khttpd_config_lock);
	swap(site->options.rules, rules);
	swap(site->rules, text);
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	err = len;
out:
	kfree(rules);
	kfree(text);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, rules);

/* Take a word or words of less than @size bytes. */
static ssize_t khttpd_site_text_store(struct khttpd_site_item *site, char *text,
				      size_t size, const char *page, size_t len)
{
	if (len >= size || memchr(page, '\0', len))
		return -EINVAL;
	mutex_lock(&khttpd_config_lock);
	memcpy(text, page, len);
	text[len] = '\0';
	/* One newline comes from echo. */
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_names_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.names);
}

static ssize_t khttpd_site_names_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	if (!khttpd_names_valid(page))
		return -EINVAL;
	return khttpd_site_text_store(site, site->options.names,
				      sizeof(site->options.names), page, len);
}
CONFIGFS_ATTR(khttpd_site_, names);

static ssize_t khttpd_site_hsts_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->options.hsts);
}

static ssize_t khttpd_site_hsts_store(struct config_item *item, const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	if (!khttpd_https_hsts_valid(page))
		return -EINVAL;
	return khttpd_site_text_store(site, site->options.hsts, sizeof(site->options.hsts), page,
				      len);
}
CONFIGFS_ATTR(khttpd_site_, hsts);

static ssize_t khttpd_site_proxy_protocol_show(struct config_item *item, char *page)
{
	return khttpd_site_string_show(&to_site(item)->proxies, page);
}

static ssize_t khttpd_site_proxy_protocol_store(struct config_item *item, const char *page,
						size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	struct khttpd_prefixes *list;
	ssize_t err = -EINVAL;

	list = kmalloc(sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	if (strlen(page) == len && khttpd_prefixes_parse(list, page)) {
		err = khttpd_site_string_store(site, &site->proxies, KHTTPD_PREFIXES_SIZE, page,
					       len);
		mutex_lock(&khttpd_config_lock);
		if (err >= 0)
			site->options.proxies = *list;
		mutex_unlock(&khttpd_config_lock);
	}
	kfree(list);
	return err;
}
CONFIGFS_ATTR(khttpd_site_, proxy_protocol);

static ssize_t khttpd_site_behind_show(struct config_item *item, char *page)
{
	return sprintf(page, "%s\n", to_site(item)->behind);
}

static ssize_t khttpd_site_behind_store(struct config_item *item,
					const char *page, size_t len)
{
	struct khttpd_site_item *site = to_site(item);

	return khttpd_site_text_store(site, site->behind, sizeof(site->behind),
				      page, len);
}
CONFIGFS_ATTR(khttpd_site_, behind);

/* Paths for khttpd-tlsd, one a line: the kernel opens none of these files. */
static ssize_t khttpd_site_pem_store(struct khttpd_site_item *site, char **paths,
				     const char *page, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if ((!i || page[i - 1] == '\n') && page[i] != '/' && page[i] != '\n')
			return -EINVAL;
	}
	return khttpd_site_string_store(site, paths, KHTTPD_PEM_PATHS, page, len);
}

#define KHTTPD_SITE_PEM(name)						\
static char **khttpd_site_pem_##name(struct config_item *item)		\
{									\
	return &to_site(item)->pem.name;				\
}									\
									\
static ssize_t khttpd_site_##name##_show(struct config_item *item,	\
					 char *page)			\
{									\
	return khttpd_site_string_show(khttpd_site_pem_##name(item), page); \
}									\
									\
static ssize_t khttpd_site_##name##_store(struct config_item *item,	\
					  const char *page, size_t len)	\
{									\
	return khttpd_site_pem_store(to_site(item),			\
				     khttpd_site_pem_##name(item), page, len); \
}

KHTTPD_SITE_PEM(certificate)
CONFIGFS_ATTR(khttpd_site_, certificate);
KHTTPD_SITE_PEM(key)
CONFIGFS_ATTR(khttpd_site_, key);
KHTTPD_SITE_PEM(client_ca)
CONFIGFS_ATTR(khttpd_site_, client_ca);

static ssize_t khttpd_site_types_read(struct config_item *item, void *buf,
				      size_t size)
{
	const struct khttpd_options *options = &to_site(item)->options;
	ssize_t len;

	mutex_lock(&khttpd_config_lock);
	len = options->types_len;
	if (buf && len)
		memcpy(buf, options->types, min_t(size_t, len, size));
	/* All of @buf is what is read, also if the table has become shorter. */
	if (buf && len < size)
		memset(buf + len, '\n', size - len);
	mutex_unlock(&khttpd_config_lock);
	return len;
}

static ssize_t khttpd_site_types_write(struct config_item *item,
				       const void *buf, size_t len)
{
	struct khttpd_site_item *site = to_site(item);
	char *types;

	if (!khttpd_mime_valid(buf, len, KHTTPD_TYPE_MAX))
		return -EINVAL;
	types = kvmalloc(len, GFP_KERNEL);
	if (!types)
		return -ENOMEM;
	memcpy(types, buf, len);
	mutex_lock(&khttpd_config_lock);
	swap(site->options.types, types);
	site->options.types_len = len;
	site->pending = true;
	mutex_unlock(&khttpd_config_lock);
	kvfree(types);
	return len;
}
CONFIGFS_BIN_ATTR(khttpd_site_, types, NULL, KHTTPD_TYPES_MAX);

struct configfs_bin_attribute *khttpd_site_bin_attrs[] = {
	&khttpd_site_attr_types,
	NULL
};

/* Ids of the initial user namespace; the last number is none. Root owns files that nobody else
 * may read, and root's group files that only it may. Capabilities are not all that root has.
 */
#define KHTTPD_ID_MIN		1
#define KHTTPD_ID_MAX		(U32_MAX - 1)

static ssize_t khttpd_site_uid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", READ_ONCE(to_site(item)->uid));
}

static ssize_t khttpd_site_uid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_item_written(item,
			khttpd_config_number(&to_site(item)->uid, KHTTPD_ID_MIN,
					     KHTTPD_ID_MAX, NULL, page, len));
}
CONFIGFS_ATTR(khttpd_site_, uid);

static ssize_t khttpd_site_gid_show(struct config_item *item, char *page)
{
	return sprintf(page, "%u\n", READ_ONCE(to_site(item)->gid));
}

static ssize_t khttpd_site_gid_store(struct config_item *item,
				     const char *page, size_t len)
{
	return khttpd_site_item_written(item,
			khttpd_config_number(&to_site(item)->gid, KHTTPD_ID_MIN,
					     KHTTPD_ID_MAX, NULL, page, len));
}
CONFIGFS_ATTR(khttpd_site_, gid);

static ssize_t khttpd_site_attached_show(struct config_item *item, char *page)
{
	struct khttpd_site_item *site = to_site(item);
	unsigned int n = 0;

	mutex_lock(&khttpd_config_lock);
	if (site->site)
		n = khttpd_attached(site->site);
	mutex_unlock(&khttpd_config_lock);
	return sprintf(page, "%u\n", n);
}
CONFIGFS_ATTR_RO(khttpd_site_, attached);

struct configfs_attribute *khttpd_site_attrs[] = {
	&khttpd_site_attr_docroot,
	&khttpd_site_attr_index,
	&khttpd_site_attr_listing,
	&khttpd_site_attr_etag_version,
	&khttpd_site_attr_precompressed,
	&khttpd_site_attr_until_closed,
	&khttpd_site_attr_rules,
	&khttpd_site_attr_names,
	&khttpd_site_attr_behind,
	&khttpd_site_attr_certificate,
	&khttpd_site_attr_key,
	&khttpd_site_attr_client_ca,
	&khttpd_site_attr_hsts,
	&khttpd_site_attr_proxy_protocol,
	&khttpd_site_attr_send_proxy,
	&khttpd_site_attr_uid,
	&khttpd_site_attr_gid,
	&khttpd_site_attr_attached,
	&khttpd_site_attr_enabled,
	&khttpd_site_attr_pending,
	NULL
};
