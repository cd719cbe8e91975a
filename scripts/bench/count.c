// SPDX-License-Identifier: GPL-2.0
/* A plugin for QEMU's emulator that counts the guest's instructions by address, so that
 * work can be split by function with nothing added to the guest. A program in the guest
 * speaks to it with no-operations of a form that compilers do not make (mark.h). Without
 * the plugin they do nothing, at the cost of one instruction.
 *
 * Argument: out=FILE. Each DUMP mark appends a record to FILE:
 *
 *	dump LABEL
 *	event SLOT HOOK INSTRUCTIONS	since the SLOT mark before it; HOOK 0 is a SLOT mark
 *	count SLOT ADDRESS INSTRUCTIONS	ADDRESS is a block's first; user space is address 0
 *	end LABEL
 *
 * Two sides of one processor are told apart by ranges of code that say whose work follows
 * (MARK_RANGE). Such are each program's user space, what handles a packet of one side's device,
 * and the place where the kernel goes on with another task. Tasks are known by their kernel stack.
 *
 * Limits: one virtual CPU; a million blocks. A block is counted when it is entered, so one that
 * faults in its middle counts too much.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

/* QEMU's plugin interface, version 1 (QEMU 4.2 to 8.1): Debian has no header for it. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_W = 2 };
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*udata_cb)(unsigned int vcpu, void *data);
typedef void (*mem_cb)(unsigned int vcpu, uint32_t info, uint64_t addr, void *data);
typedef void (*simple_cb)(qemu_plugin_id_t id);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, udata_cb cb,
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					      void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, udata_cb cb,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_reset(qemu_plugin_id_t id, simple_cb cb);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

#define SLOTS	4	/* slot 0 is what nobody asks for */
#define HOOKS	8
#define RANGES	128
#define STACKS	1024
#define STACK_SHIFT	14	/* a kernel stack and its alignment on x86-64 */
#define UNKNOWN	3	/* the slot of tasks that no range belongs to */
#define BUCKETS	65536
#define BLOCKS	1000000
#define KERNEL	0xffff800000000000ull

/* Blocks that begin at one address, by number; number 0 is user space. Their counters are apart
 * and in a row, for all of them are looked at whenever the slot changes: @now only grows, @seen
 * is @now at the last mark. Those with a @count are in @counted.
 */
static struct block {
	uint64_t addr, count[SLOTS];
	uint32_t next;
	bool is_counted;
} blocks[BLOCKS];
static uint64_t now[BLOCKS], seen[BLOCKS];
static uint32_t buckets[BUCKETS], n_blocks = 1, counted[BLOCKS], n_counted;

/* So many instructions that are entered there, where slots change often. */
struct piece {
	uint32_t block;
	uint64_t n;
};

static uint64_t total, slot_start;
static unsigned int slot;
static struct { uint64_t addr; unsigned int to; } hooks[HOOKS + 1];
static unsigned int n_hooks;
/* Interrupts that nothing is counted of: how deep, since when, and the slot before. */
static unsigned int aside, aside_slot;
static uint64_t aside_start;
static uint64_t word, range_from;
static struct { uint64_t from, to; unsigned int what; } ranges[RANGES];
static unsigned int n_ranges;
static bool ranges_new;		/* not yet in what is translated */
/* The slot of each task, by its kernel stack; of the running one. */
static struct { uint64_t stack; unsigned int slot; } tasks[STACKS], *task = tasks;
static struct event { uint64_t at; uint8_t slot, hook; } *events;
static size_t n_events, room;
static qemu_plugin_id_t self;
static FILE *out;

static uint32_t block_of(uint64_t addr)
{
	uint32_t *head = &buckets[(addr * 0x9e3779b97f4a7c15ull) >> 48], i;

	if (addr < KERNEL)
		return 0;
	for (i = *head; i; i = blocks[i].next)
		if (blocks[i].addr == addr)
			return i;
	if (n_blocks == BLOCKS) {
		fputs("count: too many blocks\n", stderr);
		exit(1);
	}
	blocks[n_blocks].addr = addr;
	blocks[n_blocks].next = *head;
	*head = n_blocks;
	return n_blocks++;
}

