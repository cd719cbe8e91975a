// SPDX-License-Identifier: GPL-2.0
/* The event loops: one kernel thread a CPU. Others tell it what to do through
 * three lock-free lists and two flags; everything else in it is its own.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "../listen/listener.h"
#include "conn.h"

/* How many connections more than another CPU a CPU may have before new ones go to the other. To
 * stay where the packets come in is worth some imbalance.
 */
#define KHTTPD_IMBALANCE	8

static struct khttpd_thread **khttpd_thread_of;	/* by CPU number */
static struct khttpd_thread **khttpd_threads;	/* those there are; none goes before the exit */
static unsigned int khttpd_thread_count;
static int khttpd_threads_cpuhp;		/* our state of CPUs, or 0 */
static DEFINE_PER_CPU(unsigned int, khttpd_thread_turn);
static bool khttpd_draining;	/* close all connections, replies or not */

static void khttpd_thread_wake(struct khttpd_thread *thread)
{
	wake_up_process(thread->task);
}

/**
 * khttpd_thread_kick_conn() - put a connection into its thread's ready list
 * @thread: the thread
 * @conn: the connection, in the list of no thread
 *
 * Context: any.
 */
void khttpd_thread_kick_conn(struct khttpd_thread *thread,
			     struct khttpd_conn *conn)
{
	if (llist_add(&conn->ready, &thread->ready))
		khttpd_thread_wake(thread);
}

/**
 * khttpd_thread_kick_listener() - have a thread accept connections
 * @thread: the thread
 * @listener: from where; a reference goes to the thread
 *
 * Context: any.
 */
void khttpd_thread_kick_listener(struct khttpd_thread *thread,
				 struct khttpd_listener *listener)
{
	if (llist_add(&listener->ready, &thread->accept))
		khttpd_thread_wake(thread);
}

/**
 * khttpd_thread_kick_job() - a job is done: its connection may go on
 * @thread: that connection's
 * @job: the thread's from now on
 *
 * Context: a worker, who khttpd_threads_exit() waits for.
 */
void khttpd_thread_kick_job(struct khttpd_thread *thread,
			    struct khttpd_job *job)
{
	if (llist_add(&job->ready, &thread->jobs))
		khttpd_thread_wake(thread);
}

/**
 * khttpd_thread_here() - the thread for this CPU
 *
 * Return: the thread; of another CPU if there was no memory for one of this one's.
 */
struct khttpd_thread *khttpd_thread_here(void)
{
	return READ_ONCE(khttpd_thread_of[raw_smp_processor_id()]);
}

/**
 * khttpd_thread_choose() - who takes a new connection?
 *
 * Return: the thread of this CPU, or the next in turn if that has much less.
 */
struct khttpd_thread *khttpd_thread_choose(void)
{
	struct khttpd_thread *here = khttpd_thread_here(), *other;
	unsigned int turn = this_cpu_inc_return(khttpd_thread_turn);

	/* Pairs with the release in khttpd_thread_online(). */
	other = khttpd_threads[turn % smp_load_acquire(&khttpd_thread_count)];
	if (!cpu_online(other->cpu))
		return here;
	if (READ_ONCE(here->count) > READ_ONCE(other->count) + KHTTPD_IMBALANCE)
		return other;
	return here;
}

/**
 * khttpd_threads_scan() - have all threads part with stopped listeners
 *
 * Context: process.
 */
void khttpd_threads_scan(void)
{
	/* Pairs with the release in khttpd_thread_online(): a later one has no connections. */
	unsigned int i, n = smp_load_acquire(&khttpd_thread_count);

	for (i = 0; i < n; i++) {
		/* The wake-up orders this before the thread's look at it. */
		WRITE_ONCE(khttpd_threads[i]->scan, true);
		khttpd_thread_wake(khttpd_threads[i]);
	}
}

/**
 * khttpd_threads_drain() - close all connections and wait for their end
 *
 * All listeners are stopped; some of a server that is gone may have left
 * connections with replies under way.
 *
 * Context: process.
 */
