#!/usr/bin/env bash
#SBATCH --job-name=busbar
#SBATCH --output=busbar-%j.out
#SBATCH --open-mode=append
#SBATCH --nodes=2
#SBATCH --time=01:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
# Runs a sweep as a batch job: sbatch [options of sbatch] slurm/sweep.sh [flags of rank]
#   sbatch -N4 --exclusive --gpus-per-node=8 slurm/sweep.sh --backend nccl --sweep full
# Submit from the project's folder or from an unpacked bundle. Near the time limit, or if a rank or a node dies, the job
# requeues itself and continues. At the end it writes the report. Environment variables:
#   BUSBAR_OUT=results/jobN      results folder, on rank 0's node; if it contains results, the job continues them
#   BUSBAR_RANKS_PER_NODE=N      default: as requested from sbatch (-n, --ntasks-per-node), else one per GPU
#   BUSBAR_MPI_PLUGIN=pmix       from srun --mpi=list; default: the one that fits rank's --mpi, or an MPI in lib/
#   BUSBAR_CPU_BIND=cores        srun's --cpu-bind       BUSBAR_SRUN="…"  more options for srun
#   BUSBAR_REQUEUES=3            how often the job may requeue itself; 0: never
#   BUSBAR_GRACE=90              seconds for the current case near the limit, before ranks are stopped
#   BUSBAR_HOME=…                the folder with bin/rank   BUSBAR_SITE=NAME  reads slurm/sites/NAME.env
#   BUSBAR_PLAN=DIR              folder of a campaign, set by campaign.sh
# shellcheck disable=SC2317 # traps call functions
set -uo pipefail

info() { printf 'busbar: %s\n' "$*"; }
errors() { printf 'busbar: %s\n' "$@" >&2; }
fail() {
  errors "$@"
  exit 1
}

# Slurm sends USR1 near the time limit, only to this script, which signals the ranks. It sends TERM at the end of the job,
# to the ranks too. (srun does not forward TERM: it kills its tasks.)
step='' near='' over='' signaled=''
# The last job of an array has the ID of the array, and a signal to that ID reaches all its jobs.
self=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
self=${self:-${SLURM_JOB_ID:-}}
signal_job() { scancel --quiet --signal="$1" "$self"; }
limit_is_near() {
  near=1 signaled=1
  info "the time limit is near, or the job is being stopped: finishing the current case (at most ${BUSBAR_GRACE:-90} s)"
  if [ -n "$step" ]; then signal_job USR1; fi
}
# Slurm stops the ranks itself, but TERM may have been sent only to this script.
job_is_over() {
  over=1 signaled=1
  if [ -n "$step" ]; then signal_job TERM; fi
}
trap limit_is_near USR1
trap job_is_over TERM

# sbatch runs a copy of this script from its spool; the folder is that of the submitted command.
find_home() {
  local command='' dir tried=()
  [ -z "$self" ] || command=$(scontrol show job "$self" 2>/dev/null | sed -n 's/^ *Command=//p' | sed -n 1p)
  for dir in "${BUSBAR_HOME:-}" "${command%%/slurm/sweep.sh*}" "${SLURM_SUBMIT_DIR:-}" "${SLURM_SUBMIT_DIR:-}/.." \
    "$(dirname "${BASH_SOURCE[0]}")/.."; do
    case $dir in '' | /..) continue ;; esac
    tried+=("$dir/bin/rank")
    if [ -x "$dir/bin/rank" ]; then
      cd "$dir" >/dev/null && pwd
      return
    fi
  done
  fail "bin/rank not found on $(hostname): tried ${tried[*]}." \
    "On a filesystem that the nodes share, submit from the project's folder after make build or from an unpacked bundle, or set BUSBAR_HOME."
}

# matches PATTERN reports whether a line of stdin matches. It reads all of stdin: grep -q exits early, and then the writer
# of the pipe fails.
matches() { [ "$(grep -cE -- "$1")" != 0 ]; }

# whole_number NAME MINIMUM checks a variable.
whole_number() {
  [[ ${!1:-$2} =~ ^(0|[1-9][0-9]*)$ && ${!1:-$2} -ge $2 ]] || fail "$1 is \"${!1}\"; set a whole number, at least $2"
}

# flag NAME FLAGS… prints the last value of --NAME among rank's flags.
flag() {
  local name=$1 word next='' value=''
  shift
  for word in "$@"; do
    if [ -n "$next" ]; then value=$word next=''; fi
    case $word in
      "--$name") next=1 ;;
      "--$name="*) value=${word#*=} ;;
    esac
  done
  printf '%s' "$value"
}

