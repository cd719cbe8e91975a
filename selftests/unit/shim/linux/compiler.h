/* SPDX-License-Identifier: GPL-2.0 */
/* Compiler words of the kernel that have an effect, or none, in user space. */
#pragma once

#define __force
#define __user
#define __must_check		__attribute__((__warn_unused_result__))
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define __maybe_unused		__attribute__((__unused__))
#define __packed		__attribute__((__packed__))
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __printf(a, b)		__attribute__((__format__(printf, a, b)))
#define fallthrough		__attribute__((__fallthrough__))
#define noinline		__attribute__((__noinline__))
#define __read_mostly
#define __rcu
#define __init
#define __exit
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, val)	(*(volatile __typeof__(x) *)&(x) = (val))
#define EXPORT_SYMBOL_GPL(name)	extern int __export_##name
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), "BUILD_BUG_ON: " #cond)
#define static_assert		_Static_assert
