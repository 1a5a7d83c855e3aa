# SPDX-License-Identifier: GPL-2.0-or-later
# causeprof's build. "make help" lists the targets. Everything made lies under $(O).

O        ?= build
CC       ?= gcc
CLANG    ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL  ?= $(firstword $(shell command -v bpftool) /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
PROTOC_C ?= protoc-c
prefix   ?= /usr/local
V        ?= 0
SAN      ?=
DEV      ?= 0
CFLAGS   ?= -O2 -g
VERSION  := 0.1.0

ARCH     := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
PKGS     := libbpf libelf libdw libunwind-generic liblzma libzstd zlib libxxhash fftw3 libpcap yajl libprotobuf-c
Q        := $(if $(filter 1,$(V)),,@)
say       = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2:$(O)/%=%)';)

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	    -Wno-missing-field-initializers -Wundef -Wvla -Wpointer-arith -Wwrite-strings -Wformat=2 $(if $(filter 1,$(DEV)),-Werror)
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CPPFLAGS := -D_GNU_SOURCE -I. -I$(O) $(shell $(PKG_CONFIG) --cflags $(PKGS)) $(CPPFLAGS)
ALL_CFLAGS := -std=gnu11 $(ALL_CPPFLAGS) $(WARN) $(SAN_FLAGS) $(CFLAGS)
ALL_LDFLAGS := $(SAN_FLAGS) $(LDFLAGS)
LDLIBS   := $(shell $(PKG_CONFIG) --libs $(PKGS)) -liberty -lpthread -lm

BPF_SRCS := $(wildcard bpf/*.bpf.c)
BPF_OBJS := $(BPF_SRCS:%.bpf.c=$(O)/%.bpf.o)
SKEL     := $(if $(BPF_SRCS),$(O)/gen/causeprof.skel.h)
PROTOS   := $(wildcard user/exchange/*.proto)
PROTO_HDRS := $(PROTOS:user/exchange/%.proto=$(O)/gen/%.pb-c.h)
PROTO_OBJS := $(PROTOS:user/exchange/%.proto=$(O)/gen/%.pb-c.o)
ASSETS   := $(wildcard flamegraph/*.js flamegraph/*.css)
GEN      := $(O)/gen/commands.inc $(O)/gen/version.h $(ASSETS:flamegraph/%=$(O)/gen/%.h) $(SKEL) $(PROTO_HDRS)
LIB_SRCS := $(foreach d,user/base user/model user/store user/exchange user/analysis user/capture symbolize flamegraph,$(wildcard $(d)/*.c))
CMD_SRCS := $(wildcard user/cmd/*.c)
VERBS    := $(patsubst user/cmd/verb_%.c,%,$(wildcard user/cmd/verb_*.c))
LIB_OBJS := $(LIB_SRCS:%.c=$(O)/%.o) $(PROTO_OBJS)
CMD_OBJS := $(CMD_SRCS:%.c=$(O)/%.o)
LIB      := $(O)/libcauseprof.a
BIN      := $(O)/causeprof
UNIT     := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
WORKLOADS := $(patsubst %.c,$(O)/%,$(wildcard tests/workloads/*.c))
TOOLS    := $(patsubst %.c,$(O)/%,$(wildcard tests/tools/*.c))
FUZZERS  := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAYS  := $(FUZZERS:%=%-replay)
GOLDEN   := $(wildcard tests/golden/*/*.sh)
LIVE     := $(wildcard tests/live/test_*.*)
VM       := $(wildcard tests/vm/test_*.*)
BENCH    := $(wildcard tests/bench/bench_*.sh tests/bench/bench_*.py)
BENCH_PROGS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
C_FILES  := $(shell find bpf user symbolize flamegraph tests vmlinux -name '*.[ch]' 2>/dev/null)

.PHONY: all tests check check-unit check-golden check-fuzz check-live check-vm check-arm64 bench bench-paths lint format fuzz man install uninstall compdb clean help
all: $(BIN) ## build the program
tests: $(UNIT) $(WORKLOADS) $(REPLAYS) $(TOOLS) ## build the test programs and workloads

$(BIN): $(CMD_OBJS) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

$(LIB): $(LIB_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.bpf.o: %.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -I. $(BPF_SYS) \
		$(BPF_CFLAGS) -MMD -MP -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

# clang -target bpf does not look into the host's multiarch include folder by itself
BPF_SYS   = $(addprefix -idirafter ,$(wildcard /usr/include/$(shell $(CC) -print-multiarch)))

$(O)/gen/causeprof.skel.h: $(BPF_OBJS)
	$(call say,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen object $(O)/gen/causeprof.linked.o $^
	$(Q)$(BPFTOOL) gen skeleton $(O)/gen/causeprof.linked.o name causeprof_bpf > $@

$(O)/gen/commands.inc: $(wildcard user/cmd/verb_*.c)
	$(Q)mkdir -p $(@D)
	$(Q)for v in $(VERBS); do echo "COMMAND($$v)"; done > $@

$(O)/gen/version.h: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)echo '#define CAUSEPROF_VERSION "$(VERSION)"' > $@

# text files that become part of the program: an array of bytes with a NUL at the end
$(O)/gen/%.js.h: flamegraph/%.js
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'static const char $*_js[] = {'; od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; echo '0};'; } > $@
$(O)/gen/%.css.h: flamegraph/%.css
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'static const char $*_css[] = {'; od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; echo '0};'; } > $@

