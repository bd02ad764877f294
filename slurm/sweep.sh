#!/usr/bin/env bash
#SBATCH --job-name=busbar
#SBATCH --output=busbar-%j.out
#SBATCH --open-mode=append
#SBATCH --nodes=2
#SBATCH --time=01:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
# A sweep as a batch job: sbatch [options of sbatch] slurm/sweep.sh [flags of rank]
#   sbatch -N4 --exclusive --gpus-per-node=8 slurm/sweep.sh --backend nccl --sweep full
# from the project's folder or from an unpacked bundle. Near the time limit, and where a rank or a node dies, it puts
# itself back into the queue and goes on where it was. At the end it merges and draws. What it takes from the environment:
#   BUSBAR_OUT=results/jobN      folder of the results, seen by rank 0's node; one with results is continued
#   BUSBAR_RANKS_PER_NODE=N      otherwise what sbatch was asked for (-n, --ntasks-per-node), else one for each GPU
#   BUSBAR_MPI_PLUGIN=pmix       of srun --mpi=list; otherwise what fits the MPI: rank's --mpi, or those in lib/
#   BUSBAR_CPU_BIND=cores        srun's --cpu-bind       BUSBAR_SRUN="…"  more words for srun
#   BUSBAR_REQUEUES=3            how often it puts itself back into the queue; 0 never
#   BUSBAR_GRACE=90              seconds for the case in hand when the limit is near, before ranks are stopped
#   BUSBAR_HOME=…                the folder with bin/rank   BUSBAR_SITE=NAME  reads slurm/sites/NAME.env
#   BUSBAR_PLAN=DIR              folder of a campaign, set by campaign.sh: several launches, which the plan in it names
# shellcheck disable=SC2317 # traps call functions
set -uo pipefail

say() { printf 'busbar: %s\n' "$*"; }
complain() { printf 'busbar: %s\n' "$@" >&2; }
fail() {
  complain "$@"
  exit 1
}

# The signals of Slurm: USR1 when the limit is near, to this script alone, which tells the ranks; TERM when the job is
# over, to the ranks too. (srun itself does not pass TERM on: it kills its tasks.)
step='' near='' over='' heard=''
# The number of an array's last job is that of the array too, and what is said to it is said to all of the array.
self=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
self=${self:-${SLURM_JOB_ID:-}}
tell() { scancel --quiet --signal="$1" "$self"; }
limit_is_near() {
  near=1 heard=1
  say "the time limit is near, or the job is to end: the case in hand is finished (at most ${BUSBAR_GRACE:-90} s)"
  if [ -n "$step" ]; then tell USR1; fi
}
# Slurm ends the ranks by itself, who ends the script alone does not.
job_is_over() {
  over=1 heard=1
  if [ -n "$step" ]; then tell TERM; fi
}
trap limit_is_near USR1
trap job_is_over TERM

# sbatch runs a copy of this script from its spool, so the folder is that of the command that was submitted.
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
  fail "there is no bin/rank on $(hostname): tried ${tried[*]}." \
    "Submit from the project's folder after make build, or from an unpacked bundle, on a filesystem that the nodes see, or set BUSBAR_HOME."
}

# holds PATTERN says whether a line of what is piped into it is like that. It reads all: behind a grep that ends at the first
# such line, what writes the rest would fail, and with it the pipe.
holds() { [ "$(grep -cE -- "$1")" != 0 ]; }

# whole_number NAME LEAST refuses a variable that is set to anything else.
whole_number() {
  [[ ${!1:-$2} =~ ^(0|[1-9][0-9]*)$ && ${!1:-$2} -ge $2 ]] || fail "$1 is \"${!1}\": it is a whole number from $2 on."
}

# flag NAME prints the value of --NAME among rank's flags, the last one.
flag() {
  local name=$1 word wanted='' value=''
  shift
  for word in "$@"; do
    if [ -n "$wanted" ]; then value=$word wanted=''; fi
    case $word in
      "--$name") wanted=1 ;;
      "--$name="*) value=${word#*=} ;;
    esac
  done
  printf '%s' "$value"
}