void khttpd_threads_drain(void)
{
	WRITE_ONCE(khttpd_draining, true);
	khttpd_threads_scan();
	khttpd_conns_wait();
}

static void khttpd_thread_tick(struct timer_list *timer)
{
	struct khttpd_thread *thread = container_of(timer, struct khttpd_thread,
						    tick);

	WRITE_ONCE(thread->ticked, true);
	khttpd_thread_wake(thread);
}

static bool khttpd_thread_idle(struct khttpd_thread *thread)
{
	return llist_empty(&thread->ready) && llist_empty(&thread->accept) &&
	       llist_empty(&thread->jobs) &&
	       !READ_ONCE(thread->scan) && !READ_ONCE(thread->ticked);
}

static void khttpd_thread_run_accept(struct khttpd_thread *thread)
{
	struct khttpd_listener *listener, *next;
	struct llist_node *list = llist_del_all(&thread->accept);

	llist_for_each_entry_safe(listener, next, list, ready) {
		khttpd_listener_accept(listener);
		khttpd_listener_put(listener);
	}
}

static void khttpd_thread_run_jobs(struct khttpd_thread *thread)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&thread->jobs));
	struct khttpd_job *job, *next;

	llist_for_each_entry_safe(job, next, list, ready) {
		job->done = true;
		khttpd_conn_kick(job->conn);
	}
}

static void khttpd_thread_run_ready(struct khttpd_thread *thread)
{
	struct khttpd_conn *conn, *next;
	struct llist_node *list = llist_del_all(&thread->ready);

	khttpd_tails_write(&thread->tails);
	list = llist_reverse_order(list);
	llist_for_each_entry_safe(conn, next, list, ready) {
		clear_bit(KHTTPD_CONN_QUEUED, &conn->flags);
		/* From here on a new event puts it into the list again; earlier ones are seen
		 * below.
		 */
		smp_mb__after_atomic();
		khttpd_turn(conn);
		cond_resched();
	}
}

static void khttpd_thread_run_scan(struct khttpd_thread *thread)
{
	struct khttpd_conn *conn, *next;

	WRITE_ONCE(thread->scan, false);
	/* Pairs with the wake-up in khttpd_threads_scan(). */
	smp_mb();
	list_for_each_entry_safe(conn, next, &thread->conns, all)
		khttpd_turn_scan(conn, READ_ONCE(khttpd_draining));
}

