# busbar: `make demo` measures on this machine, `make test` runs the tests, `make help` lists the rest.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo unknown)
# Only the bundle has -trimpath: tests and linters share Go's cache with the other builds.
BUILD    = $(GO) build $(TRIM) -buildvcs=false -ldflags '-X main.version=$(VERSION)'

SHELL := bash
.DEFAULT_GOAL := build
.PHONY: test-all build programs shims mpi-shim gloo-shim nccl-profiler rehearsal deps demo gloo-benchmark nccl-benchmark benchmark test check lint sanitize race fuzz abi ptx bench bundle bundle-test slurm-up slurm-down slurm-test clean help

build: programs shims nccl-profiler rehearsal ## bin/rank, bin/post, lib/busbar-mpi-*.so for every MPI found, lib/busbar-gloo.so, the plugin for NCCL, lib/rehearsal

programs:
	$(BUILD) -o bin/rank ./rank
	CGO_ENABLED=0 $(BUILD) -o bin/post ./post

# rank and post build without any MPI and without Gloo.
shims:
	@if command -v mpicc mpicc.openmpi mpicc.mpich >/dev/null; then scripts/mpi-shim.sh; else \
	  echo "No mpicc on PATH, so there is no MPI shim; bin/rank needs one to use MPI."; \
	  echo "make deps installs Open MPI or says how; for an MPI of your own: make mpi-shim MPICC=/path/to/mpicc"; \
	fi
	@scripts/gloo-shim.sh --if-there

mpi-shim: ## the shim of one MPI, without Go: make mpi-shim MPICC=/path/to/mpicc
	@scripts/mpi-shim.sh $(MPICC)

nccl-profiler: ## lib/busbar-nccl-profiler.so, the plugin of rank --algorithms
	@scripts/nccl-profiler.sh

gloo-shim: ## the shim of Gloo; wants a C++ compiler and libgloo-dev, and no Go
	@scripts/gloo-shim.sh

rehearsal: ## the simulation of libcuda, libnccl and libcublas, for trying everything without a GPU
	@scripts/rehearsal.sh

deps: ## install what is missing (as root with apt; otherwise say how)
	@scripts/deps.sh

demo: ## build, measure for under a minute, merge and draw
	@scripts/demo.sh

gloo-benchmark: ## Gloo on CPUs: all_reduce of 1 MB to 1 GB in worlds of 2, 4 and 6, under 5 minutes, and the report
	@scripts/benchmark.sh gloo $(FLAGS)

nccl-benchmark: ## the same with NCCL on GPUs; REHEARSE=1 tries it without any
	@scripts/benchmark.sh nccl $(FLAGS)

benchmark: ## looks at the machine and picks backends and worlds; OUT=, WORLDS=, TIME_LIMIT=, FLAGS= of rank
	@scripts/benchmark.sh auto $(FLAGS)

test: ## linters, all tests, a pass over a real Slurm, the simulated GPU check
	@scripts/check.sh test

test-all: ## make test, then all the rest: MPICH, race, sanitizers, simulations, all Slurm faults, the bundle
	@scripts/check.sh test
	@scripts/check.sh rest

check: ## the inner loop: format, vet, linters and the quick tests
	@scripts/check.sh quick

lint: ## format, vet, linters, shellcheck
	@scripts/check.sh lint

sanitize: ## the C code under the address and undefined-behaviour sanitizers
	@scripts/c-sanitize.sh

race: ## the Go packages whose goroutines share memory, under the race detector
	@scripts/check.sh race

fuzz: ## ten seconds of every fuzz test; FUZZTIME=5m for longer
	@scripts/fuzz.sh $(FUZZTIME)

abi: build ## the table of NCCL's functions against NVIDIA's own libraries (fetches 1.2 GB; KEEP=1 keeps it)
	@scripts/abi.sh

ptx: ## assemble the kernels of cudart for every GPU from 7.0 to 10.0 (90 MB, kept in .tools/ptx)
	@scripts/ptx.sh

bench: build ## rank against a bare C loop, memory, start-up, growth: Markdown on stdout
	@scripts/bench.sh

bundle: TRIM = -trimpath
bundle: build ## dist/busbar-VERSION-linux-x86_64.tar.gz: runs on other machines without root, Go or MPI
	@VERSION=$(VERSION) GO=$(GO) scripts/bundle.sh
	@scripts/bundle-test.sh moved

bundle-test: ## the packed bundle in a bare Debian without network, as root and as another user
	@scripts/bundle-test.sh

slurm-up: ## a real Slurm of four nodes on this machine, for tests (as root; slurm/cluster/login.sh CMD runs in it)
	@slurm/cluster/up.sh

slurm-down: ## end it
	@slurm/cluster/down.sh

slurm-test: build ## the scripts of slurm/ on such a Slurm of their own
	@scripts/deps.sh slurm
	BUSBAR_SLURM_TEST=1 $(GO) test -count=1 -v -timeout 20m ./slurm

clean: ## remove what make made; results/ stays
	rm -rf bin lib dist .tools

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