# fitting FAMILY prints the plugins of srun that can serve the MPI of that shim, the best first.
fitting() {
  case $1 in
    openmpi) echo "pmix" ;;
    *) if ldd "$home/lib/busbar-mpi-$1.so" 2>/dev/null | holds /opt/cray/; then echo "cray_shasta pmi2 pmix"; else echo "pmi2 pmix"; fi ;;
  esac
}

# usable FAMILY: its shim is here, and so are the libraries that this one wants.
usable() { [ -e "$home/lib/busbar-mpi-$1.so" ] && ! ldd "$home/lib/busbar-mpi-$1.so" 2>&1 | holds 'not found'; }

# choose_mpi sets plugin, and mpi, the value of rank's --mpi, for a launch with these flags. It fails where none fits.
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
    for candidate in ${plugin:-$(fitting "$family")}; do
      case " $offered " in *" $candidate "*) ;; *) continue ;; esac
      if [ -n "$plugin" ] && [ -z "$mpi" ]; then case " $(fitting "$family") " in *" ${plugin%_v*} "*) ;; *) continue ;; esac fi
      plugin=$candidate mpi=${mpi:-$family}
      say "MPI: srun --mpi=$plugin with rank --mpi $mpi (this srun has $offered)"
      return
    done
  done
  complain "no MPI in $home/lib fits what srun of this Slurm has: ${offered:-nothing} (srun --mpi=list)${plugin:+; BUSBAR_MPI_PLUGIN=$plugin was asked for}." \
    "Open MPI wants pmix; MPICH and its relatives want pmi2, Cray's cray_shasta. With another plugin each task would believe that it is alone, and every figure would be wrong." \
    "Load the MPI that fits and build its shim (make mpi-shim MPICC=mpicc, in a bundle ./build-mpi-shim), or name a plugin with BUSBAR_MPI_PLUGIN and an MPI with --mpi." \
    "In lib/ there is: $(cd "$home/lib" 2>/dev/null && echo busbar-mpi-*.so)"
  return 1
}

# smallest and largest number of a list of Slurm's such as 4(x2),2
numbers() { grep -oE '(^|,)[0-9]+' <<<"$1" | tr -d , | sort -n; }
smallest() { numbers "$1" | sed -n 1p; }
largest() { numbers "$1" | tail -n 1; }

# choose_ranks sets where, srun's words for how many ranks there are, and where.
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
    fail "$each ranks a node want as many CPUs, and the job has $cpus on a node: submit with --exclusive, --ntasks-per-node=$each, or --cpus-per-gpu." \
      "BUSBAR_RANKS_PER_NODE takes another number of ranks."
  # All CPUs of the job are shared out: what rank and its library run beside the measuring thread wants some too.
  where+=(--cpus-per-task="${SLURM_CPUS_PER_TASK:-$((cpus / each))}" --cpu-bind="${BUSBAR_CPU_BIND:-cores}")
  # Every task is to see all GPUs of its node: rank takes the nearest, and CUDA's shared memory needs to see the others.
  if [ -n "${SLURM_GPUS_PER_TASK:-}" ] && [ "$gpus" -gt 0 ]; then
    unset SLURM_GPUS_PER_TASK SLURM_TRES_PER_TASK
    where+=(--gpus-per-node="$gpus")
  fi
}

# run_step runs the ranks and sets status.
run_step() {
  local more=() limit=''
  read -ra more <<<"${BUSBAR_SRUN:-}"
  # The job may be stopped before there are ranks to tell.
  status=143
  [ -z "$near$over" ] || return
  env ${settings[@]+"${settings[@]}"} srun --kill-on-bad-exit=1 --export=ALL --input=none --mpi="$plugin" "${where[@]}" ${more[@]+"${more[@]}"} \
    "$home/bin/rank" "$@" &
  step=$!
  while :; do
    heard=''
    wait "$step"
    status=$?
    # A signal ends wait too, and then srun goes on.
    [ -n "$heard" ] || break
    if [ -n "$near" ] && [ -z "$limit" ]; then
      (trap 'kill "$nap"; exit' TERM; sleep "${BUSBAR_GRACE:-90}" & nap=$!; wait; tell TERM) &
      limit=$!
    fi
  done
  step=''
  if [ -n "$limit" ]; then kill "$limit" 2>/dev/null; fi
}

