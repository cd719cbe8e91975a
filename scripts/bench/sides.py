# SPDX-License-Identifier: GPL-2.0
"""Whose the instructions are that the counting plugin counts, and what for. In the guest the code
tells the two ends of a link apart. On the host it tells parts of the work by function name."""
import re

# Slots of the counting plugin, and what ranges of code do (mark.h).
CLIENT, SERVER, OTHER = 1, 2, 3
TASK, RETURN, SWITCH = 0x10, 0x20, 0x40


# ---- in the guest: whose work is it? ----

def tag_packets(lab):
    """What comes to either end passes a classifier of its own; it matches nothing."""
    for ns, dev, match in (("client", "c1", ("u32", "match", "u32", "0", "0xffffffff")),
                           ("server", "s1", ("matchall", "classid", "1:1"))):
        lab.run("tc", "-n", ns, "qdisc", "add", "dev", dev, "ingress")
        lab.run("tc", "-n", ns, "filter", "add", "dev", dev, "ingress", *match)


def functions(wanted):
    """{name: (first address, the next function's)}; a name's compiled copy counts."""
    with open("/proc/kallsyms") as f:
        table = sorted((int(line.split()[0], 16), line.split()[2]) for line in f
                       if line.split()[1] in "tT")
    found = {}
    for at, (start, name) in enumerate(table):
        base = name.split(".")[0]
        if base in wanted and base not in found and not name.endswith(".cold"):
            found[base] = (start, next(a for a, _ in table[at:] if a > start))
    # Newer kernels have it behind the other, and there the work is done.
    missing = set(wanted) - found.keys() - {"handle_softirqs"}
    if missing:
        raise ValueError(f"not in this kernel: {', '.join(missing)}")
    return found


def code_of(pid):
    """Address ranges of a program's code, in hexadecimal."""
    found = []
    with open(f"/proc/{pid}/maps") as f:
        for line in f:
            words = line.split()
            if "x" in words[1] and words[-1] != "[vsyscall]":
                found.append(words[0])
    return found


def kernel_ranges(**more):
    """Ranges of the kernel's code that say whose work follows: what a packet has come to, the
    end of that, where a task goes on; @more: functions by name, and what they say."""
    what = {"u32_classify": CLIENT, "mall_classify": SERVER, "__do_softirq": RETURN,
            "handle_softirqs": RETURN, "finish_task_switch": SWITCH, **more}
    return [f"{start:x}-{end:x}:{what[name]}"
            for name, (start, end) in functions(what).items()]


# ---- on the host: what is it for? ----

# Only there to tell the sides apart: left out.
CLASSIFIERS = ("tcf_", "__tcf_", "u32_", "mall_")
KHTTPD, STACK, REST = "khttpd", "the stack", "the rest"
# What a function does, by its name; the first that fits. The stack is net6's module, or the
# kernel's TCP, IPv6 and IPv4; all else is the kernel's own, whichever stack there is.
PARTS = [(part, re.compile(names)) for part, names in (
    ("user space", r"user space"),
    # In assembler it has labels of its own, most with a number behind them.
    ("AES-GCM", r"_(initial_(num_)?blocks|encrypt_by_8|eight_cipher|zero_cipher|no_extra_mask|"
                r"get_AAD|less_than|multiple_of|large_enough|partial_block|data_read|encode_done)|"
                r".*(aes|gcm|ghash|aead|crypto|skcipher|scatterwalk|kernel_fpu|irq_fpu|key_128)"),
    ("the record layer", r"_*(tls_(sw|push|tx|get|make|fill|enc|dec|rx|strp|adv|xor|alloc|clone|"
                         r"set|write|is_|ctx|rec|err)|sk_msg|bpf_exec_tx)"),
    (KHTTPD, r"khttpd_"),
    (STACK, r"net6_|_*(tcp|inet6?|ip6?|ipv6|fib6?|rt6?|cubictcp|bictcp|ndisc|raw6?_local|rawv6|fl6|"
            r"neigh|xfrm6?|bpf_skops|minmax)(_|$)|sk_stop_timer|validate_xmit_xfrm"),
    ("copying", r"_*(copy|csum|rep_movs|iov|mem(cpy|move)|simple_copy|check_(object|stack|heap)|"
                r"skb_datagram_iter|skb_copy)"),
    ("security modules", r".*(security_|apparmor_|tomoyo_|^_*aa_|^bpf_lsm|^hook_inode)"),
    ("files and inodes", r".*(file|inode|fput|fget|dentry|dput|iput|mnt|^xa_|xas_|evict|truncate|"
                         r"locks_|fsnotify|dnotify|alloc_fd|unused_fd|close_fd|fd_install|"
                         r"expand_f|pick_f|filp|map_id|attr|lockref|stream_open|errseq|"
                         r"next_ino|^sock_alloc|^_*d_(alloc|inst|flags|set)|dec_and_lock|"
                         r"find_next_zero_bit|make_kgid|make_kuid|i_callback)"),
    ("RCU and locks", r"_*(s?rcu_|call_rcu|raw_(spin|read|write)_|mutex_|local_bh_|cond_resched|"
                      r"wake_up_bit|bit_waitqueue|init_rwsem|down_|up_|note_gp|mt_free_rcu|"
                      r"invoke_rcu)"),
    ("memory", r".*(alloc|slab|kmem_cache|kfree$|cache_from_obj|memset|memcg|mem_cgroup|page|"
               r"get_partial|unfreeze|put_cpu_partial|percpu|folio|zone|pcp|frag|should_fail|"
               r"list_lru|sk_mem|policy_node|virt_addr|vmalloc|kmalloc)"),
    ("devices and softirq", r".*(veth|dev_|^_*netif|napi|softirq|backlog|^eth_|xmit|net_rx|^nf_|"
                            r"scrub|network_protocol|net_poll)"),
    ("socket buffers", r".*(skb|^_*sk_stream|sock_wfree|sock_rfree)"),
    ("timers and clocks", r".*(timer|ktime|tick|clock|tsc|timespec|timekeep|jiffies|record_times|"
                          r"vsyscall$|calc_wheel|detach_if)"),
    ("sockets", r".*(sock|^_*sk_|_sk$|proto_|module_(get|put)|^module_put|netlink_has|dst_)"),
    ("scheduling and waiting", r".*(sched|enqueue|dequeue|update_|pick_next|ttwu|psi_|wake|switch|"
                               r"cpuacct|entity|entities|preempt|_avg|wait|poll|select|cfs|curr|"
                               r"vruntime|budd|check_spread|load_new_mm|rb_|find_(first|next)_bit|"
                               r"list_(add|del)|set_user_sigmask)"),
    ("entering the kernel", r".*(syscall|entry|exit_to_user|x64_sys|ksys|rseq|fpregs|task_work|"
                            r"blkcg|error_|sysvec|x86_indirect|user_8|nocheck|amd_clear|ioprio|"
                            r"kick_process|put_pid|rw_verify|vfs_|new_sync|__x64|native_load)"),
)]


def part_of(function):
    return next((part for part, names in PARTS if names.match(function)), REST)
