/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes of trees that pure code has in its structures; tests of trees are in kernel/. */
#pragma once

struct rb_node {
	unsigned long	__rb_parent_color;
	struct rb_node	*rb_right;
	struct rb_node	*rb_left;
};