$(O)/gen/%.pb-c.c $(O)/gen/%.pb-c.h: user/exchange/%.proto
	$(call say,PROTO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=user/exchange --c_out=$(O)/gen $<
$(O)/gen/%.pb-c.o: $(O)/gen/%.pb-c.c
	$(Q)$(CC) -std=gnu11 $(ALL_CPPFLAGS) $(SAN_FLAGS) $(CFLAGS) -c $< -o $@

# Generated headers must exist before the first compilation; the .d files take over from there.
$(O)/%.o: %.c | $(GEN)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
	$(Q)printf '{"directory":"%s","file":"%s","output":"%s","command":"%s"}\n' '$(CURDIR)' '$<' '$@' '$(CC) $(ALL_CFLAGS) -c $<' > $@.json

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(LIB)
	$(call say,TEST,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@

# Helpers of the benchmarks: makers and judges of data.
$(O)/tests/bench/%: $(O)/tests/bench/%.o $(LIB)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

$(O)/tests/tools/%: $(O)/tests/tools/%.o $(LIB)
	$(call say,TOOL,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

# Workloads are targets of measurements: optimised, without frame pointers, like a distribution's programs.
$(O)/tests/workloads/%: tests/workloads/%.c
	$(call say,LOAD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -O2 -g -fomit-frame-pointer -fno-ipa-icf -MMD -MP $< -lpthread -lm -ldl -o $@

# A fuzz target is one file: built with libFuzzer for "make fuzz", and with a small driver that replays
# the corpus for "make check".
$(O)/tests/fuzz/%-replay: $(O)/tests/fuzz/%.o $(O)/tests/fuzz/replay.o $(LIB)
	$(call say,REPLAY,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

check: check-unit check-golden check-fuzz ## unit, golden and corpus tests (no root needed)
check-unit: $(UNIT) ## unit tests
	$(Q)O=$(O) scripts/run-tests $(UNIT)
check-golden: $(BIN) $(WORKLOADS) ## command line tests against stored output; ACCEPT=1 rewrites it
	$(Q)O=$(O) scripts/run-tests $(if $(ACCEPT),--accept) $(GOLDEN)
check-fuzz: $(REPLAYS) ## replay the fuzz corpus
	$(Q)set -e; for r in $(REPLAYS); do n=$${r##*/fuzz_}; $$r tests/fuzz/corpus/$${n%-replay}; done
check-live: $(BIN) $(WORKLOADS) $(TOOLS) ## tests on this machine's kernel (root)
	$(Q)O=$(O) scripts/run-tests $(LIVE)
check-vm: $(BIN) $(WORKLOADS) $(O)/tests/unit/test_account ## the workloads on other kernels, in emulation (minutes)
	$(Q)O=$(O) scripts/run-tests $(VM)
check-arm64: $(GEN) ## compile all sources and kernel programs for arm64 (needs its cross compiler)
	$(Q)O=$(O) CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' scripts/check-arm64 $(LIB_SRCS) $(CMD_SRCS)
bench: $(BIN) $(WORKLOADS) $(BENCH_PROGS) ## benchmarks beside the peers, as ratios
	$(Q)set -e; for b in $(BENCH); do O=$(O) $$b; done
bench-paths: $(BIN) $(BENCH_PROGS) ## causal paths: the evaluation of SOSP 2003 again, into docs/evaluation (minutes)
	$(Q)O=$(O) tests/bench/paths_eval.py docs/evaluation
	$(Q)O=$(O) tests/bench/conv_eval.py docs/evaluation
	$(Q)O=$(O) tests/bench/bench_matching.sh || [ $$? = 77 ]
fuzz: ## build the fuzz targets with libFuzzer under $(O)/fuzz; run them with FUZZ_SECONDS each (default 60)
	$(Q)scripts/fuzz $(O)/fuzz $(or $(FUZZ_SECONDS),60)

lint: $(GEN) ## layers, headers, sizes, formatting, static analysis
	$(Q)scripts/check-layers
	$(Q)scripts/check-headers '$(CC) $(ALL_CFLAGS) -Werror'
	$(Q)scripts/check-size
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
		'-DDECLARE_LIBBPF_OPTS(type,name,...)=struct type name = { 0 }' '-D_Static_assert(c,m)=' \
		--suppressions-list=scripts/cppcheck-suppress -D_GNU_SOURCE -I. -I$(O) user symbolize flamegraph
format: ## rewrite the sources in the project's format
	clang-format -i $(C_FILES)

man: $(O)/causeprof.1 $(O)/completion.bash ## the man page and the completion, from the option tables
$(O)/causeprof.1: scripts/make-man $(BIN)
	$(call say,MAN,$@)
	$(Q)scripts/make-man $(BIN) > $@
$(O)/completion.bash: scripts/make-completion $(BIN)
	$(call say,BASH,$@)
	$(Q)scripts/make-completion $(BIN) > $@

INSTALLED = bin/causeprof share/man/man1/causeprof.1 share/bash-completion/completions/causeprof
install: $(BIN) man ## install under $(DESTDIR)$(prefix)
	install -D -m 755 $(BIN) $(DESTDIR)$(prefix)/bin/causeprof
	install -D -m 644 $(O)/causeprof.1 $(DESTDIR)$(prefix)/share/man/man1/causeprof.1
	install -D -m 644 $(O)/completion.bash $(DESTDIR)$(prefix)/share/bash-completion/completions/causeprof
uninstall: ## remove what install put there
	rm -f $(INSTALLED:%=$(DESTDIR)$(prefix)/%)

compdb: compile_commands.json ## a compilation database for editors
compile_commands.json: all $(UNIT)
	$(Q)find $(O) -name '*.o.json' -exec cat {} + | paste -sd, | sed 's/.*/[&]/' > $@
clean: ## remove everything that was built
	rm -rf $(O) compile_commands.json
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 16
	@echo 'variables: O=build DEV=1 (warnings are errors) SAN=address,undefined V=1 prefix=/usr/local DESTDIR='

.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