# plugins_for FAMILY prints the plugins of srun that can start the MPI of that shim, the best first.
plugins_for() {
  case $1 in
    openmpi) echo "pmix" ;;
    *) if ldd "$home/lib/busbar-mpi-$1.so" 2>/dev/null | matches /opt/cray/; then echo "cray_shasta pmi2 pmix"; else echo "pmi2 pmix"; fi ;;
  esac
}

# usable FAMILY reports whether its shim exists and the loader finds all its libraries.
usable() { [ -e "$home/lib/busbar-mpi-$1.so" ] && ! ldd "$home/lib/busbar-mpi-$1.so" 2>&1 | matches 'not found'; }

# choose_mpi FLAGS… sets plugin, and mpi to the value of rank's --mpi. It fails if no plugin fits.
choose_mpi() {
  local families family candidate offered
  mpi=$(flag mpi "$@")
  plugin=${BUSBAR_MPI_PLUGIN:-}
  case $mpi in
    '' | auto) families="openmpi mpich other" ;;
    */* | *.so) families=$(basename "$mpi" .so) && families=${families#busbar-mpi-} ;;
    *) families=$mpi ;;
  esac
  offered=$(srun --mpi=list 2>&1 | tr -s '[:space:],' '\n' | grep -xE 'pmix(_v[0-9]+)?|pmi2|cray_shasta|none|openmpi|pmi1' | sort -u | paste -sd' ')
  for family in $families; do
    if [ -z "$mpi" ] && ! usable "$family"; then continue; fi
    for candidate in ${plugin:-$(plugins_for "$family")}; do
      case " $offered " in *" $candidate "*) ;; *) continue ;; esac
      if [ -n "$plugin" ] && [ -z "$mpi" ]; then case " $(plugins_for "$family") " in *" ${plugin%_v*} "*) ;; *) continue ;; esac fi
      plugin=$candidate mpi=${mpi:-$family}
      info "MPI: srun --mpi=$plugin with rank --mpi $mpi (srun supports $offered)"
      return
    done
  done
  errors "no MPI in $home/lib fits the plugins of srun --mpi=list: ${offered:-none}${plugin:+ (BUSBAR_MPI_PLUGIN=$plugin)}." \
    "Open MPI requires pmix; MPICH and similar require pmi2, Cray's requires cray_shasta. With another plugin each rank runs as if it were alone." \
    "Load an MPI that fits and build its shim (make mpi-shim MPICC=mpicc, in a bundle ./build-mpi-shim), or set BUSBAR_MPI_PLUGIN and --mpi." \
    "Shims in lib/: $(cd "$home/lib" 2>/dev/null && echo busbar-mpi-*.so)"
  return 1
}

# smallest and largest print a number of a Slurm list such as 4(x2),2.
numbers() { grep -oE '(^|,)[0-9]+' <<<"$1" | tr -d , | sort -n; }
smallest() { numbers "$1" | sed -n 1p; }
largest() { numbers "$1" | tail -n 1; }

# choose_ranks sets where to srun's options for the number and placement of ranks.
choose_ranks() {
  local nodes=${SLURM_JOB_NUM_NODES:-1} gpus=${SLURM_GPUS_ON_NODE:-0} cpus each
  cpus=$(smallest "${SLURM_JOB_CPUS_PER_NODE:-1}")
  where=(--nodes="$nodes")
  if [ -n "${BUSBAR_RANKS_PER_NODE:-}" ]; then
    each=$BUSBAR_RANKS_PER_NODE
  elif [ -n "${SLURM_NTASKS_PER_NODE:-}" ]; then
    each=$(largest "$SLURM_NTASKS_PER_NODE")
  elif [ -n "${SLURM_NTASKS:-}" ]; then
    each=$(largest "${SLURM_TASKS_PER_NODE:-$SLURM_NTASKS}")
    where+=(--ntasks="$SLURM_NTASKS")
  elif [ "$gpus" -gt 0 ]; then
    each=$gpus
  else
    each=$((nodes == 1 ? 2 : 1))
  fi
  [ ${#where[@]} -gt 1 ] || where+=(--ntasks=$((nodes * each)) --ntasks-per-node="$each")
  [ "$cpus" -ge "$each" ] ||
    fail "$each ranks per node require as many CPUs, but the job has $cpus per node: submit with --exclusive, --ntasks-per-node=$each, or --cpus-per-gpu." \
      "BUSBAR_RANKS_PER_NODE sets another number of ranks."
  # Ranks share all CPUs of the job: rank and its library run more threads beside the measuring one.
  where+=(--cpus-per-task="${SLURM_CPUS_PER_TASK:-$((cpus / each))}" --cpu-bind="${BUSBAR_CPU_BIND:-cores}")
  # Every task must see all GPUs of its node: rank selects the nearest, and CUDA IPC requires the others.
  if [ -n "${SLURM_GPUS_PER_TASK:-}" ] && [ "$gpus" -gt 0 ]; then
    unset SLURM_GPUS_PER_TASK SLURM_TRES_PER_TASK
    where+=(--gpus-per-node="$gpus")
  fi
}

# run_step FLAGS… runs the ranks and sets status.
run_step() {
  local more=() limit=''
  read -ra more <<<"${BUSBAR_SRUN:-}"
  # The job may be stopped before ranks run.
  status=143
  [ -z "$near$over" ] || return
  env ${settings[@]+"${settings[@]}"} srun --kill-on-bad-exit=1 --export=ALL --input=none --mpi="$plugin" "${where[@]}" ${more[@]+"${more[@]}"} \
    "$home/bin/rank" "$@" &
  step=$!
  while :; do
    signaled=''
    wait "$step"
    status=$?
    # A signal also ends wait; srun still runs then.
    [ -n "$signaled" ] || break
    if [ -n "$near" ] && [ -z "$limit" ]; then
      (trap 'kill "$nap"; exit' TERM; sleep "${BUSBAR_GRACE:-90}" & nap=$!; wait; signal_job TERM) &
      limit=$!
    fi
  done
  step=''
  if [ -n "$limit" ]; then kill "$limit" 2>/dev/null; fi
}

# writable SECONDS reports whether the results folder can be written; 124: the filesystem does not respond in that time.
# Another process checks, because it may block forever.
writable() {
  local check end=$((SECONDS + $1))
  (mkdir -p "$out" && [ -w "$out" ]) &
  check=$!
  while kill -0 "$check" 2>/dev/null; do
    [ $SECONDS -lt $end ] || return 124
    sleep 0.05
  done
  wait "$check"
}

# files prints the results files.
files() { find "$out" -maxdepth 1 \( -name 'profile_*.jsonl' -o -name 'step_*.jsonl' \) ! -name '*_ranks.jsonl' | sort; }

# new_ends prints the last line of each results file that is not in before.
new_ends() { comm -13 <(echo "$before") <(files) | while read -r file; do tail -n 1 "$file"; done; }

# use_recorded_code sets status to the code that rank 0 recorded: srun exits with another if it killed ranks.
use_recorded_code() {
  local code
  [ "$status" != 0 ] || return
  code=$(new_ends | tail -n 1 | sed -n 's/.*"kind":"end".*"code":\([0-9]*\).*/\1/p')
  status=${code:-$status}
}

