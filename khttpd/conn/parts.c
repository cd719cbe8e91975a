// SPDX-License-Identifier: GPL-2.0
/* multipart/byteranges, RFC 9110 section 14.6: what stands between the parts.
 * They are sent one after the other, each as text and a piece of the file.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "conn.h"

/* What stands in front of part @n, or behind the last.
 * Return: its length, also if @size is too small.
 */
static int khttpd_parts_text(char *text, size_t size,
			     const struct khttpd_parts *parts,
			     const struct khttpd_entry *entry, unsigned int n)
{
	const struct khttpd_range *range = &parts->range[n];

	if (n == parts->count)
		return snprintf(text, size, "\r\n--%016llx--\r\n",
				parts->boundary);
	return snprintf(text, size,
			"\r\n--%016llx\r\n%.*sContent-Range: bytes %llu-%llu/%llu\r\n\r\n",
			parts->boundary, entry->coding_at - entry->type_at,
			entry->header + entry->type_at, range->from,
			range->end - 1, (u64)entry->size);
}

/**
 * khttpd_parts_length() - length of the whole body
 * @parts: the parts
 * @entry: their file
 *
 * Return: bytes.
 */
u64 khttpd_parts_length(const struct khttpd_parts *parts,
			const struct khttpd_entry *entry)
{
	unsigned int i;
	u64 len = 0;

	for (i = 0; i <= parts->count; i++)
		len += khttpd_parts_text(NULL, 0, parts, entry, i);
	for (i = 0; i < parts->count; i++)
		len += parts->range[i].end - parts->range[i].from;
	return len;
}

/**
 * khttpd_parts_next() - go on to the next part
 * @out: reply with parts, of which everything before is sent
 *
 * Return: 1 with @out set to the part, or to what is behind the last; 0 if that
 * was sent before; -ENOMEM.
 */
int khttpd_parts_next(struct khttpd_out *out)
{
	struct khttpd_parts *parts = out->parts;
	unsigned int n = parts->next;
	int len;

	if (n > parts->count)
		return 0;
	len = khttpd_parts_text(NULL, 0, parts, out->entry, n);
	out->text = kvmalloc(len + 1, GFP_KERNEL);
	if (!out->text)
		return -ENOMEM;
	khttpd_parts_text(out->text, len + 1, parts, out->entry, n);
	out->text_pos = 0;
	out->text_len = len;
	if (n < parts->count) {
		out->pos = parts->range[n].from;
		out->end = parts->range[n].end;
	}
	parts->next++;
	return 1;
}
