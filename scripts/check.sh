#!/usr/bin/env bash
# The checks: `check.sh lint`, `quick` (lint and the quick tests), `race`, or `all` (what CI runs).
# Every step is said with its time; a failing one does not stop the rest, and is named at the end.
# shellcheck disable=SC2317 # the functions are called by step
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

GO=${GO:-go}
PATH=$PWD/.tools/bin:$PATH:$("$GO" env GOPATH 2>/dev/null)/bin
failed=() not_run=()

step() { # step "name" command…
  local name=$1 start=$SECONDS
  shift
  printf '== %s\n' "$name"
  if "$@" </dev/null; then
    printf '== %s: ok, %d s\n' "$name" $((SECONDS - start))
  else
    printf '== %s: FAILED, %d s\n' "$name" $((SECONDS - start))
    failed+=("$name")
  fi
}

# must runs a step that the rest stands on.
must() {
  step "$@"
  [ ${#failed[@]} -eq 0 ] || finish
}

# leave_out "name" "reason" says what this machine does not allow, at once and at the end.
leave_out() {
  printf '== %s: NOT RUN: %s\n' "$1" "$2"
  not_run+=("$1: $2")
}

finish() {
  if [ ${#not_run[@]} -gt 0 ]; then printf '\nNOT RUN: %s' "${not_run[@]}" && echo; fi
  if [ ${#failed[@]} -gt 0 ]; then
    printf '\nfailed: %s\n' "$(printf '%s; ' "${failed[@]}")"
    exit 1
  fi
  if [ ${#not_run[@]} -gt 0 ]; then
    printf '\nall other checks passed in %d s\n' "$SECONDS"
  else
    printf '\nall checks passed in %d s\n' "$SECONDS"
  fi
  exit 0
}

# files prints the repository's files of the patterns, those not yet added too.
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

format() {
  local differing
  [ -n "$(files '*.go')" ] || { echo "git lists no Go files here"; return 1; }
  differing=$(files '*.go' | xargs -r gofmt -l) || return 1
  [ -z "$differing" ] || { printf 'not as gofmt writes it (run gofmt -w):\n%s\n' "$differing"; return 1; }
}

shell() { files '*.sh' .ci/run | xargs -r shellcheck; }

# Cgo is for the bindings, the loop and the program of a step only; depguard cannot see it.
cgo() {
  local found
  found=$("$GO" list -f '{{if .CgoFiles}}{{.ImportPath}}{{end}}' ./... |
    grep -vxE 'busbar/(internal/(loop(/looptest)?|program(/programtest)?|dl)|mpi|gloo|cudart(/(nccl|cublas))?)')
  [ -z "$found" ] || { printf 'cgo outside the bindings: %s\n' "$found"; return 1; }
}

lint() {
  local flags=${GOFLAGS:-}
  step "gofmt" format
  step "go vet" "$GO" vet ./...
  # Not with -trimpath: Go's cache would give it what cgo made in another checkout, with paths that may be gone.
  step "golangci-lint" env GOFLAGS="${flags//-trimpath/}" golangci-lint run --allow-parallel-runners ./...
  step "cgo only in the bindings" cgo
  step "shellcheck" shell
}

# What needs no rank processes.
quick=(./internal/... ./sweeps/... ./cudart/... ./gloo ./post/... ./slurm ./slurm/aws ./slurm/sites)

# Where there are goroutines; the statistics have none, and their simulations would take minutes. rank's system tests
# start the program itself, which the detector does not see.
race() {
  local system
  system=$(grep -hoE '^func Test[A-Za-z0-9_]+' rank/system*_test.go | cut -d' ' -f2 | paste -sd'|')
  step "race detector" "$GO" test -race -count=1 -skip "^(${system:-none})\$" \
    ./internal/bench/... ./internal/board ./internal/result/... ./internal/loop/... ./internal/program/... ./cudart/... ./post ./rank
}

# The nodes of that Slurm are namespaces, which some containers forbid; nothing else is a reason to do without.
on_slurm() {
  local why code=0
  why=$(slurm/cluster/up.sh possible 2>&1) || code=$?
  if [ "$code" = 3 ]; then
    leave_out "on a real Slurm" "$why"
  else
    step "on a real Slurm" make --no-print-directory slurm-test
  fi
}

rehearse_gpu() {
  rm -rf .tools/gpu-check
  test/gpu.sh --rehearse --out .tools/gpu-check
}

case ${1:-} in
lint)
  must "tools" scripts/deps.sh test
  lint
  ;;
quick)
  must "tools" scripts/deps.sh test
  lint
  step "quick tests" "$GO" test "${quick[@]}"
  ;;
race)
  race
  ;;
all)
  # What deps.sh and make build see to is there, or a test that wants it fails (internal/needs).
  export BUSBAR_TEST_WHOLE=1
  # As make build has it, so that nothing is compiled twice.
  export GOFLAGS="${GOFLAGS:-} -trimpath"
  # First, where a fresh machine has no MPI: Go needs none to build.
  must "go build" "$GO" build -buildvcs=false ./...
  must "what the tests need" scripts/deps.sh test
  must "post without cgo" env CGO_ENABLED=0 "$GO" build -buildvcs=false -o /dev/null ./post
  must "make build" make --no-print-directory build
  lint
  step "go.mod is tidy" "$GO" mod tidy -diff
  # Not from the cache: the tests start programs that Go's cache does not know of.
  # Packages that start ranks come one after another: ranks of two launches bound to one core may starve each other.
  step "go test" "$GO" test -count=1 -timeout 20m "${quick[@]}"
  step "go test, with ranks" "$GO" test -count=1 -timeout 20m -p 1 ./mpi ./rank ./docs ./slurm/lib
  race
  step "sanitizers" scripts/c-sanitize.sh
  step "kernels assembled" scripts/ptx.sh
  step "NCCL's own library" env KEEP=1 scripts/abi.sh newest
  step "bundle" make --no-print-directory bundle
  step "bundle in a bare Debian" scripts/bundle-test.sh bare
  on_slurm
  step "check of a GPU machine, rehearsed" rehearse_gpu
  ;;
*)
  echo "usage: check.sh lint|quick|race|all" >&2
  exit 1
  ;;
esac
finish
