/* SPDX-License-Identifier: GPL-2.0 */
/* A test harness of one header: named tests that register themselves, checks
 * that say what they saw, KTAP as output. A test program is single-threaded.
 *
 * How to write selftests/unit/AREA_test.c:
 *
 *	#include "unit.h"
 *	#include "../../net6/core/neigh_fsm.c"		// the code itself
 *
 *	TEST(incomplete__solicited_na_makes_it_reachable)
 *	{
 *		EXPECT_EQ(fsm_step(...), NEIGH_REACHABLE);
 *	}
 *
 * The tested file is included, so its static functions can be called too. It
 * may include only headers that stand in shim/: what is missing there is a few
 * lines to add, not a mock of the kernel. EXPECT_* notes a failure and goes
 * on, ASSERT_* leaves the test. In loops over a table of cases, call
 * unit_case("name") first: failures then say which case it was.
 *
 * Run one program with a test's name to run that test alone:
 *	make -C selftests/unit && selftests/unit/bin/AREA_test NAME
 */
#ifndef UNIT_H
#define UNIT_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/string.h>
int printf(const char *fmt, ...);
extern void *stdout;
int setvbuf(void *stream, char *buf, int mode, size_t size);
#define _IOLBF	1
#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

struct unit_test {
	const char *name;
	void (*run)(void);
	struct unit_test *next;
};

static struct unit_test *unit_tests;
static struct unit_test **unit_last = &unit_tests;
static const char *unit_case_name;
static unsigned int unit_failures;

static inline void unit_add(struct unit_test *test)
{
	*unit_last = test;
	unit_last = &test->next;
}

/* Names the case that follows, for messages; NULL when there is none. */
static inline void unit_case(const char *name)
{
	unit_case_name = name;
}

#define TEST(test_name)							\
	static void test_##test_name(void);				\
	static struct unit_test unit_##test_name = {			\
		.name = #test_name, .run = test_##test_name,		\
	};								\
	__attribute__((constructor))					\
	static void unit_add_##test_name(void)				\
	{								\
		unit_add(&unit_##test_name);				\
	}								\
	static void test_##test_name(void)

#define unit_fail(fmt, ...) do {					\
	unit_failures++;						\
	printf("# %s:%d: %s%s" fmt "\n", __FILE__, __LINE__,		\
	       unit_case_name ?: "", unit_case_name ? ": " : "",	\
	       ##__VA_ARGS__);						\
} while (0)

#define UNIT_CMP(a, op, b, leave) do {					\
	__typeof__(+(a)) __a = (a);					\
	__typeof__(+(b)) __b = (b);					\
	if (!(__a op __b)) {						\
		unit_fail("%s " #op " %s: %lld, %lld (%#llx, %#llx)",	\
			  #a, #b, (long long)__a, (long long)__b,	\
			  (unsigned long long)__a,			\
			  (unsigned long long)__b);			\
		leave;							\
	}								\
} while (0)

#define UNIT_TRUE(cond, leave) do {					\
	if (!(cond)) {							\
		unit_fail("%s is false", #cond);			\
		leave;							\
	}								\
} while (0)

#define UNIT_MEM(a, b, len, leave) do {					\
	if (memcmp(a, b, len)) {					\
		unit_fail("%s and %s differ in %zu bytes", #a, #b,	\
			  (size_t)(len));				\
		leave;							\
	}								\
} while (0)

#define UNIT_STR(a, b, leave) do {					\
	const char *__a = (a), *__b = (b);				\
	if (strcmp(__a, __b)) {						\
		unit_fail("%s is \"%s\", not \"%s\"", #a, __a, __b);	\
		leave;							\
	}								\
} while (0)

#define EXPECT_EQ(a, b)		UNIT_CMP(a, ==, b, )
#define EXPECT_NE(a, b)		UNIT_CMP(a, !=, b, )
#define EXPECT_LT(a, b)		UNIT_CMP(a, <, b, )
#define EXPECT_LE(a, b)		UNIT_CMP(a, <=, b, )
#define EXPECT_GT(a, b)		UNIT_CMP(a, >, b, )
#define EXPECT_GE(a, b)		UNIT_CMP(a, >=, b, )
#define EXPECT_TRUE(cond)	UNIT_TRUE(cond, )
#define EXPECT_FALSE(cond)	UNIT_TRUE(!(cond), )
#define EXPECT_MEM(a, b, len)	UNIT_MEM(a, b, len, )
#define EXPECT_STR(a, b)	UNIT_STR(a, b, )
#define ASSERT_EQ(a, b)		UNIT_CMP(a, ==, b, return)
#define ASSERT_NE(a, b)		UNIT_CMP(a, !=, b, return)
#define ASSERT_LT(a, b)		UNIT_CMP(a, <, b, return)
#define ASSERT_LE(a, b)		UNIT_CMP(a, <=, b, return)
#define ASSERT_TRUE(cond)	UNIT_TRUE(cond, return)
#define ASSERT_FALSE(cond)	UNIT_TRUE(!(cond), return)
#define ASSERT_STR(a, b)	UNIT_STR(a, b, return)

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	unsigned int n = 0, failed = 0;
	struct unit_test *test;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (test = unit_tests; test; test = test->next)
		n += !only || !strcmp(only, test->name);
	printf("KTAP version 1\n1..%u\n", n);

	n = 0;
	for (test = unit_tests; test; test = test->next) {
		if (only && strcmp(only, test->name))
			continue;
		unit_failures = 0;
		unit_case(NULL);
		test->run();
		failed += !!unit_failures;
		printf("%sok %u %s\n", unit_failures ? "not " : "", ++n,
		       test->name);
	}
	return failed || !n;
}

#endif /* UNIT_H */
