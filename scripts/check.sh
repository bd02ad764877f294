#!/usr/bin/env bash
# Runs the checks:
#   check.sh quick     format, linters and the quick tests (make check)
#   check.sh test      the test command: linters and most tests (make test)
#   check.sh rest      tests that make test skips; requires the results of `check.sh test` (make test-all runs both)
#   check.sh lint      format and linters
#   check.sh STEP…     single steps, by the names that a run prints
# A failing step does not stop the others. At the end each failed step is listed with its log and the command that runs
# it alone, and the slowest tests are listed. Logs are in .tools/test.
# shellcheck disable=SC2317 # the functions are called by step
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

GO=${GO:-go}
PATH=$PWD/.tools/bin:$PATH:$("$GO" env GOPATH 2>/dev/null)/bin
readonly logs=.tools/test
mkdir -p "$logs"
failed=() not_run=() times=() events=()

# --- steps -----------------------------------------------------------------------------------------------------------

# step NAME runs the function of that name, with - as _, and keeps what it prints.
step() {
  local start=$SECONDS
  printf '== %s\n' "$1"
  { "${1//-/_}" </dev/null 2>&1; } | tee "$logs/$1.log"
  ended "$1" "${PIPESTATUS[0]}" $((SECONDS - start))
}

# begin NAME starts a step in the background, in its own process group; join NAME waits for it and prints its output. At
# the end running steps are stopped.
declare -A pids=() began=()
begin() {
  began[$1]=$SECONDS
  set -m
  { "${1//-/_}" </dev/null; local code=$?; echo "$SECONDS" >"$logs/$1.end"; exit "$code"; } >"$logs/$1.log" 2>&1 &
  pids[$1]=$!
  set +m
}
join() {
  local code=0
  printf '== %s\n' "$1"
  wait "${pids[$1]}" || code=$?
  unset "pids[$1]"
  cat "$logs/$1.log"
  ended "$1" "$code" $(($(cat "$logs/$1.end" 2>/dev/null || echo "$SECONDS") - began[$1]))
}

ended() { # ended NAME CODE SECONDS
  local word=ok
  # 77: this machine does not allow it; the first line is the reason.
  case $2 in
    0) ;;
    77) word="NOT RUN" && not_run+=("$1: $(sed -n 1p "$logs/$1.log")") ;;
    *) word=FAILED && failed+=("$1") ;;
  esac
  [ ! -e "$logs/$1.json" ] || events+=("$logs/$1.json")
  times+=("$(printf '%6d s  %s' "$3" "$1")")
  printf '== %s: %s, %d s\n' "$1" "$word" "$3"
}

stop() {
  local pid
  for pid in "${pids[@]}"; do kill -- "-$pid" 2>/dev/null; done
}
trap stop EXIT

