// SPDX-License-Identifier: GPL-2.0
/* Workers, a bounded number at a time, do what may wait for disks, so that the event loops never
 * wait. A file system that does not answer keeps only its own workers. A job belongs to one
 * connection.
 */
#include <linux/fadvise.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "../files/walk.h"
#include "conn.h"

/* Jobs that run at once on one file system, and file systems told apart. All at work
 * are 512 workers: what a workqueue may have.
 */
#define KHTTPD_LANE_JOBS	64
#define KHTTPD_LANES		8
/* Bytes asked to be read ahead of what a connection needs now. */
#define KHTTPD_READAHEAD	(2 * 1024 * 1024)

static struct workqueue_struct *khttpd_workqueue;

/**
 * struct khttpd_lane - the jobs of a file system
 * @sb: which one, to be compared only; another one may take a lane that has none
 * @running: how many are at work; all that are allowed if any waits
 * @nr_waiting: how many wait for one of them
 * @waiting: those, oldest first
 */
struct khttpd_lane {
	const struct super_block *sb;
	u32 running;
	u32 nr_waiting;
	struct list_head waiting;
};

static DEFINE_SPINLOCK(khttpd_lanes_lock);
static struct khttpd_lane khttpd_lanes[KHTTPD_LANES];

static struct khttpd_lane *khttpd_lane_of(const struct super_block *sb)
	__must_hold(&khttpd_lanes_lock)
{
	struct khttpd_lane *lane, *unused = NULL;

	lockdep_assert_held(&khttpd_lanes_lock);
	for (lane = khttpd_lanes; lane < khttpd_lanes + KHTTPD_LANES; lane++) {
		if (!lane->running)
			unused = lane;
		else if (lane->sb == sb)
			return lane;
	}
	/* More file systems than lanes: the rest have the last one together. */
	if (!unused)
		return lane - 1;
	unused->sb = sb;
	return unused;
}

/* A connection has one job at a time: besides those at work, a file system that hangs has
 * half of all connections at most.
 */
static bool khttpd_lane_has_room(const struct khttpd_lane *lane)
{
	return lane->nr_waiting < READ_ONCE(khttpd_limits.max_connections) / 2;
}

/* Have it done, now or when one before it is done. Return: @job, or NULL if there are too
 * many; it is gone then.
 */
static struct khttpd_job *khttpd_job_start(struct khttpd_job *job,
					   const struct super_block *sb)
{
	struct khttpd_lane *lane;
	bool now, later = false;

	spin_lock(&khttpd_lanes_lock);
	lane = khttpd_lane_of(sb);
	job->lane = lane;
	now = lane->running < KHTTPD_LANE_JOBS;
	if (now) {
		lane->running++;
	} else if (khttpd_lane_has_room(lane)) {
		later = true;
		lane->nr_waiting++;
		list_add_tail(&job->waiting, &lane->waiting);
	}
	spin_unlock(&khttpd_lanes_lock);
	if (now) {
		queue_work(khttpd_workqueue, &job->work);
		return job;
	}
	if (later) {
		khttpd_count(jobs_waited);
		return job;
	}
	khttpd_count(jobs_refused);
	khttpd_job_free(job);
	return NULL;
}

/* The last thing done with a job: the next of its lane and its connection may go on. */
static void khttpd_job_finish(struct khttpd_job *job)
{
	struct khttpd_lane *lane = job->lane;
	struct khttpd_job *next;

	spin_lock(&khttpd_lanes_lock);
	next = list_first_entry_or_null(&lane->waiting, struct khttpd_job, waiting);
	if (next) {
		list_del(&next->waiting);
		lane->nr_waiting--;
	} else {
		lane->running--;
	}
	spin_unlock(&khttpd_lanes_lock);
	if (next)
		queue_work(khttpd_workqueue, &next->work);
	/* Its thread says that it is done: nothing of it is touched any more here. */
	khttpd_thread_kick_job(job->conn->thread, job);
}

static void khttpd_job_do_lookup(struct work_struct *work)
{
	struct khttpd_job *job = container_of(work, struct khttpd_job, work);

	khttpd_resolve(job->site, &job->wish, &job->found);
	khttpd_job_finish(job);
}