# answers SECONDS says whether the results folder is there and can be written; 124 is a filesystem that does not answer in
# that time. Who asks one of that kind may wait for ever, so that is another process.
answers() {
  local asks end=$((SECONDS + $1))
  (mkdir -p "$out" && [ -w "$out" ]) &
  asks=$!
  while kill -0 "$asks" 2>/dev/null; do
    [ $SECONDS -lt $end ] || return 124
    sleep 0.05
  done
  wait "$asks"
}

# files prints the results files that there are.
files() { find "$out" -maxdepth 1 \( -name 'profile_*.jsonl' -o -name 'step_*.jsonl' \) ! -name '*_ranks.jsonl' | sort; }

# ended prints the last lines of the files that are new since before.
ended() { comm -13 <(echo "$before") <(files) | while read -r file; do tail -n 1 "$file"; done; }

# meant sets status to the code that rank 0 wrote, where srun gives one of its own for ranks that were killed.
meant() {
  local code
  [ "$status" != 0 ] || return
  code=$(ended | tail -n 1 | sed -n 's/.*"kind":"end".*"code":\([0-9]*\).*/\1/p')
  status=${code:-$status}
}

# whole: everything was measured, whatever became of it. With points that failed, or wrong data, rank's code is theirs
# also where it was told to stop.
whole() {
  case $status in 0 | 3 | 6) ! ended | holds '"outcome":"(interrupted|aborted)"' ;; *) return 1 ;; esac
}

# again puts the job back into the queue; it returns where that is not to be, or cannot be.
again() {
  local most=${BUSBAR_REQUEUES:-3} done=0
  [ ! -e "$diary" ] || done=$(grep -c " job $self: " "$diary")
  if [ "$done" -ge "$most" ]; then
    say "work is left, and the job was put back into the queue $done times (BUSBAR_REQUEUES=$most)"
    return
  fi
  say "work is left ($1): back into the queue, $((done + 1)) of $most"
  echo "$(date -u +%FT%TZ) job $self: $1" >>"$diary"
  if scontrol requeue "$self"; then exit "$verdict"; fi
  say "it cannot be put back; $same goes on from here"
}

# tables names those that post merge has written.
tables() { (cd "$out" && find . -maxdepth 1 \( -name merged.csv -o -name steps.csv \) -printf '%f\n') | sort | paste -sd ' ' | sed 's/ / and /'; }

conclude() {
  if [ -n "${BUSBAR_PLAN:-}" ]; then
    say "this job's share of the campaign is $(lacking)done; bin/post campaign show $BUSBAR_PLAN tells of the rest"
  elif "$home/bin/post" report "$out"; then
    say "results are in $out: report.html, $(tables), and plots/"
  else
    say "results are in $out; the report failed (see the error above)"
  fi
  exit "$verdict"
}

# lacking prints "not " where a launch of this job is still to be made.
lacking() { if [ -n "$left" ] || [ $refusals -gt 0 ]; then printf 'not '; fi; }

# refused ends what would end so again: the job, or in a campaign this launch, which then has a file that says so.
refused() {
  [ -n "${BUSBAR_PLAN:-}" ] || exit "$status"
  refusals=$((refusals + 1))
  echo "code $status in job $self on ${SLURM_JOB_NODELIST:-this node}, $(date -u +%FT%TZ)" >"$out/refused.txt"
}

# nothing_measured tells of ranks that ended before they measured anything.
nothing_measured() {
  local other
  say "rank ended before it measured anything more (exit code $status); its words are above"
  if [ -n "$(files)" ]; then
    say "What was measured before is kept: $same goes on."
    return
  fi
  if [ "${plugin%_v*}" = pmix ]; then other=pmi2; else other=pmix; fi
  say "If they are about MPI: srun --mpi=$plugin and --mpi $mpi may not belong together; BUSBAR_MPI_PLUGIN=$other is another way. docs/slurm.md has a table."
}

