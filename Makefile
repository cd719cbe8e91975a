# SPDX-License-Identifier: GPL-2.0
# Builds, tests and installs net6. The modules themselves are described in
# Kbuild files; this one only calls the kernel's build system with them.

PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

# Targets that need no kernel must not fail where there is none.
kernel-free := help clean check check-full check-kernels check-programs check-distro demo bench \
	bench-quick style unit fuzz fuzz-guest tools tags lines dist deb install-pages
ifneq ($(filter-out $(kernel-free),$(or $(MAKECMDGOALS),all)),)
ifndef KDIR
KDIR := $(shell scripts/find-kernel)
default-kernel := yes
endif
ifeq ($(KDIR),)
$(error nothing can be built without a kernel)
endif
ifneq ($(shell $(if $(findstring command,$(origin CC)),CC='$(CC)') scripts/check-config '$(KDIR)' >&2 && echo fits),fits)
$(error this kernel does not fit)
endif
RELEASE := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' '$(KDIR)/include/generated/utsrelease.h')
BUILD ?= build/$(RELEASE)
endif

MAKEFLAGS += --no-print-directory
# All processors, unless make was told how many jobs.
jobs = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
# kbuild's further warnings are always on: with other options all would be compiled anew.
W ?= 1
kbuild = flock '$(BUILD)/.lock' $(MAKE) $(jobs) -C '$(KDIR)' M='$(abspath $(BUILD))' W='$(W)'

# What the tools need is said before the modules are compiled, too.
ifneq ($(filter all install,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell $(MAKE) -s -C tools needs >&2 && echo fits),fits)
$(error the tools cannot be built)
endif
endif

.PHONY: all modules tools cross-tools install install-pages uninstall dist deb check check-full \
	check-kernels check-programs check-distro unit fuzz fuzz-guest demo bench bench-quick \
	sparse style tags lines clean help

all: modules tools

modules:
	@scripts/build-tree '$(BUILD)'
	+@$(kbuild) modules
	@$(if $(default-kernel),for m in net6 khttpd xlat; do \
		ln -sfn '$(abspath $(BUILD))'/$$m/*.ko $$m/; done)

tools:
	@$(MAKE) -C tools

# Beside the modules, for a guest of another processor. scripts/debian-kernel's make says CROSS= and
# where that processor's libraries are.
cross-tools:
	@scripts/build-tree '$(BUILD)' tools selftests/unit/shim
	@$(MAKE) -C '$(BUILD)/tools' CC='$(CROSS)gcc --sysroot=$(SYSROOT)'

install: modules tools
	+@$(kbuild) INSTALL_MOD_PATH='$(DESTDIR)' INSTALL_MOD_DIR=updates \
		CONFIG_MODULE_SIG_ALL= modules_install
	$(if $(DESTDIR),,depmod $(RELEASE))
	@$(MAKE) -C tools install
	@$(MAKE) install-pages

install-pages:
	@for page in $(wildcard Documentation/man/*.[1-8]); do \
		place='$(DESTDIR)$(PREFIX)'/share/man/man$${page##*.}/$${page##*/} && \
		install -D -m 644 $$page "$$place" && \
		sed -i 's,/usr/local/,$(PREFIX)/,' "$$place" || exit 1; \
	done

# What install has brought for this kernel. Other kernels' modules: KDIR=.
modules = '$(DESTDIR)/lib/modules/$(RELEASE)/updates'

