# shellcheck shell=bash
# What the scripts share that start ranks: their command line, where rank and post are, how many ranks suit the machine, how
# ranks are started. It is sourced by a script that has set `here`, the folder of the scripts, and `me`, its own name.
# shellcheck disable=SC2034,SC2154 # top is read by the scripts, here and me are theirs
# shellcheck source=slurm/lib/words.sh
. "$here/lib/words.sh"
top=$(cd "$here/.." && pwd)
np=''    # number of ranks; empty where nobody said it
hosts=() # --host or --hostfile, as mpirun takes them
flags=() # of rank
plain=() # those that go with collectives too

# read_arguments "FLAG…" "SWITCH…" argument… sets np, hosts and flags. The FLAGs are the script's own, with a value each that
# goes into the variable of that name; a SWITCH has none, and its variable is set to 1.
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
        value "$@"
        np=$2
        shift
        ;;
      --host | --hostfile)
        value "$@"
        hosts=("$1" "$2")
        shift
        ;;
      --*)
        if [[ $own = *" $1 "* ]]; then
          value "$@"
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

# given FLAG… says whether one of them was asked of rank.
given() {
  local word flag
  for word in ${flags[@]+"${flags[@]}"}; do
    for flag in "$@"; do
      case $word in "$flag" | "$flag"=*) return 0 ;; esac
    done
  done
  return 1
}

# without_step sets plain: rank's flags, less those of a training step, which no run of collectives takes.
without_step() {
  local word name passed=''
  plain=()
  for word in ${flags[@]+"${flags[@]}"}; do
    if [ -n "$passed" ]; then
      passed=''
      continue
    fi
    name=${word%%=*}
    case ${name//_/-} in # rank takes either
      --no-trace) ;;
      --step | --bucket | --first-bucket | --strategy | --compute | --compute-kernel)
        case $word in *=*) ;; *) passed=1 ;; esac
        ;;
      *) plain+=("$word") ;;
    esac
  done
}

# need_programs ends the script where rank was not built.
need_programs() {
  if [ ! -x "$top/bin/rank" ] || [ ! -x "$top/bin/post" ]; then
    give_up 2 "there is no $top/bin/rank or bin/post" \
      "Build them (make build), or start $me.sh from an unpacked bundle; under sbatch, from the folder that has slurm/ in it."
  fi
}

# make_folder DIR… makes the folders of the results.
make_folder() { mkdir -p "$@" || give_up 2 "$1 cannot be made on $(hostname)" "Name another folder: --out DIR"; }

# gpus prints how many NVIDIA GPUs this process may use.
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

# cores prints a number of ranks for a machine without GPUs: one a core, 2 to 8.
cores() {
  local n
  n=$(nproc 2>/dev/null || echo 2)
  echo $((n < 2 ? 2 : n > 8 ? 8 : n))
}

# under_slurm says whether srun starts the ranks: inside an allocation, unless LAUNCHER=mpirun.
under_slurm() {
  case ${LAUNCHER:-auto} in
    srun) return 0 ;;
    mpirun) return 1 ;;
    auto) [ -n "${SLURM_JOB_ID:-}" ] && command -v srun >/dev/null ;;
    *) give_up 1 "LAUNCHER is \"$LAUNCHER\"" "It may be srun, mpirun or auto." ;;
  esac
}

# choose_ranks sets np where nobody said it and Slurm's allocation does not: a rank for each GPU, or for each core.
choose_ranks() {
  if [ -n "$np" ] || under_slurm; then return; fi
  np=$(gpus)
  if [ "$np" -lt 2 ]; then np=$(cores); fi
}

# start becomes the launcher of N ranks: start N [WRAPPER…] -- [rank flags]. N is empty where Slurm's allocation says it.
# The wrapper is started once for each rank, with rank's command behind it. SRUN_ARGS are further options of srun.
start() {
  local n=$1 wrapper=() srun_args=()
  shift
  while [ "$1" != -- ]; do
    wrapper+=("$1")
    shift
  done
  shift
  if under_slurm; then
    [ ${#hosts[@]} = 0 ] || give_up 1 "${hosts[*]} is for mpirun, and srun starts the ranks" "LAUNCHER=mpirun takes mpirun; SRUN_ARGS=--nodelist=… names hosts to srun."
    read -ra srun_args <<<"${SRUN_ARGS:-}"
    exec srun --kill-on-bad-exit=1 ${n:+-n "$n"} ${srun_args[@]+"${srun_args[@]}"} ${wrapper[@]+"${wrapper[@]}"} "$top/bin/rank" "$@"
  elif [ -x "$top/busbar-run" ]; then
    exec "$top/busbar-run" ${n:+-np "$n"} ${hosts[@]+"${hosts[@]}"} ${wrapper[@]+"${wrapper[@]}"} -- "$@"
  fi
  exec "$top/scripts/mpirun.sh" ${n:+-np "$n"} ${hosts[@]+"${hosts[@]}"} ${wrapper[@]+"${wrapper[@]}"} "$top/bin/rank" "$@"
}

# command_of prints a program's first lines of output under its command line, or that the machine has no such program.
command_of() {
  printf '$ %s\n' "$*"
  if command -v "$1" >/dev/null; then
    timeout 20 "$@" 2>&1 </dev/null | head -n "${LINES_OF_COMMAND:-200}" || true
  else
    echo "($1 is not on this machine)"
  fi
  echo
}

# machine describes this host: what a reader of the figures asks first.
machine() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  grep -E '^(NAME|VERSION)=' /etc/os-release 2>/dev/null || true
  echo
  command_of "$top/bin/rank" --version
  command_of nvidia-smi
  command_of nvidia-smi topo -m
  command_of lscpu
  command_of fi_info -p efa
  command_of ibv_devinfo
}