# must runs a step that all others require.
must() {
  step "$1"
  [ ${#failed[@]} -eq 0 ] || finish
}

finish() {
  local name
  printf '\nTime of each step:\n'
  printf '%s\n' "${times[@]}" | sort -rn
  if [ ${#events[@]} -gt 0 ]; then
    printf '\nSlowest tests:\n'
    cat "${events[@]}" | gotestsum tool slowest --num 10
  fi
  if [ ${#not_run[@]} -gt 0 ]; then printf '\nNOT RUN: %s' "${not_run[@]}" && echo; fi
  if [ ${#failed[@]} -gt 0 ]; then
    for name in "${failed[@]}"; do
      printf '\nfailed: %s\n  log:   %s\n  alone: scripts/check.sh %s\n' "$name" "$logs/$name.log" "$name"
      if [ -e "$logs/$name.json" ]; then grep -a '^=== FAIL: ' "$logs/$name.log" | sed 's/^=== FAIL: /    /' | sort -u; fi
    done
    exit 1
  fi
  printf '\nall %schecks passed in %d s\n' "$([ ${#not_run[@]} = 0 ] || echo 'other ')" "$SECONDS"
  exit 0
}

# --- functions of the steps ------------------------------------------------------------------------------------------

# files prints the files of the repository that match the patterns, with untracked ones.
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

format() {
  local differing
  [ -n "$(files '*.go')" ] || { echo "git lists no Go files here"; return 1; }
  differing=$(files '*.go' | xargs -r gofmt -l) || return 1
  [ -z "$differing" ] || { printf 'not formatted (run gofmt -w):\n%s\n' "$differing"; return 1; }
}

# go vet is one of its linters.
golangci_lint() { golangci-lint run --allow-parallel-runners ./...; }

shellcheck() { files '*.sh' '*.nhc' .ci/run | xargs -r "$(type -P shellcheck)"; }

# If a reader stops early and the text exceeds the pipe buffer, the writer dies of SIGPIPE, and with pipefail the pipeline
# fails. `grep -q WORD FILE` and `sed -n 1p` avoid that.
early_readers() {
  local found
  found=$(files '*.sh' '*.nhc' .ci/run | xargs -r grep -nE '(^|[^|])\|&?[[:space:]]*([ef]?grep([[:space:]]+-[^[:space:]]+)*[[:space:]]+(-[a-zA-Z]*[qm]|--quiet|--silent|--max-count)|head([[:space:]]|$)|sed[[:space:]].*[0-9/$]q)' |
    grep -vE '^[^:]*:[0-9]+:[[:space:]]*#|\|\| true')
  [ -z "$found" ] || { printf 'pipes whose reader stops early, under pipefail:\n%s\n' "$found"; return 1; }
}

# Markers that a merge left.
conflicts() {
  local found
  found=$(git grep -nE '^(<{7}|>{7}) ')
  [ -z "$found" ] || { printf 'conflict markers:\n%s\n' "$found"; return 1; }
}

# Cgo is only for the bindings, the loop and the program of a step; depguard does not check it.
cgo() {
  local found
  found=$("$GO" list -f '{{if .CgoFiles}}{{.ImportPath}}{{end}}' ./... |
    grep -vxE 'busbar/(internal/(loop(/looptest)?|program(/programtest)?|dl)|mpi|gloo|cudart(/(nccl|cublas))?)')
  [ -z "$found" ] || { printf 'cgo outside the bindings: %s\n' "$found"; return 1; }
}

tidy() { "$GO" mod tidy -diff; }

# Runs before MPI is installed: the Go build does not require it.
go_build() { "$GO" build -buildvcs=false ./...; }

tools() { scripts/deps.sh test; }

build() { make --no-print-directory -j "$(nproc)" build; }

# testrun EVENTS.json ARGUMENTS… runs go test, keeps its events, and prints what failed.
testrun() { gotestsum --format pkgname --hide-summary skipped --jsonfile "$1" -- -count=1 -vet=off "${@:2}"; }

# testrest OLD.json EVENTS.json ARGUMENTS… runs the tests that OLD.json skipped for make test-all (needs.TestAll).
testrest() {
  local left pattern packages
  left=$(grep -a 'left to make test-all' "$1" | sed -nE 's/.*"Package":"([^"]*)","Test":"([^"]*)".*/\1 \2/p' | sort -u)
  [ -n "$left" ] || { echo "no test was left to make test-all"; return 0; }
  pattern=$(cut -d' ' -f2 <<<"$left" | sort -u | sed -E 's/[][().*+?^$|{}\\]/\\&/g; s,/,$/^,g; s/.*/^&$/' | paste -sd'|')
  mapfile -t packages < <(cut -d' ' -f1 <<<"$left" | sort -u)
  testrun "${@:2}" -run "$pattern" "${packages[@]}"
}

# Tests use the programs in bin and lib, and fail if a tool is missing. A single step builds the programs first.
built=''
ready() { { [ -n "$built" ] || build; } && export BUSBAR_TEST_WHOLE=1 BUSBAR_TEST_PROGRAMS=$PWD; }

# Packages whose tests start no ranks.
quick=(./internal/... ./sweeps/... ./cudart/... ./gloo ./post/... ./slurm ./slurm/aws ./slurm/sites)

quick_tests() { "$GO" test -short -vet=off "${quick[@]}"; }

# The language tests of strings, comments and pages; the step tests also runs them.
language() { "$GO" test -vet=off -run '^Test(Language|Turns)$' ./docs; }

# Without Go's test cache, which does not track the programs that tests start. Packages that mostly wait start first.
tests() { ready && testrun "$logs/tests.json" -short -timeout 10m -p 3 ./rank ./slurm/lib ./test ./...; }

tests_left() { ready && testrest "$logs/tests.json" "$logs/tests-left.json" -timeout 10m; }

# Packages whose goroutines share memory; without the system tests, whose ranks are built without the detector.
race() {
  local system
  system=$(grep -hoE '^func Test[A-Za-z0-9_]+' rank/system*_test.go | cut -d' ' -f2 | paste -sd'|')
  ready && testrun "$logs/race.json" -race -short -timeout 10m -skip "^(${system:-none})\$" \
    ./internal/bench/... ./internal/board ./internal/result/... ./internal/loop/... ./internal/program/... ./cudart/... ./post/trace ./rank/...
}

# The nodes of the test cluster are namespaces. The step is skipped only if the container forbids them.
on_slurm() {
  local code=0
  slurm/cluster/up.sh possible || code=$?
  [ "$code" != 3 ] || return 77
  scripts/deps.sh slurm && ready && BUSBAR_SLURM_TEST=1 "$@" -timeout 20m
}
slurm() { on_slurm testrun "$logs/slurm.json" -short ./slurm; }
slurm_left() { on_slurm testrest "$logs/slurm.json" "$logs/slurm-left.json"; }

# PyTorch's torchrun starts the ranks.
torchrun() {
  scripts/deps.sh torchrun && ready && BUSBAR_TORCHRUN_TEST=1 testrun "$logs/torchrun.json" -run '^TestTorchrun$' ./rank
}

simulated_gpu() {
  ready || return
  rm -rf .tools/gpu-check
  BUSBAR_TIME_SCALE=0.5 test/gpu.sh --rehearse --out .tools/gpu-check
}

sanitizers() { scripts/c-sanitize.sh; }
ptx() { scripts/ptx.sh; }
abi() { KEEP=1 scripts/abi.sh newest; }
cublas() { scripts/cublas.sh; }
bundle() { make --no-print-directory bundle; }
bundle_bare() { scripts/bundle-test.sh bare; }

# Modules of their own check manifests and the dashboard with the types of Kubernetes, Kubeflow, Prometheus and Grafana.
deploy_modules() {
  local module
  for module in deploy/kubernetes/test deploy/grafana/test; do
    (cd "$module" && "$GO" mod tidy -diff && "$GO" vet ./... && "$GO" test -count=1 ./...) || return 1
  done
}

# Not a part of `make test-all`: it takes four minutes.
image() { deploy/container/test.sh; }

# --- commands --------------------------------------------------------------------------------------------------------

# Open MPI requires the first two as root. With the others ranks are not bound to cores and yield: launches run beside
# each other.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

linters=(format cgo shellcheck early-readers conflicts tidy golangci-lint)

case ${1:-} in
lint)
  must tools
  for s in "${linters[@]}"; do step "$s"; done
  ;;
quick)
  must tools
  for s in "${linters[@]}" language quick-tests; do step "$s"; done
  ;;
test)
  rm -f "$logs"/*.json "$logs/passed"
  must go-build
  must tools
  begin golangci-lint
  must build
  built=1
  for s in format cgo shellcheck early-readers conflicts tidy; do step "$s"; done
  begin simulated-gpu # it mostly waits
  step tests
  join simulated-gpu
  join golangci-lint
  step slurm
  [ ${#failed[@]} -gt 0 ] || touch "$logs/passed"
  ;;
rest)
  [ -e "$logs/passed" ] || { echo "check.sh rest: run scripts/check.sh test first; it has not passed here" >&2; exit 1; }
  events=("$logs"/tests.json "$logs"/slurm.json) built=1
  begin cublas         # mostly downloads
  begin deploy-modules # mostly downloads
  step tests-left
  join cublas
  join deploy-modules
  step bundle # which a test of slurm-left unpacks
  begin slurm-left # mostly waits
  begin abi        # mostly downloads
  for s in race sanitizers ptx torchrun; do step "$s"; done
  join abi
  join slurm-left
  step bundle-bare
  ;;
'' | -*)
  sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p}' "$0" >&2
  exit 1
  ;;
*)
  for s in "$@"; do
    declare -F "${s//-/_}" >/dev/null || { echo "check.sh: unknown step \"$s\"; check.sh without arguments prints the usage" >&2; exit 1; }
  done
  for s in "$@"; do step "$s"; done
  ;;
esac
finish
