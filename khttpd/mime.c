// SPDX-License-Identifier: GPL-2.0
/* Media types by the extension of a file name: a fixed table of what web sites
 * are made of. Asked once for each cached file, so order does not matter.
 */
#include "mime.h"

struct khttpd_mime {
	const char *extension;
	const char *type;
};

static const struct khttpd_mime khttpd_mimes[] = {
	{ "html",	"text/html" },
	{ "htm",	"text/html" },
	{ "css",	"text/css" },
	{ "js",		"text/javascript" },
	{ "mjs",	"text/javascript" },
	{ "json",	"application/json" },
	{ "map",	"application/json" },
	{ "xml",	"text/xml" },
	{ "xhtml",	"application/xhtml+xml" },
	{ "rss",	"application/rss+xml" },
	{ "atom",	"application/atom+xml" },
	{ "txt",	"text/plain" },
	{ "md",		"text/markdown" },
	{ "csv",	"text/csv" },
	{ "png",	"image/png" },
	{ "jpg",	"image/jpeg" },
	{ "jpeg",	"image/jpeg" },
	{ "gif",	"image/gif" },
	{ "webp",	"image/webp" },
	{ "avif",	"image/avif" },
	{ "svg",	"image/svg+xml" },
	{ "ico",	"image/x-icon" },
	{ "bmp",	"image/bmp" },
	{ "tif",	"image/tiff" },
	{ "tiff",	"image/tiff" },
	{ "woff",	"font/woff" },
	{ "woff2",	"font/woff2" },
	{ "ttf",	"font/ttf" },
	{ "otf",	"font/otf" },
	{ "mp3",	"audio/mpeg" },
	{ "ogg",	"audio/ogg" },
	{ "oga",	"audio/ogg" },
	{ "opus",	"audio/ogg" },
	{ "flac",	"audio/flac" },
	{ "wav",	"audio/wav" },
	{ "m4a",	"audio/mp4" },
	{ "mp4",	"video/mp4" },
	{ "m4v",	"video/mp4" },
	{ "webm",	"video/webm" },
	{ "ogv",	"video/ogg" },
	{ "mkv",	"video/x-matroska" },
	{ "mpeg",	"video/mpeg" },
	{ "avi",	"video/x-msvideo" },
	{ "pdf",	"application/pdf" },
	{ "ps",		"application/postscript" },
	{ "epub",	"application/epub+zip" },
	{ "rtf",	"application/rtf" },
	{ "wasm",	"application/wasm" },
	{ "zip",	"application/zip" },
	{ "gz",		"application/gzip" },
	{ "tgz",	"application/gzip" },
	{ "bz2",	"application/x-bzip2" },
	{ "xz",		"application/x-xz" },
	{ "zst",	"application/zstd" },
	{ "tar",	"application/x-tar" },
	{ "7z",		"application/x-7z-compressed" },
	{ "deb",	"application/vnd.debian.binary-package" },
	{ "iso",	"application/octet-stream" },
};

/**
 * khttpd_mime_type() - media type of a file
 * @name: its name, with or without directories
 * @len: length of @name
 *
 * Return: the type; application/octet-stream if nothing is known.
 */
const char *khttpd_mime_type(const char *name, size_t len)
{
	size_t i, at = len;

	while (at && name[at - 1] != '.' && name[at - 1] != '/')
		at--;
	if (!at || name[at - 1] == '/')
		return "application/octet-stream";

	for (i = 0; i < ARRAY_SIZE(khttpd_mimes); i++) {
		const struct khttpd_mime *mime = &khttpd_mimes[i];

		if (strlen(mime->extension) == len - at &&
		    !strncasecmp(mime->extension, name + at, len - at))
			return mime->type;
	}
	return "application/octet-stream";
}

static void put_digits(char *out, int value, int digits)
{
	while (digits--) {
		out[digits] = '0' + value % 10;
		value /= 10;
	}
}

/**
 * khttpd_date_format() - write a time as an IMF-fixdate
 * @out: KHTTPD_DATE_LEN bytes, not terminated
 * @time: seconds since 1970; times outside years 1970 to 9999 are clamped
 */
void khttpd_date_format(char out[static KHTTPD_DATE_LEN], s64 time)
{
	static const char days[] = "ThuFriSatSunMonTueWed";
	static const char months[] = "MarAprMayJunJulAugSepOctNovDecJanFeb";
	int second, day, era_day, year, year_day, month;

	if (time < 0)
		time = 0;
	if (time > 253402300799LL)
		time = 253402300799LL;
	day = div_s64_rem(time, 86400, &second);

	/* Days since 1 March 0000, in eras of 400 years of 146097 days. */
	era_day = (day + 719468) % 146097;
	year = (era_day - era_day / 1460 + era_day / 36524 - era_day / 146096)
	       / 365;
	year_day = era_day - (365 * year + year / 4 - year / 100);
	month = (5 * year_day + 2) / 153;
	year += (day + 719468) / 146097 * 400 + (month >= 10);

	memcpy(out, "Thu, 01 Jan 1970 00:00:00 GMT", KHTTPD_DATE_LEN);
	memcpy(out, days + day % 7 * 3, 3);
	put_digits(out + 5, year_day - (153 * month + 2) / 5 + 1, 2);
	memcpy(out + 8, months + month * 3, 3);
	put_digits(out + 12, year, 4);
	put_digits(out + 17, second / 3600, 2);
	put_digits(out + 20, second / 60 % 60, 2);
	put_digits(out + 23, second % 60, 2);
}