static int khttpd_thread_main(void *data)
{
	struct khttpd_thread *thread = data;

	while (!kthread_should_stop()) {
		if (!llist_empty(&thread->accept))
			khttpd_thread_run_accept(thread);
		if (!llist_empty(&thread->jobs))
			khttpd_thread_run_jobs(thread);
		if (!llist_empty(&thread->ready))
			khttpd_thread_run_ready(thread);
		if (READ_ONCE(thread->scan))
			khttpd_thread_run_scan(thread);
		if (READ_ONCE(thread->ticked)) {
			WRITE_ONCE(thread->ticked, false);
			khttpd_timers_run(thread);
		}
		set_current_state(TASK_IDLE);
		if (khttpd_thread_idle(thread) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		cond_resched();
	}
	return 0;
}

static void khttpd_thread_free(struct khttpd_thread *thread)
{
	if (!thread)
		return;
	/* It wakes the task, which is gone when that has stopped. */
	timer_shutdown_sync(&thread->tick);
	if (!IS_ERR_OR_NULL(thread->task)) {
		kthread_stop(thread->task);
		/* Closed connections that were in the list when it stopped. */
		khttpd_thread_run_ready(thread);
		khttpd_thread_run_accept(thread);
	}
	WARN_ON(!list_empty(&thread->conns));
	khttpd_batch_free(&thread->batch);
	khttpd_knowns_exit(&thread->known);
	kvfree(thread->buf);
	kvfree(thread);
}

static struct khttpd_thread *khttpd_thread_create(int cpu)
{
	struct khttpd_thread *thread;
	int i;

	thread = kvzalloc(sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return NULL;
	thread->cpu = cpu;
	init_llist_head(&thread->ready);
	init_llist_head(&thread->accept);
	init_llist_head(&thread->jobs);
	INIT_LIST_HEAD(&thread->conns);
	for (i = 0; i < KHTTPD_TIMERS; i++)
		INIT_LIST_HEAD(&thread->timers[i]);
	timer_setup(&thread->tick, khttpd_thread_tick, 0);
	thread->buf = kvmalloc(KHTTPD_BUFFER_SIZE, GFP_KERNEL);
	if (!thread->buf || khttpd_knowns_init(&thread->known, sizeof(struct khttpd_known)))
		goto fail;
	thread->memo = &thread->known.spare->memo;
	thread->task = kthread_create_on_cpu(khttpd_thread_main, thread, cpu,
					     "khttpd/%u");
	if (IS_ERR(thread->task))
		goto fail;
	wake_up_process(thread->task);
	return thread;

fail:
	khttpd_thread_free(thread);
	return NULL;
}

/* A CPU comes: it gets its thread, or gets it back. When it went, the scheduler let the thread run
 * anywhere, and there it has served its connections. Without memory other CPUs' threads serve.
 */
static int khttpd_thread_online(unsigned int cpu)
{
	struct khttpd_thread *thread = khttpd_thread_of[cpu];

	if (thread && thread->cpu == cpu) {
		set_cpus_allowed_ptr(thread->task, cpumask_of(cpu));
		return 0;
	}
	thread = khttpd_thread_create(cpu);
	if (!thread) {
		khttpd_count(no_memory);
		return 0;
	}
	khttpd_threads[khttpd_thread_count] = thread;
	/* Who counts it finds it. */
	smp_store_release(&khttpd_thread_count, khttpd_thread_count + 1);
	/* Who finds it finds it filled in. */
	smp_store_release(&khttpd_thread_of[cpu], thread);
	return 0;
}

/* CPUs that are off, or for which there was no memory, have others' threads. Return: false if a
 * CPU that is on has none of its own.
 */
static bool khttpd_threads_share(void)
{
	bool all = true;
	int cpu;

	cpus_read_lock();
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (khttpd_thread_of[cpu])
			continue;
		all &= !cpu_online(cpu);
		if (khttpd_thread_count)
			khttpd_thread_of[cpu] = khttpd_threads[cpu % khttpd_thread_count];
	}
	cpus_read_unlock();
	return all;
}

/**
 * khttpd_threads_init() - start a thread on each CPU that is online, and that will be
 *
 * Return: 0 or a negative errno.
 */
int khttpd_threads_init(void)
{
	int err = -ENOMEM;

	khttpd_thread_of = kcalloc(nr_cpu_ids, sizeof(*khttpd_thread_of),
				   GFP_KERNEL);
	khttpd_threads = kcalloc(nr_cpu_ids, sizeof(*khttpd_threads),
				 GFP_KERNEL);
	if (!khttpd_thread_of || !khttpd_threads)
		goto fail;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "khttpd:online", khttpd_thread_online, NULL);
	if (err < 0)
		goto fail;
	khttpd_threads_cpuhp = err;
	if (khttpd_threads_share())
		return 0;
	err = -ENOMEM;
fail:
	khttpd_threads_exit();
	return err;
}

/**
 * khttpd_threads_exit() - stop all threads; no listener and job is left
 */
void khttpd_threads_exit(void)
{
	unsigned int i;

	if (khttpd_threads_cpuhp)
		cpuhp_remove_state_nocalls(khttpd_threads_cpuhp);
	khttpd_threads_cpuhp = 0;
	khttpd_threads_drain();
	/* Those whose job is done may not have woken their thread yet. */
	khttpd_jobs_wait();
	for (i = 0; i < khttpd_thread_count; i++)
		khttpd_thread_free(khttpd_threads[i]);
	khttpd_thread_count = 0;
	kfree(khttpd_threads);
	kfree(khttpd_thread_of);
}