static void count(uint32_t i, uint64_t n)
{
	if (!slot)
		return;
	blocks[i].count[slot] += n;
	if (!blocks[i].is_counted)
		counted[n_counted++] = i;
	blocks[i].is_counted = true;
}

static void enter_slot(unsigned int to, unsigned int hook)
{
	/* With ranges each piece is counted by itself, but for user space. */
	uint32_t n = n_ranges ? 1 : n_blocks;

	for (uint32_t i = 0; i < n; i++) {
		if (now[i] == seen[i])
			continue;
		count(i, now[i] - seen[i]);
		seen[i] = now[i];
	}
	slot = to;
	if (!hook)
		slot_start = total;
}

static void log_event(unsigned int hook)
{
	if (n_events == room) {
		room = room ? 2 * room : 4096;
		events = realloc(events, room * sizeof(*events));
		if (!events) {
			fputs("count: out of memory\n", stderr);
			exit(1);
		}
	}
	events[n_events++] = (struct event){ total - slot_start, slot, hook };
}

static void dump_block(struct block *b)
{
	for (unsigned int s = 1; s < SLOTS; s++)
		if (b->count[s])
			fprintf(out, "count %u %" PRIx64 " %" PRIu64 "\n", s, b->addr,
				b->count[s]);
	memset(b->count, 0, sizeof(b->count));
	b->is_counted = false;
}

static void dump(unsigned int label)
{
	aside = 0;
	enter_slot(0, 0);
	fprintf(out, "dump %u\n", label);
	for (size_t i = 0; i < n_events; i++)
		fprintf(out, "event %u %u %" PRIu64 "\n", events[i].slot, events[i].hook,
			events[i].at);
	n_events = 0;
	for (uint32_t i = 0; i < n_counted; i++)
		dump_block(&blocks[counted[i]]);
	n_counted = 0;
	fprintf(out, "end %u\n", label);
	if (fflush(out))
		perror("count: cannot write the counts");
}

static void go_aside(unsigned int slots)
{
	if (aside) {
		aside++;
	} else if (slots & 1 << slot) {
		aside = 1;
		aside_slot = slot;
		aside_start = total;
		enter_slot(0, 1);
	}
}

/* The time spent aside is none of the slot's. */
static void go_back(unsigned int to)
{
	aside = 0;
	slot_start += total - aside_start;
	enter_slot(to, 1);
}

static void on_hook(unsigned int vcpu, void *data)
{
	unsigned int hook = (uintptr_t)data, to = hooks[hook].to;

	(void)vcpu;
	if (to & MARK_ASIDE) {
		if (slot || aside)
			go_aside(to & ~MARK_ASIDE);
		return;
	}
	if (to == MARK_BACK) {
		if (aside && !--aside)
			go_back(aside_slot);
		return;
	}
	if (aside && to >= aside_slot)
		go_back(to);
	if (!slot)
		return;
	log_event(hook);
	if (to > slot)
		enter_slot(to, hook);
}

/* A block in a range is entered. */
static void on_range(unsigned int vcpu, void *data)
{
	unsigned int what = (uintptr_t)data, to = what & 0xf;

	(void)vcpu;
	if (!slot)
		return;
	if (what & MARK_RETURN)
		to = task->slot;
	else if (what & MARK_TASK)
		task->slot = to;
	if (to != slot)
		enter_slot(to, 1);
}

static void on_piece(unsigned int vcpu, void *data)
{
	const struct piece *piece = data;

	(void)vcpu;
	count(piece->block, piece->n);
}