# complete reports whether rank measured everything. With failed points or wrong data an interrupted run has their code.
complete() {
  case $status in 0 | 3 | 6) ! new_ends | matches '"outcome":"(interrupted|aborted)"' ;; *) return 1 ;; esac
}

# requeue REASON requeues the job and exits; it returns if the job may not or cannot be requeued.
requeue() {
  local limit=${BUSBAR_REQUEUES:-3} count=0
  [ ! -e "$requeues" ] || count=$(grep -c " job $self: " "$requeues")
  if [ "$count" -ge "$limit" ]; then
    info "incomplete; the job was requeued $count times (BUSBAR_REQUEUES=$limit)"
    return
  fi
  info "incomplete ($1): requeue $((count + 1)) of $limit"
  echo "$(date -u +%FT%TZ) job $self: $1" >>"$requeues"
  if scontrol requeue "$self"; then exit "$exit_code"; fi
  info "cannot requeue the job; to continue: $advice"
}

# tables prints the names of the report's tables.
tables() { (cd "$out" && find . -maxdepth 1 \( -name merged.csv -o -name steps.csv \) -printf '%f\n') | sort | paste -sd ' ' | sed 's/ / and /'; }

finish() {
  if [ -n "${BUSBAR_PLAN:-}" ]; then
    info "the launches of this job are $(incomplete)complete; bin/post campaign show $BUSBAR_PLAN lists the others"
  elif "$home/bin/post" report "$out"; then
    info "results: $out: report.html, $(tables), and plots/"
  else
    info "results: $out; the report failed (see the error above)"
  fi
  exit "$exit_code"
}

# incomplete prints "in" if a launch of this job is missing.
incomplete() { if [ -n "$left" ] || [ $refusals -gt 0 ]; then printf in; fi; }

# refuse stops what would fail again: the job, or in a campaign this launch, which it marks with a file.
refuse() {
  [ -n "${BUSBAR_PLAN:-}" ] || exit "$status"
  refusals=$((refusals + 1))
  echo "code $status in job $self on ${SLURM_JOB_NODELIST:-this node}, $(date -u +%FT%TZ)" >"$out/refused.txt"
}

