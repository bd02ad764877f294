#!/usr/bin/env bash
# The C code under the address and undefined-behaviour sanitizers: the shim and the timed loop alone and with two ranks,
# with every MPI found, the program of a step on its threads (under the thread sanitizer too), the shim of Gloo with threads as
# ranks, and that of cudart, the plugin for NCCL and the rehearsal in their own tests. Each file is compiled with -Werror once more.
set -euo pipefail
cd "$(dirname "$0")/.."

# Both MPI libraries keep memory until the process ends, much of it from plugins that are unloaded by then and cannot
# be told apart from ours, so leaks are not looked for.
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
  echo "c-sanitize: neither mpicc.openmpi nor mpicc.mpich is here; \`make deps\` installs them or says how." >&2
  exit 1
fi

for kind in address,undefined thread; do
  "${CC:-cc}" -O1 -g -std=gnu11 -Wall -Wextra -Werror -fsanitize=$kind -fno-sanitize-recover=all \
    -o "$folder/program" internal/program/test/driver.c internal/program/*.c -lpthread
  timeout 300 "$folder/program"
done

CGO_CFLAGS='-O1 -g -fsanitize=undefined -fno-sanitize-recover=all' CGO_LDFLAGS=-fsanitize=undefined \
  "${GO:-go}" test -asan -count=1 ./cudart ./cudart/nccl ./cudart/cublas
scripts/nccl-profiler.sh test
scripts/rehearsal.sh test
scripts/gloo-shim.sh --test
