#!/usr/bin/env bash
# busbar-run starts rank with the MPI of this folder:
#   busbar-run -np N [--hostfile FILE] [--host LIST] [rank flags]
#   busbar-run -np N [mpirun options] -- [rank flags]
# Without -np it starts one rank for each NVIDIA GPU, or two ranks without GPUs. The first -n is -np;
# after -np it is rank's -n (iterations). After ./build-mpi-shim it uses the mpirun of that MPI.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

launcher=() # words for mpirun
rank=()     # words for rank
counted='' hosts=''

fail() {
  printf 'busbar-run: %s\n' "$@" >&2
  exit 1
}

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  echo
  exec "$here/bin/rank" --help
}

# option adds one of the launcher's options that may appear among those of rank.
option() {
  local word=$1 value=$2
  [ -n "$value" ] || fail "$word requires a value; for example: busbar-run -np 4 --host node1:2,node2:2"
  case $word in
    -n | -np | --np)
      [[ $value =~ ^[1-9][0-9]*$ ]] || fail "$word requires a number of ranks, not \"$value\""
      [ -z "$counted" ] || fail "the number of ranks is given twice: $counted and $value"
      word=-np counted=$value
      ;;
    *) hosts=1 ;;
  esac
  launcher+=("$word" "$value")
}

separate() {
  while [ $# -gt 0 ]; do
    case $1 in
      -np | --np | --hostfile | --host)
        option "$1" "${2:-}"
        shift
        ;;
      -np=* | --np=* | --hostfile=* | --host=*) option "${1%%=*}" "${1#*=}" ;;
      -n)
        if [ -z "$counted" ]; then
          option "$1" "${2:-}"
          shift
        else
          rank+=("$1")
        fi
        ;;
      -h | --help) usage ;;
      --version) exec "$here/bin/rank" --version ;;
      *) rank+=("$1") ;;
    esac
    shift
  done
}

# separate_at_dashes passes the options before -- to mpirun unchanged.
separate_at_dashes() {
  while [ "$1" != -- ]; do
    case $1 in
      -n | -np | --np | -c) counted=${2:-} ;;
      -H | -host | --host | -hostfile | --hostfile | -machinefile | --machinefile) hosts=1 ;;
    esac
    launcher+=("$1")
    shift
  done
  shift
  rank=("$@")
}

default_ranks() {
  local gpus=(/proc/driver/nvidia/gpus/*)
  if [ -e "${gpus[0]}" ]; then echo "${#gpus[@]}"; else echo 2; fi
}

# own_mpi removes the settings of other installations: they name missing plugins or other folders.
# In the ranks the shim does the same (openmpi_prefix.c), also on other hosts.
own_mpi() {
  unset "${!OPAL_@}" "${!PMIX_@}" OMPI_MCA_mtl
  export OPAL_PREFIX=$here/openmpi HWLOC_PLUGINS_PATH=$here/openmpi/hwloc
  export PMIX_PREFIX=$here/openmpi/pmix PMIX_PKGLIBDIR=$here/openmpi/pmix/lib/pmix PMIX_PKGDATADIR=$here/openmpi/pmix/share/pmix
  export OMPI_MCA_mca_base_param_files=$here/openmpi/etc/openmpi-mca-params.conf
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
  # Open MPI does not start without ssh or rsh, even on one host.
  if ! command -v ssh >/dev/null && ! command -v rsh >/dev/null; then export OMPI_MCA_plm=^rsh; fi
  mpirun=$here/openmpi/bin/mpirun
  if [ -n "$hosts" ]; then export_variables; fi
}

# export_variables exports variables of NCCL, busbar and libfabric to other hosts; Open MPI exports none by default.
export_variables() {
  local name words=()
  for name in "${!NCCL_@}" "${!BUSBAR_@}" "${!FI_@}" LD_LIBRARY_PATH; do
    if [ -n "${!name:-}" ]; then words+=(-x "$name"); fi
  done
  launcher=(${words[@]+"${words[@]}"} "${launcher[@]}")
}

dashes=''
for word in "$@"; do
  if [ "$word" = -- ]; then dashes=1; fi
done
if [ -n "$dashes" ]; then separate_at_dashes "$@"; else separate "$@"; fi

if [ -z "$counted$hosts" ]; then
  counted=$(default_ranks)
  launcher+=(-np "$counted")
  echo "busbar-run: $counted ranks, as -np was not given" >&2
fi
if [ -s "$here/lib/launcher" ]; then
  mpirun=$(<"$here/lib/launcher")
  [ -x "$mpirun" ] || fail "$mpirun is missing; the last ./build-mpi-shim selected it." \
    "Load its module, start bin/rank with srun, or go back to the MPI of this folder: ./build-mpi-shim --own"
else
  own_mpi
fi

# Open MPI requires these for root and for more ranks than cores; other launchers ignore them.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# test/gpu.sh launches another program here and compares it with rank.
exec "$mpirun" "${launcher[@]}" "${BUSBAR_RUN_PROGRAM:-$here/bin/rank}" ${rank[@]+"${rank[@]}"}
