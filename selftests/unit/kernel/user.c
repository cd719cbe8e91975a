// SPDX-License-Identifier: GPL-2.0
/* The half of the kernel's functions that knows no structure of it: memory, random numbers that
 * repeat, SipHash, red-black trees. Compiled for user space; stubs.c has the other half.
 */
#include <linux/siphash.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user.h"

u64 unit_random_state = 1;
long unit_no_memory_in = -1;
unsigned long unit_objects;

/* ---- random numbers: SplitMix64 ---- */

static u64 unit_random(void)
{
	u64 z = unit_random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

u32 get_random_u32(void)
{
	return unit_random() >> 32;
}

void get_random_bytes(void *buf, size_t len)
{
	for (u8 *byte = buf; len; len--)
		*byte++ = unit_random() >> 56;
}

/* ---- memory: what is not freed is seen by the sanitizer, and counted ---- */

static void *unit_alloc(size_t size)
{
	if (!unit_no_memory_in)
		return NULL;
	if (unit_no_memory_in > 0)
		unit_no_memory_in--;
	unit_objects++;
	return malloc(size);
}

static void unit_free(const void *p)
{
	unit_objects -= !!p;
	free((void *)p);
}

void *kvmalloc_node(size_t size, unsigned int gfp, int node)
{
	return unit_alloc(size);
}

void kvfree(const void *p)
{
	unit_free(p);
}

void *__kmalloc(size_t size, unsigned int gfp)
{
	return unit_alloc(size);
}

void *kmalloc_trace(void *cache, unsigned int gfp, size_t size)
{
	return unit_alloc(size);
}

void kfree(const void *p)
{
	unit_free(p);
}

void *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
			unsigned int flags, void (*ctor)(void *))
{
	size_t *cache = unit_alloc(sizeof(*cache));

	if (cache)
		*cache = size;
	return cache;
}

void kmem_cache_destroy(void *cache)
{
	unit_free(cache);
}

void *kmem_cache_alloc(void *cache, unsigned int gfp)
{
	return unit_alloc(*(size_t *)cache);
}

void kmem_cache_free(void *cache, void *p)
{
	unit_free(p);
}

/* ---- hashes ---- */

#undef siphash
#undef siphash_3u64

u64 unit_siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key) __asm__("siphash_3u64");
u64 unit_siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	return siphash_3u64(a, b, c, key);
}

u64 __siphash_unaligned(const void *data, size_t len, const siphash_key_t *key)
{
	return siphash(data, len, key);
}

/* ---- trees; what is erased is not balanced again ---- */

struct rb_node {
	uintptr_t parent_color;		/* 1: black */
	struct rb_node *right, *left;
};

struct rb_root {
	struct rb_node *node;
};

static struct rb_node *rb_up(const struct rb_node *node)
{
	return (struct rb_node *)(node->parent_color & ~3UL);
}

static bool rb_black(const struct rb_node *node)
{
	return !node || (node->parent_color & 1);
}

static void rb_set(struct rb_node *node, struct rb_node *parent, bool black)
{
	if (node)
		node->parent_color = (uintptr_t)parent | black;
}

/* @new, which may be NULL, is where @old was. */
static void rb_change(struct rb_root *root, struct rb_node *old, struct rb_node *new)
{
	struct rb_node *parent = rb_up(old);

	if (!parent)
		root->node = new;
	else if (parent->left == old)
		parent->left = new;
	else
		parent->right = new;
	rb_set(new, parent, new ? rb_black(new) : true);
}

/* @node goes down, its other child takes its place. */
static void rb_rotate(struct rb_root *root, struct rb_node *node, bool left)
{
	struct rb_node *child = left ? node->right : node->left;
	struct rb_node *inner = left ? child->left : child->right;

	rb_change(root, node, child);
	if (left) {
		node->right = inner;
		child->left = node;
	} else {
		node->left = inner;
		child->right = node;
	}
	rb_set(inner, node, rb_black(inner));
	rb_set(node, child, rb_black(node));
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent, *top, *uncle;
	bool left;

	while ((parent = rb_up(node)) && !rb_black(parent) && (top = rb_up(parent))) {
		left = top->left == parent;
		uncle = left ? top->right : top->left;
		if (!rb_black(uncle)) {
			rb_set(parent, top, true);
			rb_set(uncle, top, true);
			rb_set(top, rb_up(top), false);
			node = top;
			continue;
		}
		if (node == (left ? parent->right : parent->left)) {
			rb_rotate(root, parent, left);
			parent = node;
		}
		rb_set(parent, top, true);
		rb_set(top, rb_up(top), false);
		rb_rotate(root, top, !left);
		break;
	}
	rb_set(root->node, NULL, true);
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->node;

	while (node && node->left)
		node = node->left;
	return node;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *parent;

	if (node->right) {
		node = node->right;
		while (node->left)
			node = node->left;
		return (struct rb_node *)node;
	}
	while ((parent = rb_up(node)) && node == parent->right)
		node = parent;
	return parent;
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *next;

	if (!node->left || !node->right) {
		rb_change(root, node, node->left ?: node->right);
	} else {
		next = rb_next(node);
		rb_erase(next, root);
		*next = *node;
		rb_set(next->left, next, rb_black(next->left));
		rb_set(next->right, next, rb_black(next->right));
		rb_change(root, node, next);
	}
}
