#!/usr/bin/env bash
# Tests the C code under the address and undefined-behaviour sanitizers, compiled with -Werror: the shim and the timed
# loop with one and two ranks and every MPI found, the program of a step (also under the thread sanitizer), the shim of
# Gloo with threads as ranks, the barrier over sockets, cudart, the plugin for NCCL and the simulated libraries.
set -euo pipefail
cd "$(dirname "$0")/.."

# Leak detection is off: both MPI libraries keep memory until exit. Their plugins are unloaded by then, so their
# leaks cannot be separated from ours.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
# UCX's own handlers would hide the sanitizers' report.
export UCX_ERROR_SIGNALS=''

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0
for family in openmpi mpich; do
  mpicc=$(command -v "mpicc.$family") || continue
  found=1
  "$mpicc" -O1 -g -std=gnu11 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
    -o "$folder/$family" mpi/shim/test/driver.c mpi/shim/*.c internal/loop/loop.c -ldl
  timeout 300 "$folder/$family"
  MPIRUN=mpirun.$family timeout 300 scripts/mpirun.sh -np 2 "$folder/$family"
done
if [ $found = 0 ]; then
  echo "c-sanitize: mpicc.openmpi and mpicc.mpich are missing: run \`make deps\`." >&2
  exit 1
fi

for kind in address,undefined thread; do
  "${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -fsanitize=$kind -fno-sanitize-recover=all \
    -o "$folder/program" internal/program/test/driver.c internal/program/*.c -lpthread
  timeout 300 "$folder/program"
done

CGO_CFLAGS='-O1 -g -fsanitize=undefined -fno-sanitize-recover=all' CGO_LDFLAGS=-fsanitize=undefined \
  "${GO:-go}" test -asan -count=1 ./internal/loop ./cudart ./cudart/nccl ./cudart/cublas
scripts/nccl-profiler.sh test
scripts/rehearsal.sh test
scripts/gloo-shim.sh --test
