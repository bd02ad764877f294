# busbar: `make demo` measures on this machine, `make test` runs the tests, `make help` lists the rest.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo unknown)
# Only the bundle uses -trimpath, so that the other builds share Go's cache with tests and linters.
BUILD    = $(GO) build $(TRIM) -buildvcs=false -ldflags '-X main.version=$(VERSION)'

SHELL := bash
.DEFAULT_GOAL := build
.PHONY: test-all build programs shims mpi-shim gloo-shim nccl-profiler rehearsal deps demo gloo-benchmark nccl-benchmark benchmark test check lint sanitize race fuzz abi ptx bench bundle bundle-test release release-test slurm-up slurm-down slurm-test clean help

build: programs shims nccl-profiler rehearsal ## build bin/rank, bin/post, the shims of MPI and Gloo, the NCCL plugin and the simulation

programs:
	$(BUILD) -o bin/rank ./rank
	CGO_ENABLED=0 $(BUILD) -o bin/post ./post

# rank and post build without MPI and Gloo.
shims:
	@if command -v mpicc mpicc.openmpi mpicc.mpich >/dev/null; then scripts/mpi-shim.sh; else \
	  echo "mpicc not found on PATH: no MPI shim was built; bin/rank requires one to use MPI."; \
	  echo "make deps installs Open MPI or prints how; for another MPI: make mpi-shim MPICC=/path/to/mpicc"; \
	fi
	@scripts/gloo-shim.sh --optional

mpi-shim: ## build the shim of one MPI, without Go: make mpi-shim MPICC=/path/to/mpicc
	@scripts/mpi-shim.sh $(MPICC)

nccl-profiler: ## build lib/busbar-nccl-profiler.so, the plugin of rank --algorithms
	@scripts/nccl-profiler.sh

gloo-shim: ## build the shim of Gloo, without Go; requires a C++ compiler and libgloo-dev
	@scripts/gloo-shim.sh

rehearsal: ## build simulated libcuda, libnccl and libcublas, to try everything without a GPU
	@scripts/rehearsal.sh

deps: ## install missing packages (as root with apt; otherwise print how)
	@scripts/deps.sh

demo: ## build, measure for under a minute, write a report
	@scripts/demo.sh

gloo-benchmark: ## measure Gloo on CPUs: all_reduce, 1 MB to 1 GB, world sizes 2, 4 and 6, under 5 minutes, with a report
	@scripts/benchmark.sh gloo $(FLAGS)

nccl-benchmark: ## measure NCCL on GPUs the same way; REHEARSE=1 simulates the GPUs
	@scripts/benchmark.sh nccl $(FLAGS)

benchmark: ## choose backends and world sizes for this machine; OUT=, WORLDS=, TIME_LIMIT=, FLAGS= of rank
	@scripts/benchmark.sh auto $(FLAGS)

test: ## run linters, all tests, a real Slurm and the simulated GPU check
	@scripts/check.sh test

test-all: ## run make test, then MPICH, race, sanitizers, simulations, all Slurm faults and the bundle
	@scripts/check.sh test
	@scripts/check.sh rest

check: ## run format, vet, linters and the quick tests
	@scripts/check.sh quick

lint: ## run format, vet, linters and shellcheck
	@scripts/check.sh lint

sanitize: ## run the C code under the address and undefined-behaviour sanitizers
	@scripts/c-sanitize.sh

race: ## run Go packages with shared memory under the race detector
	@scripts/check.sh race

fuzz: ## run every fuzz test for ten seconds; FUZZTIME=5m for longer
	@scripts/fuzz.sh $(FUZZTIME)

abi: build ## check NCCL's function table against NVIDIA's libraries (downloads 1.2 GB; KEEP=1 keeps them)
	@scripts/abi.sh

ptx: ## assemble the kernels of cudart for compute capability 7.0 to 10.0 (90 MB, kept in .tools/ptx)
	@scripts/ptx.sh

bench: build ## compare rank with a bare C loop: time, memory, start-up, growth; Markdown on stdout
	@scripts/bench.sh

bundle: TRIM = -trimpath
bundle: build ## build dist/busbar-VERSION-linux-x86_64.tar.gz, which needs no root, Go or MPI
	@VERSION=$(VERSION) GO=$(GO) scripts/bundle.sh
	@scripts/bundle-test.sh moved

bundle-test: ## test the bundle in a bare Debian without network, as root and as another user
	@scripts/bundle-test.sh

release: ## build the release of VERSION into dist/: programs, bundles, packages, checksums (docs/releasing.md)
	@scripts/release.sh

release-test: ## install and run the files of dist/ in a bare Debian, then build them again and compare the bytes
	@scripts/release-test.sh

slurm-up: ## start a four-node Slurm on this machine, for tests (as root; slurm/cluster/login.sh CMD runs in it)
	@slurm/cluster/up.sh

slurm-down: ## stop the Slurm of slurm-up
	@slurm/cluster/down.sh

slurm-test: build ## test the scripts of slurm/ on their own four-node Slurm
	@scripts/deps.sh slurm
	BUSBAR_SLURM_TEST=1 $(GO) test -count=1 -v -timeout 20m ./slurm

clean: ## remove build output; keep results/
	rm -rf bin lib dist .tools

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
