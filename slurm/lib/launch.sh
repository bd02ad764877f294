# shellcheck shell=bash
# Functions of the scripts that start ranks: command line, number of ranks, launcher. The sourcing script sets `here`, the
# folder of the scripts, and `me`, its own name.
# shellcheck disable=SC2034,SC2154 # the scripts read top and set here and me
# shellcheck source=slurm/lib/messages.sh
. "$here/lib/messages.sh"
top=$(cd "$here/.." && pwd)
np=''    # number of ranks; empty: not given
hosts=() # --host or --hostfile, for mpirun
flags=() # of rank
collective_flags=() # flags without those of training steps

# read_arguments "FLAG…" "SWITCH…" ARGUMENT… sets np, hosts and flags. A FLAG of the script sets the variable of its name
# to its value, a SWITCH to 1.
read_arguments() {
  local own=" $1 --np --host --hostfile " switches=" $2 "
  shift 2
  while [ $# -gt 0 ]; do
    if [[ $1 = --*=* && $own = *" ${1%%=*} "* ]]; then set -- "${1%%=*}" "${1#*=}" "${@:2}"; fi
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      -np | --np)
        require_value "$@"
        np=$2
        shift
        ;;
      --host | --hostfile)
        require_value "$@"
        hosts=("$1" "$2")
        shift
        ;;
      --*)
        if [[ $own = *" $1 "* ]]; then
          require_value "$@"
          printf -v "${1#--}" %s "$2"
          shift
        elif [[ $switches = *" $1 "* ]]; then
          printf -v "${1#--}" 1
        else
          flags+=("$1")
        fi
        ;;
      *) flags+=("$1") ;;
    esac
    shift
  done
}

# has_flag FLAG… reports whether the flags of rank contain one of these.
has_flag() {
  local word flag
  for word in ${flags[@]+"${flags[@]}"}; do
    for flag in "$@"; do
      case $word in "$flag" | "$flag"=*) return 0 ;; esac
    done
  done
  return 1
}

# drop_step_flags sets collective_flags.
drop_step_flags() {
  local word name skip=''
  collective_flags=()
  for word in ${flags[@]+"${flags[@]}"}; do
    if [ -n "$skip" ]; then
      skip=''
      continue
    fi
    name=${word%%=*}
    case ${name//_/-} in # rank accepts both
      --no-trace) ;;
      --step | --bucket | --first-bucket | --strategy | --compute | --compute-kernel)
        case $word in *=*) ;; *) skip=1 ;; esac
        ;;
      *) collective_flags+=("$word") ;;
    esac
  done
}

need_programs() {
  if [ ! -x "$top/bin/rank" ] || [ ! -x "$top/bin/post" ]; then
    die 2 "$top/bin/rank or $top/bin/post not found" \
      "Run make build, or start $me.sh from an unpacked bundle; under sbatch, from the folder that contains slurm/."
  fi
}

make_folder() { mkdir -p "$@" || die 2 "cannot create $1 on $(hostname)" "Set another folder: --out DIR"; }

# gpus prints the number of NVIDIA GPUs that this process may use.
gpus() {
  local n
  n=$({ nvidia-smi -L 2>/dev/null || true; } | grep -c '^GPU ' || true)
  if [ "$n" = 0 ]; then n=$(find /proc/driver/nvidia/gpus -mindepth 1 -maxdepth 1 2>/dev/null | wc -l); fi
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    local visible
    visible=$(tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES" | grep -c . || true)
    if [ "$visible" -lt "$n" ]; then n=$visible; fi
  fi
  echo "$n"
}

# cores prints the number of ranks for a machine without GPUs: one per core, 2 to 8.
cores() {
  local n
  n=$(nproc 2>/dev/null || echo 2)
  echo $((n < 2 ? 2 : n > 8 ? 8 : n))
}

# under_slurm reports whether srun starts the ranks: inside an allocation, unless LAUNCHER=mpirun.
under_slurm() {
  case ${LAUNCHER:-auto} in
    srun) return 0 ;;
    mpirun) return 1 ;;
    auto) [ -n "${SLURM_JOB_ID:-}" ] && command -v srun >/dev/null ;;
    *) die 1 "LAUNCHER is \"$LAUNCHER\"" "Set srun, mpirun or auto." ;;
  esac
}

# choose_ranks sets np if neither -np nor Slurm's allocation does: one rank per GPU, or per core.
choose_ranks() {
  if [ -n "$np" ] || under_slurm; then return; fi
  np=$(gpus)
  if [ "$np" -lt 2 ]; then np=$(cores); fi
}

# start N [WRAPPER…] -- [rank flags] replaces the process by the launcher of N ranks. If N is empty, Slurm's allocation
# sets the number. Each rank runs as WRAPPER… rank…. SRUN_ARGS are more options for srun.
start() {
  local n=$1 wrapper=() srun_args=()
  shift
  while [ "$1" != -- ]; do
    wrapper+=("$1")
    shift
  done
  shift
  if under_slurm; then
    [ ${#hosts[@]} = 0 ] || die 1 "${hosts[*]} requires mpirun, but srun starts the ranks" "Set LAUNCHER=mpirun, or SRUN_ARGS=--nodelist=…"
    read -ra srun_args <<<"${SRUN_ARGS:-}"
    exec srun --kill-on-bad-exit=1 ${n:+-n "$n"} ${srun_args[@]+"${srun_args[@]}"} ${wrapper[@]+"${wrapper[@]}"} "$top/bin/rank" "$@"
  elif [ -x "$top/busbar-run" ]; then
    exec "$top/busbar-run" ${n:+-np "$n"} ${hosts[@]+"${hosts[@]}"} ${wrapper[@]+"${wrapper[@]}"} -- "$@"
  fi
  exec "$top/scripts/mpirun.sh" ${n:+-np "$n"} ${hosts[@]+"${hosts[@]}"} ${wrapper[@]+"${wrapper[@]}"} "$top/bin/rank" "$@"
}

# show_command COMMAND… prints the command and the first lines of its output.
show_command() {
  printf '$ %s\n' "$*"
  if command -v "$1" >/dev/null; then
    timeout 20 "$@" 2>&1 </dev/null | head -n "${MAX_LINES:-200}" || true
  else
    echo "($1 not found)"
  fi
  echo
}

# describe_machine prints what is required to interpret results of this host.
describe_machine() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  grep -E '^(NAME|VERSION)=' /etc/os-release 2>/dev/null || true
  echo
  show_command "$top/bin/rank" --version
  show_command nvidia-smi
  show_command nvidia-smi topo -m
  show_command lscpu
  show_command fi_info -p efa
  show_command ibv_devinfo
}