report_no_points() {
  local other
  info "rank measured no point (exit code $status); its error is above"
  if [ -n "$(files)" ]; then
    info "Earlier results are kept. To continue: $advice"
    return
  fi
  if [ "${plugin%_v*}" = pmix ]; then other=pmi2; else other=pmix; fi
  info "If it is an error of MPI, srun --mpi=$plugin may not fit --mpi $mpi: try BUSBAR_MPI_PLUGIN=$other. docs/slurm.md has a table."
}

# launch FLAGS… runs rank with the environment in settings and results in out. It sets left if points are missing.
launch() {
  local more=()
  writable 60 || case $? in
    124) fail "the filesystem of the results folder does not respond on $(hostname): $out (BUSBAR_OUT)" ;;
    *) fail "cannot write the results folder on $(hostname): $out (BUSBAR_OUT)" ;;
  esac
  before=$(files)
  if ! choose_mpi "$@"; then
    status=1 exit_code=1
    refuse
    return
  fi
  if [ -z "$(flag mpi "$@")" ]; then more+=(--mpi "$mpi"); fi
  if [ -z "$(flag out "$@")" ]; then more+=(--out "$out"); fi
  if [ -n "$before" ]; then more+=(--resume); fi
  info "job $self, start $((${SLURM_RESTART_COUNT:-0} + 1)), on ${SLURM_JOB_NODELIST:-this node}: ${settings[*]+"${settings[*]} "}srun ${where[*]} rank $* ${more[*]-}"
  run_step "$@" ${more[@]+"${more[@]}"}
  if ! writable 15; then
    info "the results folder is lost on $(hostname), or its filesystem does not respond: $out; no report (exit code $status)"
    info "To continue when it is available: $advice"
    exit $((status ? status : 2))
  fi
  use_recorded_code
  if [ -n "$over" ]; then
    info "the job was stopped; its results are kept in $out, and a restart continues them"
    exit "$status"
  fi
  if complete; then
    :
  elif [ -n "$near" ]; then
    left="the time limit is near"
  elif [ "$status" = 1 ] || [ "$status" = 2 ] || [ -z "$(files)" ]; then
    # Without any file a restart would fail again. srun exits with 143 for ranks that it stopped because another failed.
    report_no_points
    refuse
  else
    left="exit code $status"
  fi
  if [ "$exit_code" = 0 ]; then exit_code=$status; fi
}

home=$(find_home) || exit 1
if [ -n "${BUSBAR_SITE:-}" ]; then
  [ -e "$home/slurm/sites/$BUSBAR_SITE.env" ] || fail "slurm/sites/$BUSBAR_SITE.env not found in $home"
  # shellcheck source=/dev/null
  . "$home/slurm/sites/$BUSBAR_SITE.env"
fi
[ -n "${SLURM_JOB_ID:-}" ] || fail "sweep.sh requires a Slurm job: sbatch slurm/sweep.sh"
whole_number BUSBAR_RANKS_PER_NODE 1
whole_number BUSBAR_REQUEUES 0
whole_number BUSBAR_GRACE 0

# One line per launch: results folder, NAME=VALUE of the environment, --, flags of rank.
if [ -n "${BUSBAR_PLAN:-}" ]; then
  lines=$("$home/bin/post" campaign steps --nodes "$SLURM_JOB_NUM_NODES" --task "${SLURM_ARRAY_TASK_ID:-0}" "$BUSBAR_PLAN") ||
    fail "cannot read the missing launches of $BUSBAR_PLAN; the error is above"
  requeues=$BUSBAR_PLAN/log/requeued.txt advice="campaign.sh with the same plan"
else
  job=job${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
  out=$(flag out "$@")
  out=${out:-${BUSBAR_OUT:-${SLURM_SUBMIT_DIR:-$PWD}/results/$job}}
  lines=$(printf '%q ' "$out" -- "$@")
  requeues=$out/requeued.txt advice="the same sbatch command with BUSBAR_OUT=$out"
fi
choose_ranks

args=() left='' exit_code=0 refusals=0
while IFS= read -r line <&3; do
  if [ -z "$line" ]; then info "nothing is left to measure" && break; fi
  eval "args=($line)"
  out=${args[0]} settings=()
  for ((i = 1; i < ${#args[@]}; i++)); do
    if [ "${args[i]}" = -- ]; then break; fi
    settings+=("${args[i]}")
  done
  if [ -n "$near" ]; then
    left="the time limit is near"
    # The same code as for stopped ranks.
    if [ "$exit_code" = 0 ]; then exit_code=143; fi
    break
  fi
  launch "${args[@]:i+1}"
done 3<<<"$lines"
if [ -n "$left" ]; then requeue "$left"; fi
finish
