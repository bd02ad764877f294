#!/usr/bin/env bash
# Builds lib/busbar-mpi-*.so with every mpicc found here. Finding none is no error: rank and post build without MPI.
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian's names, the one on PATH, and where RHEL and SUSE keep theirs before a module is loaded.
candidates=(mpicc.openmpi mpicc.mpich mpicc
  /usr/lib64/openmpi/bin/mpicc /usr/lib64/mpich/bin/mpicc /usr/lib64/mpi/gcc/*/bin/mpicc)

seen=" "
for c in "${candidates[@]}"; do
  path=$(command -v "$c" || true)
  [ -n "$path" ] || continue
  real=$(readlink -f "$path")
  case $seen in *" $real "*) continue ;; esac
  seen+="$real "
  scripts/mpi-shim.sh "$path"
done

if [ "$seen" = " " ]; then
  echo "No mpicc found, so no MPI shim was built; bin/rank cannot use MPI until there is one."
  echo "\`make deps\` installs Open MPI or says how; for an MPI of your own: make mpi-shim MPICC=/path/to/mpicc"
fi
