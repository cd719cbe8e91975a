// SPDX-License-Identifier: GPL-2.0
/* Media types by the extension of a file name: a fixed table of what web sites
 * are made of, with all extensions that nginx knows. Asked once for each cached
 * file, so order does not matter. Not the system's table: for Debian's "ts" is
 * a translation, not the video that sites have.
 */
#include "chars.h"
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
	{ "shtml",	"text/html" },
	{ "ics",	"text/calendar" },
	{ "vcf",	"text/vcard" },
	{ "vtt",	"text/vtt" },
	{ "mml",	"application/mathml+xml" },
	{ "htc",	"text/x-component" },
	{ "jad",	"text/vnd.sun.j2me.app-descriptor" },
	{ "wml",	"text/vnd.wap.wml" },
	{ "tcl",	"application/x-tcl" },
	{ "tk",		"application/x-tcl" },
	{ "pl",		"application/x-perl" },
	{ "pm",		"application/x-perl" },
	{ "yaml",	"application/yaml" },
	{ "yml",	"application/yaml" },
	{ "toml",	"application/toml" },
	{ "jsonld",	"application/ld+json" },
	{ "geojson",	"application/geo+json" },
	{ "webmanifest", "application/manifest+json" },
	{ "svgz",	"image/svg+xml" },
	{ "apng",	"image/apng" },
	{ "jxl",	"image/jxl" },
	{ "heic",	"image/heic" },
	{ "wbmp",	"image/vnd.wap.wbmp" },
	{ "jng",	"image/x-jng" },
	{ "aac",	"audio/aac" },
	{ "weba",	"audio/webm" },
	{ "mid",	"audio/midi" },
	{ "midi",	"audio/midi" },
	{ "kar",	"audio/midi" },
	{ "ra",		"audio/x-realaudio" },
	{ "3gp",	"video/3gpp" },
	{ "3gpp",	"video/3gpp" },
	{ "ts",		"video/mp2t" },
	{ "mpg",	"video/mpeg" },
	{ "mov",	"video/quicktime" },
	{ "flv",	"video/x-flv" },
	{ "mng",	"video/x-mng" },
	{ "asx",	"video/x-ms-asf" },
	{ "asf",	"video/x-ms-asf" },
	{ "wmv",	"video/x-ms-wmv" },
	{ "m3u8",	"application/vnd.apple.mpegurl" },
	{ "mpd",	"application/dash+xml" },
	{ "xspf",	"application/xspf+xml" },
	{ "eps",	"application/postscript" },
	{ "ai",		"application/postscript" },
	{ "doc",	"application/msword" },
	{ "docx",
	  "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
	{ "xls",	"application/vnd.ms-excel" },
	{ "xlsx",
	  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
	{ "ppt",	"application/vnd.ms-powerpoint" },
	{ "pptx",
	  "application/vnd.openxmlformats-officedocument.presentationml.presentation" },
	{ "odt",	"application/vnd.oasis.opendocument.text" },
	{ "ods",	"application/vnd.oasis.opendocument.spreadsheet" },
	{ "odp",	"application/vnd.oasis.opendocument.presentation" },
	{ "odg",	"application/vnd.oasis.opendocument.graphics" },
	{ "kml",	"application/vnd.google-earth.kml+xml" },
	{ "kmz",	"application/vnd.google-earth.kmz" },
	{ "eot",	"application/vnd.ms-fontobject" },
	{ "wmlc",	"application/vnd.wap.wmlc" },
	{ "jar",	"application/java-archive" },
	{ "war",	"application/java-archive" },
	{ "ear",	"application/java-archive" },
	{ "jardiff",	"application/x-java-archive-diff" },
	{ "jnlp",	"application/x-java-jnlp-file" },
	{ "apk",	"application/vnd.android.package-archive" },
	{ "hqx",	"application/mac-binhex40" },
	{ "cco",	"application/x-cocoa" },
	{ "run",	"application/x-makeself" },
	{ "prc",	"application/x-pilot" },
	{ "pdb",	"application/x-pilot" },
	{ "rar",	"application/vnd.rar" },
	{ "rpm",	"application/x-redhat-package-manager" },
	{ "sea",	"application/x-sea" },
	{ "sit",	"application/x-stuffit" },
	{ "swf",	"application/x-shockwave-flash" },
	{ "der",	"application/x-x509-ca-cert" },
	{ "pem",	"application/x-x509-ca-cert" },
	{ "crt",	"application/x-x509-ca-cert" },
	{ "xpi",	"application/x-xpinstall" },
};

/* The extension of a file's name. Return: its length, 0 if it has none. */
static size_t extension(const char *name, size_t len, size_t *at)
{
	*at = len;
	while (*at && name[*at - 1] != '.' && name[*at - 1] != '/')
		(*at)--;
	return *at && name[*at - 1] == '.' ? len - *at : 0;
}

/* A word of @text. Return: its length, 0 at the end of the line or text. */
static size_t type_word(const char *text, size_t len, size_t *at, size_t *word)
{
	while (*at < len && is_space(text[*at]))
		(*at)++;
	*word = *at;
	while (*at < len && text[*at] > ' ')
		(*at)++;
	return *at - *word;
}

/* Does the line at @at, of "TYPE EXTENSION...", have the extension? */
static bool line_has(const char *text, size_t end, size_t at,
		     const char *wanted, size_t wanted_len)
{
	size_t word, n;

	while ((n = type_word(text, end, &at, &word))) {
		if (n == wanted_len && !strncasecmp(text + word, wanted, n))
			return true;
	}
	return false;
}

/**
 * khttpd_mime_valid() - may this be a table of types?
 * @text: lines of "TYPE EXTENSION...", as in /etc/mime.types
 * @len: its length
 * @max: longest type allowed
 *
 * Return: false if a line has something that cannot stand in a header field.
 */
bool khttpd_mime_valid(const char *text, size_t len, size_t max)
{
	size_t at, end, word;

	for (at = 0; at < len; at++) {
		if (text[at] != '\n' && text[at] != '\t' &&
		    (text[at] < ' ' || text[at] > '~'))
			return false;
	}
	for (at = 0; at < len; at = end + 1) {
		const char *line = memchr(text + at, '\n', len - at);

		end = line ? line - text : len;
		if (type_word(text, end, &at, &word) > max)
			return false;
	}
	return true;
}

/**
 * khttpd_mime_find() - media type of a file
 * @text: a table of its own, valid by khttpd_mime_valid(), or NULL
 * @len: its length
 * @name: the file's name, with or without directories
 * @name_len: length of @name
 * @type_len: length of the result
 *
 * Return: the type, not terminated; application/octet-stream if nothing is
 * known.
 */
const char *khttpd_mime_find(const char *text, size_t len, const char *name,
			     size_t name_len, size_t *type_len)
{
	static const char unknown[] = "application/octet-stream";
	size_t at, end, word, n, from, i;

	n = extension(name, name_len, &from);
	for (at = 0; text && n && at < len; at = end + 1) {
		const char *line = memchr(text + at, '\n', len - at);

		end = line ? line - text : len;
		*type_len = type_word(text, end, &at, &word);
		if (*type_len && text[word] != '#' &&
		    line_has(text, end, at, name + from, n))
			return text + word;
	}
	for (i = 0; n && i < ARRAY_SIZE(khttpd_mimes); i++) {
		const struct khttpd_mime *mime = &khttpd_mimes[i];

		if (strlen(mime->extension) == n &&
		    !strncasecmp(mime->extension, name + from, n)) {
			*type_len = strlen(mime->type);
			return mime->type;
		}
	}
	*type_len = sizeof(unknown) - 1;
	return unknown;
}
