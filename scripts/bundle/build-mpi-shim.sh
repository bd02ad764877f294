#!/usr/bin/env bash
# build-mpi-shim lets rank use the MPI of this machine and its network instead of the MPI in this folder:
#   ./build-mpi-shim [MPICC]    mpicc of that MPI (default: mpicc); needs a C compiler, no Go
#   ./build-mpi-shim --own      back to the MPI of this folder
# busbar-run then starts that MPI's mpirun. srun, or that mpirun with bin/rank, also works.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
lib=$here/lib
own=$here/openmpi/busbar-mpi-openmpi.so

case ${1:-} in
  -h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --own)
    cp "$own" "$lib/busbar-mpi-openmpi.so"
    rm -f "$lib/launcher"
    echo "rank uses the Open MPI of this folder"
    exit 0
    ;;
esac

mpicc=${1:-mpicc}
OUT=$lib USAGE='./build-mpi-shim ' "$here/src/scripts/mpi-shim.sh" "$mpicc"

# The launcher is in the folder of the compiler and has its suffix: mpicc.mpich, mpirun.mpich.
path=$(command -v "$mpicc")
name=${path##*/}
suffix=''
case $name in mpicc.*) suffix=.${name#mpicc.} ;; esac
for candidate in mpirun mpiexec; do
  candidate=$(cd "$(dirname "$path")" && pwd)/$candidate$suffix
  if [ -x "$candidate" ]; then
    printf '%s\n' "$candidate" >"$lib/launcher"
    echo "busbar-run starts $candidate"
    exit 0
  fi
done
rm -f "$lib/launcher"
echo "no mpirun in the folder of $path: start the ranks with srun, for example: srun -n 8 $here/bin/rank"
