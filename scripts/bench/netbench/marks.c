// SPDX-License-Identifier: GPL-2.0
/* Marks for the counting plugin (mark.h). */
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "netbench.h"

/* Each is a block of its own, so that counts are exact at it. */
#define MARK(name, slot)							\
	__attribute__((noinline)) void name(void)				\
	{									\
		asm volatile(".byte 0x0f, 0x1f, 0x80; .long %c0"		\
			     : : "i" (MARK_DISP(MARK_SLOT, slot)) : "memory");	\
	}
MARK(mark_off, 0)
MARK(mark_call, 1)
MARK(mark_return, 2)

/* A mark whose value is known at run time only: made, then run. */
void mark(unsigned int op, unsigned int value)
{
	unsigned int disp = MARK_DISP(op, value);
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		err(1, "mmap");
	memcpy(code, "\x0f\x1f\x80", 3);
	memcpy(code + 3, &disp, 4);
	code[7] = 0xc3;
	((void (*)(void))code)();
	munmap(code, 4096);
}

static void mark_word(const char *address)
{
	uint64_t addr = strtoull(address, NULL, 16);

	for (int shift = 48; shift >= 0; shift -= 16)
		mark(MARK_WORD, addr >> shift & 0xffff);
}

void set_hook(const char *address, const char *slot)
{
	mark_word(address);
	mark(MARK_HOOK, atoi(slot));
}

/* Whose work is what, for so many milliseconds: "FROM-TO:WHAT" each (mark.h). */
void count_sides(int n, char **range)
{
	struct timespec pause = { opt.count / 1000, opt.count % 1000 * 1000000 };

	mark(MARK_FORGET, 0);
	for (int i = 0; i < n; i++) {
		char *to = strchr(range[i], '-'), *what = strchr(range[i], ':');

		if (!to || !what)
			usage();
		mark_word(range[i]);
		mark(MARK_FROM, 0);
		mark_word(to + 1);
		mark(MARK_RANGE, strtoul(what + 1, NULL, 0));
	}
	mark(MARK_SLOT, 3);
	nanosleep(&pause, NULL);
	mark(MARK_DUMP, opt.label);
	mark(MARK_FORGET, 0);
}