/* Another task pushes onto its stack. */
static void on_switch(unsigned int vcpu, uint32_t info, uint64_t addr, void *data)
{
	uint64_t stack = addr >> STACK_SHIFT;
	size_t i = stack % STACKS;

	(void)vcpu;
	(void)info;
	(void)data;
	if (!slot)
		return;
	for (size_t n = 0; n < STACKS && tasks[i].stack && tasks[i].stack != stack; n++)
		i = (i + 1) % STACKS;
	if (tasks[i].stack != stack) {
		tasks[i].stack = stack;
		tasks[i].slot = UNKNOWN;
	}
	task = &tasks[i];
	if (task->slot != slot)
		enter_slot(task->slot, 1);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void on_reset(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}

static void on_mark(unsigned int vcpu, void *data)
{
	uint32_t disp = (uintptr_t)data;
	unsigned int value = disp & 0xffff;

	(void)vcpu;
	switch ((disp >> 16) & 0xff) {
	case MARK_SLOT:
		if (value >= SLOTS)
			break;
		aside = 0;
		/* An end mark is an event of the slot that it ends. */
		if (slot && value != slot)
			log_event(0);
		enter_slot(value, 0);
		if (ranges_new)
			qemu_plugin_reset(self, on_reset);
		ranges_new = false;
		break;
	case MARK_WORD:
		word = word << 16 | value;
		break;
	case MARK_HOOK:	/* Blocks at the address in word: an event, and slot @value if above. */
		if (n_hooks < HOOKS) {
			hooks[++n_hooks].addr = word;
			hooks[n_hooks].to = value;
		}
		/* What is translated already has no hook: translate anew. */
		qemu_plugin_reset(self, on_reset);
		break;
	case MARK_DUMP:
		dump(value);
		break;
	case MARK_FROM:
		range_from = word;
		break;
	case MARK_RANGE:
		if (n_ranges < RANGES) {
			ranges[n_ranges].from = range_from;
			ranges[n_ranges].to = word;
			ranges[n_ranges++].what = value;
			ranges_new = true;
		}
		break;
	case MARK_FORGET:
		n_ranges = 0;
		memset(tasks, 0, sizeof(tasks));
		qemu_plugin_reset(self, on_reset);
		break;
	}
}

/* A block that says whose work follows. Where programs are known, user space that is in none
 * of them is somebody else's.
 */
static void translate_range(struct qemu_plugin_tb *tb, uint64_t addr)
{
	uintptr_t what = addr < KERNEL ? MARK_TASK | UNKNOWN : 0;
	const uint8_t *code;

	for (unsigned int i = 0; i < n_ranges; i++)
		if (addr >= ranges[i].from && addr < ranges[i].to)
			what = ranges[i].what;
	if (what && what != MARK_SWITCH)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_range, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)what);
	for (size_t i = 0; what == MARK_SWITCH && i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		code = qemu_plugin_insn_data(insn);
		/* push %rax to %rdi, or %r8 to %r15 */
		if ((code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50))
			qemu_plugin_register_vcpu_mem_cb(insn, on_switch, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_W, NULL);
	}
}

static void translate_count(struct qemu_plugin_tb *tb, uint32_t block, size_t n)
{
	struct piece *piece;

	if (!n_ranges) {
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 &now[block], n);
		return;
	}
	piece = malloc(sizeof(*piece));
	if (!piece) {
		fputs("count: out of memory\n", stderr);
		exit(1);
	}
	*piece = (struct piece){ block, n };
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_piece, QEMU_PLUGIN_CB_NO_REGS, piece);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (n_ranges)
		translate_range(tb, addr);
	translate_count(tb, block_of(addr), n);
	for (uintptr_t h = 1; h <= n_hooks; h++)
		if (hooks[h].addr == addr)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_hook, QEMU_PLUGIN_CB_NO_REGS,
							     (void *)h);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &total, n);
	if (addr >= KERNEL)
		return;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		uint32_t disp;

		if (qemu_plugin_insn_size(insn) != 7 || memcmp(code, "\x0f\x1f\x80", 3))
			continue;
		memcpy(&disp, code + 3, sizeof(disp));
		if (disp >> 24 == MARK_MAGIC)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)disp);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fputs("count: usage: -plugin count.so,out=FILE\n", stderr);
		return 1;
	}
	out = fopen(argv[0] + 4, "w");
	if (!out) {
		perror(argv[0] + 4);
		return 1;
	}
	self = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