uninstall:
	rm -f $(modules)/net6/net6.ko* $(modules)/net6/net6_tunnel4.ko* \
		$(modules)/khttpd/khttpd.ko* $(modules)/xlat/net6xlat.ko* \
		$(modules)/selftests/modules/*.ko*
	@for dir in net6 khttpd xlat selftests/modules selftests; do \
		[ ! -d $(modules)/$$dir ] || \
		rmdir --ignore-fail-on-non-empty $(modules)/$$dir; \
	done
	$(if $(DESTDIR),,depmod $(RELEASE))
	@$(MAKE) -C tools uninstall
	rm -f $(foreach page,$(wildcard Documentation/man/*.[1-8]), \
		'$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))')

# What is committed, the same octets each time.
dist:
	@scripts/dist

# Debian packages of the tree as it is.
deb:
	@scripts/deb

check:
	@selftests/lib/run

check-full:
	@selftests/lib/run --full

check-kernels:
	@scripts/check-kernels $(ROWS)

check-programs:
	@scripts/programs
	@KERNELS=stock selftests/lib/run programs_few.py programs_more.py programs_side.py \
		khttpd_clients.py khttpd_tls_clients.py

check-distro:
	@scripts/distro $(AREAS)

unit:
	@$(MAKE) -C selftests/unit check

fuzz:
	@$(MAKE) -C selftests/fuzz check

fuzz-guest:
	@scripts/fuzz-guest '$(or $(MODE),side)' '$(or $(MINUTES),5)' $(SEED)

demo:
	@scripts/demo

bench:
	@/usr/bin/python3 scripts/bench/bench.py run $(EXPERIMENTS)

bench-quick:
	@/usr/bin/python3 scripts/bench/bench.py run --quick $(EXPERIMENTS)

sparse:
	@scripts/setup style
	@scripts/build-tree '$(BUILD)'
	+@scripts/sparse '$(BUILD)' $(kbuild)

style:
	@scripts/style

# For editors. A kernel's headers and source, where there are some, are for tags of their own.
sources = $(shell git ls-files -- '*.[ch]' ':!selftests/unit/shim' ':!selftests/fuzz/corpus' \
	2>/dev/null || find include net6 khttpd xlat tools selftests -name '*.[ch]')

tags:
	@command -v ctags >/dev/null || { echo "ctags is missing: apt-get install universal-ctags"; \
		exit 1; }
	@ctags -I __rcu,__user,__read_mostly,__must_check $(sources)
	@if command -v cscope >/dev/null; then cscope -b -k $(sources); fi

lines:
	@scripts/lines

clean:
	rm -rf build demo .guest net6/*.ko khttpd/*.ko xlat/*.ko tags cscope.out
	@for dir in tools selftests/unit selftests/fuzz selftests/fuzz/guest; do \
		[ ! -e $$dir/Makefile ] || $(MAKE) -C $$dir clean || exit 1; done

help:
	@echo 'To build'
	@echo '  make              net6/net6.ko, khttpd/khttpd.ko, xlat/net6xlat.ko and tools/'
	@echo '  make modules NET6_SELFTESTS=m  the modules, with those that only tests load'
	@echo '  make install      modules (with depmod), tools and manual pages, as root'
	@echo '  make uninstall    remove what make install has brought, for the kernel of KDIR'
	@echo '  make dist         build/net6-VERSION.tar.xz of what is committed'
	@echo '  make deb          the Debian packages, in build/deb (Documentation/installing.rst)'
	@echo '  make clean        remove what was built'
	@echo
	@echo 'To see it work'
	@echo '  make demo         the main job shown in one guest, with a table of figures (10 minutes)'
	@echo '  make bench        the experiments of five papers, with pictures (33 minutes of two CPUs);'
	@echo '                    EXPERIMENTS=...'
	@echo '  make bench-quick  the same with fewer points (nine minutes of processor time)'
	@echo
	@echo 'To test'
	@echo '  make unit         user-space unit tests under ASan and UBSan'
	@echo '  scripts/guest -- python3 selftests/guest/FILE.py   one file in one guest'
	@echo '  KERNELS="stock checking newer" selftests/lib/run FILE.py...   some, on these kernels'
	@echo '  make check        all tests: user space, and guests on two kernels (about 35 minutes)'
	@echo '  make check-full   what takes longer as well: big sets of tests, a minute per fuzz target'
	@echo '  make check-kernels  all tests on all kernels, each built by its own compiler in a chroot,'
	@echo '                    and the packages; the table is build/kernels.txt; ROWS= (hours, as root)'
	@echo '  make check-programs  real programs on net6 in both modes, installed for it (20 minutes)'
	@echo '  make check-distro a Debian 13 with systemd on net6 beside one on native IPv6; AREAS= (as root)'
	@echo '  make fuzz         the fuzz targets, a minute each (FUZZ_SECONDS=)'
	@echo '  make fuzz-guest   system calls and packets at random on the checking kernel;'
	@echo '                    MODE=side|takeover MINUTES=5 SEED=N, THREADS=1 to repeat a run exactly'
	@echo
	@echo 'To change it: CONTRIBUTING.rst, Documentation/extending.rst'
	@echo '  make style        checkpatch --strict, kernel-doc, and what the pages name'
	@echo '  make sparse       sparse over all modules'
	@echo '  make tags         tags and cscope.out for editors'
	@echo '  make lines        how long the reading tours of README.md are'
	@echo '  scripts/walks -w  the ways of a segment and of a request, with folders and lines'
	@echo '  scripts/sentences PAGE...  sentences of over 30 words'
	@echo '  scripts/netlink-gen        what follows from Documentation/netlink/specs/net6.yaml'
	@echo
	@echo 'Variables'
	@echo '  KDIR=DIR          build folder of the kernel to build for (the running one)'
	@echo '  BUILD=DIR         where the objects go (build/RELEASE)'
	@echo '  W=1               warnings of kbuild; another value than this one compiles all anew'
	@echo '  PREFIX=, DESTDIR= where make install puts the tools and pages (/usr/local)'
	@echo '  CHECKING_KERNEL=DIR  a checking kernel that is ready built, for make check'
	@echo '  NET6_BUILD=DIR    the build that scripts/guest loads (build/RELEASE)'
