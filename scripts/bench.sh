#!/usr/bin/env bash
# Builds the bench and the bare loop that it compares with, and runs it: Markdown on stdout, minutes on a quiet machine.
# Arguments go to the bench: scripts/bench.sh -only loop -budget 2s. MPICC names the compiler of the MPI whose mpirun runs.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p lib .tools/bin
mpicc=${MPICC:-mpicc}
flags=(-std=gnu11 -O2 -Wall -Wextra -Werror)
"$mpicc" "${flags[@]}" -fPIC -shared -o lib/busbar-bare.so mpi/bare/bare.c
"$mpicc" "${flags[@]}" -DPROGRAM -o lib/busbar-bare mpi/bare/bare.c
"${GO:-go}" build -trimpath -o .tools/bin/busbar-bench ./internal/tools/bench
exec .tools/bin/busbar-bench -top "$PWD" "$@"
