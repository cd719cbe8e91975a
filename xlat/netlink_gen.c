// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Made by scripts/netlink-gen from Documentation/netlink/specs/net6-xlat.yaml. */
#include "netlink_gen.h"

static struct netlink_range_validation net6_range_1_1048576 = {
	.min = 1,
	.max = 1048576,
};

static struct netlink_range_validation net6_range_1_604800 = {
	.min = 1,
	.max = 604800,
};

static const struct nla_policy net6_xlat_nl_get_policy[NET6_XLAT_A_DEV_IFINDEX + 1] = {
	[NET6_XLAT_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_xlat_nl_add_policy[NET6_XLAT_A_DEV_IDLE + 1] = {
	[NET6_XLAT_A_DEV_NAME] = { .type = NLA_STRING, .len = 15 },
	[NET6_XLAT_A_DEV_KIND] = NLA_POLICY_MAX(NLA_U32, 1),
	[NET6_XLAT_A_DEV_PREFIX] = NLA_POLICY_EXACT_LEN(16),
	[NET6_XLAT_A_DEV_PREFIX_LEN] = NLA_POLICY_RANGE(NLA_U32, 32, 96),
	[NET6_XLAT_A_DEV_POOL4] = NLA_POLICY_EXACT_LEN(4),
	[NET6_XLAT_A_DEV_POOL4_LEN] = NLA_POLICY_RANGE(NLA_U32, 1, 32),
	[NET6_XLAT_A_DEV_MAPS] = { .type = NLA_BINARY, .len = 24576 },
	[NET6_XLAT_A_DEV_INSIDE4] = NLA_POLICY_EXACT_LEN(4),
	[NET6_XLAT_A_DEV_INSIDE4_LEN] = NLA_POLICY_RANGE(NLA_U32, 12, 29),
	[NET6_XLAT_A_DEV_PER64] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_1048576),
	[NET6_XLAT_A_DEV_IDLE] = NLA_POLICY_FULL_RANGE(NLA_U32, &net6_range_1_604800),
};

static const struct nla_policy net6_xlat_nl_del_policy[NET6_XLAT_A_DEV_IFINDEX + 1] = {
	[NET6_XLAT_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_xlat_nl_counter_get_policy[NET6_XLAT_A_COUNTER_IFINDEX + 1] = {
	[NET6_XLAT_A_COUNTER_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy net6_xlat_nl_host_get_policy[NET6_XLAT_A_HOST_IFINDEX + 1] = {
	[NET6_XLAT_A_HOST_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

const struct genl_ops net6_xlat_nl_ops[NET6_XLAT_NL_OPS] = {
	{
		.cmd		= NET6_XLAT_CMD_GET,
		.start		= net6_xlat_nl_get_start,
		.dumpit		= net6_xlat_nl_dump,
		.done		= net6_xlat_nl_dump_done,
		.policy		= net6_xlat_nl_get_policy,
		.maxattr	= NET6_XLAT_A_DEV_IFINDEX,
	},
	{
		.cmd		= NET6_XLAT_CMD_ADD,
		.doit		= net6_xlat_nl_add,
		.policy		= net6_xlat_nl_add_policy,
		.maxattr	= NET6_XLAT_A_DEV_IDLE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_XLAT_CMD_DEL,
		.doit		= net6_xlat_nl_del,
		.policy		= net6_xlat_nl_del_policy,
		.maxattr	= NET6_XLAT_A_DEV_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= NET6_XLAT_CMD_COUNTER_GET,
		.start		= net6_xlat_nl_counter_get_start,
		.dumpit		= net6_xlat_nl_dump,
		.done		= net6_xlat_nl_dump_done,
		.policy		= net6_xlat_nl_counter_get_policy,
		.maxattr	= NET6_XLAT_A_COUNTER_IFINDEX,
	},
	{
		.cmd		= NET6_XLAT_CMD_HOST_GET,
		.start		= net6_xlat_nl_host_get_start,
		.dumpit		= net6_xlat_nl_dump,
		.done		= net6_xlat_nl_dump_done,
		.policy		= net6_xlat_nl_host_get_policy,
		.maxattr	= NET6_XLAT_A_HOST_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};