# launch FLAGS… starts rank with its results in out and settings as its environment, and sets left where work is left.
launch() {
  local words=()
  answers 60 || case $? in
    124) fail "the filesystem of the results folder does not answer on $(hostname): $out (BUSBAR_OUT)" ;;
    *) fail "the results folder cannot be written on $(hostname): $out (BUSBAR_OUT)" ;;
  esac
  before=$(files)
  if ! choose_mpi "$@"; then
    status=1 verdict=1
    refused
    return
  fi
  if [ -z "$(flag mpi "$@")" ]; then words+=(--mpi "$mpi"); fi
  if [ -z "$(flag out "$@")" ]; then words+=(--out "$out"); fi
  if [ -n "$before" ]; then words+=(--resume); fi
  say "job $self, start $((${SLURM_RESTART_COUNT:-0} + 1)), on ${SLURM_JOB_NODELIST:-this node}: ${settings[*]+"${settings[*]} "}srun ${where[*]} rank $* ${words[*]-}"
  run_step "$@" ${words[@]+"${words[@]}"}
  if ! answers 15; then
    say "the results folder is lost to $(hostname), or its filesystem does not answer: $out; nothing is merged (exit code $status)"
    say "When it is back, $same goes on."
    exit $((status ? status : 2))
  fi
  meant
  if [ -n "$over" ]; then
    say "the job was ended; what was measured is kept in $out, and the job goes on there if it is started again"
    exit "$status"
  fi
  if whole; then
    :
  elif [ -n "$near" ]; then
    left="the time limit is near"
  elif [ "$status" = 1 ] || [ "$status" = 2 ] || [ -z "$(files)" ]; then
    # Where nothing is there at all, a second start would end in the same way; srun gives 143 for ranks that it ended
    # because another had failed.
    nothing_measured
    refused
  else
    left="exit code $status"
  fi
  if [ "$verdict" = 0 ]; then verdict=$status; fi
}

home=$(find_home) || exit 1
if [ -n "${BUSBAR_SITE:-}" ]; then
  [ -e "$home/slurm/sites/$BUSBAR_SITE.env" ] || fail "there is no slurm/sites/$BUSBAR_SITE.env in $home"
  # shellcheck source=/dev/null
  . "$home/slurm/sites/$BUSBAR_SITE.env"
fi
[ -n "${SLURM_JOB_ID:-}" ] || fail "this is for sbatch, or for a shell of salloc: sbatch slurm/sweep.sh"
whole_number BUSBAR_RANKS_PER_NODE 1
whole_number BUSBAR_REQUEUES 0
whole_number BUSBAR_GRACE 0

# A line for each launch: the folder of its results, NAME=VALUE for its environment, --, flags of rank.
if [ -n "${BUSBAR_PLAN:-}" ]; then
  lines=$("$home/bin/post" campaign steps --nodes "$SLURM_JOB_NUM_NODES" --task "${SLURM_ARRAY_TASK_ID:-0}" "$BUSBAR_PLAN") ||
    fail "the plan in $BUSBAR_PLAN does not say what is left; it says above why"
  diary=$BUSBAR_PLAN/log/requeued.txt same="campaign.sh with the same plan"
else
  job=job${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
  out=$(flag out "$@")
  out=${out:-${BUSBAR_OUT:-${SLURM_SUBMIT_DIR:-$PWD}/results/$job}}
  lines=$(printf '%q ' "$out" -- "$@")
  diary=$out/requeued.txt same="the same sbatch line with BUSBAR_OUT=$out"
fi
choose_ranks

left='' verdict=0 refusals=0
while IFS= read -r line <&3; do
  if [ -z "$line" ]; then say "nothing is left to measure" && break; fi
  eval "words=($line)"
  out=${words[0]} settings=()
  for ((i = 1; i < ${#words[@]}; i++)); do
    if [ "${words[i]}" = -- ]; then break; fi
    settings+=("${words[i]}")
  done
  if [ -n "$near" ]; then
    left="the time limit is near"
    # Nothing was measured here, as where ranks are stopped.
    if [ "$verdict" = 0 ]; then verdict=143; fi
    break
  fi
  launch "${words[@]:i+1}"
done 3<<<"$lines"
if [ -n "$left" ]; then again "$left"; fi
conclude