static void khttpd_job_do_read(struct work_struct *work)
{
	struct khttpd_job *job = container_of(work, struct khttpd_job, work);
	loff_t pos = job->pos;
	ssize_t len;

	khttpd_count(cold_reads);
	/* A failure to read ahead is no failure to read. */
	vfs_fadvise(job->entry->file, pos, KHTTPD_READAHEAD,
		    POSIX_FADV_WILLNEED);
	len = kernel_read(job->entry->file, job->data, job->len, &pos);
	job->error = len < 0 ? len : 0;
	job->len = len < 0 ? 0 : len;
	khttpd_job_finish(job);
}

static struct khttpd_job *khttpd_job_alloc(struct khttpd_conn *conn)
{
	struct khttpd_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (job)
		job->conn = conn;
	else
		khttpd_count(no_memory);
	return job;
}

/**
 * khttpd_job_lookup() - have a path looked up and opened
 * @conn: who waits; its thread is told when it is done
 * @site: where
 * @wish: what
 *
 * Return: the job, or NULL without memory, or if too many wait for that file system.
 */
struct khttpd_job *khttpd_job_lookup(struct khttpd_conn *conn,
				     struct khttpd_site *site,
				     const struct khttpd_wish *wish)
{
	struct khttpd_job *job = khttpd_job_alloc(conn);

	if (!job)
		return NULL;
	job->lookup = true;
	job->site = khttpd_site_get(site);
	job->wish = *wish;
	INIT_WORK(&job->work, khttpd_job_do_lookup);
	return khttpd_job_start(job, khttpd_walk_sb(site, &job->wish.path));
}

/**
 * khttpd_job_read() - have a piece of a file read
 * @conn: who waits
 * @entry: the file
 * @pos: from where
 * @end: not beyond this offset
 *
 * Return: the job, or NULL without memory, or if too many wait for that file system.
 */
struct khttpd_job *khttpd_job_read(struct khttpd_conn *conn,
				   struct khttpd_entry *entry, loff_t pos,
				   loff_t end)
{
	struct khttpd_job *job = khttpd_job_alloc(conn);

	if (!job)
		return NULL;
	job->len = min_t(loff_t, end - pos, KHTTPD_READ_SIZE);
	job->data = kvmalloc(job->len, GFP_KERNEL);
	if (!job->data) {
		khttpd_count(no_memory);
		kfree(job);
		return NULL;
	}
	refcount_inc(&entry->refs);
	job->entry = entry;
	job->pos = pos;
	INIT_WORK(&job->work, khttpd_job_do_read);
	return khttpd_job_start(job, entry->inode->i_sb);
}

/**
 * khttpd_job_free() - release a job that is done
 * @job: the job; what the caller has taken out of it is NULL
 */
void khttpd_job_free(struct khttpd_job *job)
{
	if (job->entry)
		khttpd_entry_put(job->entry);
	if (job->found.entry)
		khttpd_entry_put(job->found.entry);
	kvfree(job->found.text);
	if (job->site)
		khttpd_site_put(job->site);
	kvfree(job->data);
	kfree(job);
}

/**
 * khttpd_job_drop() - what a worker has found is not wanted any more
 * @conn: whose job, if there is one, is done
 *
 * Context: the connection's thread.
 */
void khttpd_job_drop(struct khttpd_conn *conn)
{
	if (!conn->job)
		return;
	khttpd_job_free(conn->job);
	conn->job = NULL;
}

/**
 * khttpd_jobs_init() - create the workers
 *
 * Return: 0 or -ENOMEM.
 */
int khttpd_jobs_init(void)
{
	int i;

	for (i = 0; i < KHTTPD_LANES; i++)
		INIT_LIST_HEAD(&khttpd_lanes[i].waiting);
	khttpd_workqueue = alloc_workqueue("khttpd", WQ_UNBOUND,
					   KHTTPD_LANES * KHTTPD_LANE_JOBS);
	return khttpd_workqueue ? 0 : -ENOMEM;
}

/**
 * khttpd_jobs_wait() - wait until no worker runs
 *
 * Context: process; no connection is left.
 */
void khttpd_jobs_wait(void)
{
	flush_workqueue(khttpd_workqueue);
}

/**
 * khttpd_jobs_exit() - wait for the workers and end them
 */
void khttpd_jobs_exit(void)
{
	destroy_workqueue(khttpd_workqueue);
}
