#!/usr/bin/env bash
# Builds and runs internal/tools/bench, which compares rank with bare loops and prints Markdown. It takes minutes and
# requires an idle machine. It passes arguments on: scripts/bench.sh -only loop -budget 2s. MPICC is the compiler of
# mpirun's MPI.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p lib .tools/bin
mpicc=${MPICC:-mpicc}
flags=(-std=gnu11 -O2 -Wall -Wextra -Werror)
"$mpicc" "${flags[@]}" -fPIC -shared -o lib/busbar-bare.so mpi/bare/bare.c
[ -e lib/rehearsal/libnccl.so.2 ] || scripts/rehearsal.sh >/dev/null
# shellcheck disable=SC2016 # the loader expands $ORIGIN
"${CC:-cc}" "${flags[@]}" -fPIC -shared -fvisibility=hidden -Wl,-z,defs '-Wl,-rpath,$ORIGIN/rehearsal' -o lib/busbar-bare-nccl.so \
  cudart/rehearsal/bare/bare.c lib/rehearsal/libnccl.so.2 lib/rehearsal/libcuda.so.1
"${GO:-go}" build -trimpath -o .tools/bin/busbar-bench ./internal/tools/bench
exec .tools/bin/busbar-bench -top "$PWD" "$@"
