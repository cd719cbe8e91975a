/* SPDX-License-Identifier: GPL-2.0 */
/* Counters: one list for enum and names, per CPU, never reset. */
#ifndef _KHTTPD_STATS_H
#define _KHTTPD_STATS_H

#include <linux/percpu.h>

/* X(name, text): what is counted, in events unless the name says bytes. */
#define KHTTPD_STATS(X)							\
	X(accepted, "connections taken from listeners") \
	X(closed, "connections ended by us") \
	X(requests, "requests answered, with errors or not") \
	X(replies_file, "200 with a file") \
	X(replies_part, "206 with parts of a file") \
	X(replies_unchanged, "304, not modified") \
	X(replies_other, "listings, OPTIONS, status pages") \
	X(replies_redirect, "301 and its like: the slash behind a directory, rules") \
	X(replies_error, "4xx and 5xx, framing errors too") \
	X(bytes_sent, "bytes given to the sockets") \
	X(handed_over, "connections given to a server") \
	X(given_back, "connections that a server gave back") \
	X(handover_full, "503: the server's queue was full") \
	X(handover_gone, "503: the server went away") \
	X(bad_heads, "request heads refused by the parser") \
	X(head_bytes_over, "request heads longer than head_bytes") \
	X(head_fields_over, "request heads of more lines than head_fields, or than are noted") \
	X(bad_paths, "malformed or escaping paths") \
	X(connections_full, "over max_connections on accept") \
	X(address_full, "over max_per_address on accept") \
	X(proxied, "connections for which a trusted proxy named the client, or itself") \
	X(proxied_bad, "connections of a trusted proxy that do not begin as they must") \
	X(mptcp_refused, "connections of MPTCP reset: a rule denies a path, or blocks clients") \
	X(access_refused, "403: a rule blocks the client's address") \
	X(requests_refused, "429: over request_rate") \
	X(peers_unknown, "clients that could not be limited") \
	X(timeout_head, "head not complete in time") \
	X(timeout_idle, "no further request in time") \
	X(timeout_send, "peer took too little of a reply") \
	X(timeout_linger, "peer did not close in time") \
	X(send_blocked, "times that a reply waited for room in a socket") \
	X(truncated, "file became shorter while sent") \
	X(read_errors, "file could not be read while sent") \
	X(aborted, "connection lost in mid-reply") \
	X(lost, "connection lost while a request was awaited") \
	X(no_memory, "allocation failed: connection ended or waits, or 503") \
	X(cache_hits, "files found open and still true") \
	X(cache_misses, "files not found open") \
	X(cache_stale, "files found open and no longer true") \
	X(cache_evicted, "files closed for room or age") \
	X(cache_changed, "files closed when they changed") \
	X(cache_shrunk, "files closed because memory was short") \
	X(cache_refused, "files not kept: no room, and asked for once") \
	X(docroot_moves, "times that a document root's path named another directory") \
	X(negative_hits, "paths known to lead to nothing, without a lookup") \
	X(lookups, "paths walked by a worker") \
	X(cold_reads, "pages fetched by a worker") \
	X(jobs_waited, "lookups and reads that waited: too many at work there") \
	X(jobs_refused, "lookups and reads refused: too many wait there") \
	X(tls_taken, "connections given to khttpd-tlsd for their handshake") \
	X(tls_done, "connections that came back with TLS on") \
	X(tls_failed, "handshakes that failed") \
	X(tls_full, "over tls_handshakes or tls_per_address on accept") \
	X(tls_lost, "handshakes that ended with khttpd-tlsd, or came without it") \
	X(tls_refused, "connections that came back and could not be served") \
	X(tls_records, "connections ended by a TLS record that is not data, or by too many") \
	X(timeout_tls, "handshake not complete in time") \
	X(soft_hits, "files answered in softirq") \
	X(soft_given, "connections taken in softirq, then left to threads") \
	X(soft_returned, "connections left to threads, then taken in softirq again") \
	X(soft_handed, "connections given to a server in softirq") \
	X(soft_waited, "connections left to threads that had to wait for it") \
	X(log_lost, "replies that the log had no room for")

enum khttpd_stat {
#define KHTTPD_STAT_ENUM(name, text) KHTTPD_STAT_##name,
	KHTTPD_STATS(KHTTPD_STAT_ENUM)
#undef KHTTPD_STAT_ENUM
	KHTTPD_STAT_COUNT
};

/**
 * struct khttpd_stats - what one CPU has counted
 * @count: of each; the index is enum khttpd_stat
 */
struct khttpd_stats {
	u64 count[KHTTPD_STAT_COUNT];
};

DECLARE_PER_CPU(struct khttpd_stats, khttpd_stats);

#define khttpd_count(name) \
	this_cpu_inc(khttpd_stats.count[KHTTPD_STAT_##name])
#define khttpd_count_add(name, n) \
	this_cpu_add(khttpd_stats.count[KHTTPD_STAT_##name], n)

u64 khttpd_stat_sum(unsigned int stat);
extern const char * const khttpd_stat_names[KHTTPD_STAT_COUNT];
extern const char * const khttpd_stat_texts[KHTTPD_STAT_COUNT];
ssize_t khttpd_stats_show(char *page, size_t size);

#endif /* _KHTTPD_STATS_H */
