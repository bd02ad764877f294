#!/usr/bin/env bash
# gpu.sh checks busbar on a machine with NVIDIA GPUs, from the unpacked bundle (or the repository, built):
#   test/gpu.sh [--out DIR] [--nccl PATH] [--nccl-tests PATH/all_reduce_perf] [--max SIZE] [--only STEP,…] [--rehearse]
# Every step keeps what it printed and measured in DIR (gpu-check-TIME); DIR/summary.txt says how each ended. A step that
# fails does not stop the others; the exit status is the number of those that failed.
#   --nccl PATH        the library to check, instead of the one that rank finds
#   --nccl-tests PATH  set rank beside nccl-tests: five launches of each, in turn
#   --max SIZE         the largest size (8G)
#   --only STEP,…      of: machine preflight sweep memory shared_gpu all_gpus graphs training stopped killed nccl_tests
#   --rehearse         without a GPU: stand-ins of CUDA and NCCL, small sizes; tries this script, measures nothing
# shellcheck disable=SC2317 # the steps are called by step
set -uo pipefail

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
steps=(machine preflight sweep memory shared_gpu all_gpus graphs training stopped killed nccl_tests)
readonly COLLECTIVES=(all_reduce all_gather reduce_scatter broadcast reduce alltoall gather scatter sendrecv)
out=gpu-check-$(date +%Y%m%dT%H%M%S) nccl_tests='' rehearsed=''
largest=8G small=64M
model=resnet50 caps=5M,25M,all # of three different buckets
backend=(--backend nccl)
failed=0

# --- tools of the steps ----------------------------------------------------------------------------------------------

# problem says why a step fails; the summary shows it.
problem() {
  printf 'problem: %s\n' "$*"
  return 1
}

# start becomes the launcher of N ranks that keep their results in the step's folder.
start() {
  local n=$1 run=("$top/busbar-run" -np "$1")
  shift
  [ -x "$top/busbar-run" ] || run=("$top/scripts/mpirun.sh" -np "$n" "$top/bin/rank")
  exec "${run[@]}" "${backend[@]}" --quiet --out "$dir/results" "$@"
}

# ranks runs N of them to their end.
ranks() {
  printf '$ rank %s    (%s ranks)\n' "${*:2}" "$1" >&2
  (start "$@") </dev/null
  local code=$?
  [ "$code" = 0 ] || problem "rank ended with $code" >&2
}

# records counts the records of the step that hold each of the WORD….
records() {
  local lines word
  lines=$(cat "$dir"/results/*.jsonl 2>/dev/null | grep -F '"kind":"case"')
  for word in "$@"; do lines=$(grep -F -e "$word" <<<"$lines"); done
  grep -c . <<<"$lines"
}

# all_right checks that each collective was measured and that nothing is wrong.
all_right() {
  local word n bad=''
  for word in "${COLLECTIVES[@]}"; do
    n=$(records "\"collective\":\"$word\"" '"status":"ok"' '"check":{"result":"ok"')
    printf '%s: %d points with every element right\n' "$word" "$n"
    [ "$n" -gt 0 ] || bad+=", no right point of $word"
  done
  for word in wrong failed timeout oom; do
    n=$(records "\"status\":\"$word\"")
    [ "$n" = 0 ] || bad+=", $n points are $word"
  done
  [ -z "$bad" ] || problem "${bad#, }"
}

# paths_told checks that NCCL told which way it takes, or that the header says why not.
paths_told() {
  local n
  n=$(records '"path":{')
  printf 'NCCL told its way for %s points\n' "$n"
  [ "$n" -gt 0 ] || grep -qF 'path: not known' "$dir"/results/*.jsonl || problem "NCCL told its way for no point"
}

# gpus counts those that ranks see: nvidia-smi lists all of the machine, whatever CUDA_VISIBLE_DEVICES says.
gpus() {
  local n visible
  if [ -n "$rehearsed" ]; then
    echo "${BUSBAR_REHEARSAL_GPUS:-2}"
    return
  fi
  n=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  visible=$(tr , '\n' <<<"${CUDA_VISIBLE_DEVICES-all}" | grep -c .)
  if [ -n "${CUDA_VISIBLE_DEVICES+set}" ] && [ "$visible" -lt "$n" ]; then n=$visible; fi
  echo "$n"
}

# pid_of prints the process of rank R that this step started.
pid_of() {
  local p
  grep -lzxF "BUSBAR_GPU_STEP=$step_id" /proc/[0-9]*/environ 2>/dev/null | while read -r p; do
    p=${p%/environ}
    if [[ $(readlink "$p/exe") = */rank ]] && grep -qzxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1" "$p/environ"; then echo "${p#/proc/}"; fi
  done 2>/dev/null
}

# fault sends SIGNAL to rank 1 of 2 in the middle of a sweep and waits for the end; the launch's exit code is in code.
fault() {
  local signal=$1 launcher guard victim='' i flags=()
  if [ "$(gpus)" -lt 2 ]; then flags=(--allow-shared-gpu); fi
  (start 2 ${flags[@]+"${flags[@]}"} --collective all_reduce --placement out,in -b 8 -e "$small" -f 2 -n 100 \
    --run-cycles 0 --deadline 10s) </dev/null &
  launcher=$!
  for ((i = 0; i < 1200; i++)); do
    kill -0 "$launcher" 2>/dev/null || break
    if [ "$(records '"status":"ok"')" -ge 3 ]; then
      victim=$(pid_of 1)
      break
    fi
    sleep 0.1
  done
  kept=$(records '"status":"ok"')
  # The sweep is repeated without end, so a launch without a victim has to be stopped.
  if [ -n "$victim" ]; then kill "-$signal" "$victim"; else kill "$launcher" 2>/dev/null; fi
  # What should end the run is rank's own watchdog; this one is for the day when it does not.
  (sleep 180 && kill -KILL "$launcher") >/dev/null 2>&1 &
  guard=$!
  wait "$launcher"
  code=$?
  kill "$guard" 2>/dev/null
  [ -n "$victim" ] || problem "no rank 1 was found in the middle of the sweep" || return
  printf 'SIG%s to rank 1 (process %s) after %d points; the launch ended with %d\n' "$signal" "$victim" "$kept" "$code"
  sleep 1
  i=$(pid_of 0)$(pid_of 1)
  [ -z "$i" ] || { kill -KILL "$victim" 2>/dev/null; problem "ranks outlive the launch"; } || return
  [ "$(records '"status":"ok"')" -ge "$kept" ] || problem "of $kept points only $(records '"status":"ok"') were kept"
}

# medians prints SIZE TIME_us from tables in nccl-tests' layout: the median over the files of the out-of-place time.
medians() {
  awk '$1 ~ /^[0-9]+$/ && $6 ~ /^[0-9.]+$/ { print $1, $6 }' "$@" | sort -k1,1n -k2,2g | awk '
    function flush() { if (n) print size, n % 2 ? t[(n + 1) / 2] : (t[n / 2] + t[n / 2 + 1]) / 2 }
    $1 != size { flush(); size = $1; n = 0 }
    { t[++n] = $2 }
    END { flush() }'
}

# --- the steps -------------------------------------------------------------------------------------------------------

machine() {
  local command
  for command in "uname -a" lscpu "cat /proc/meminfo" "df -h /dev/shm" nvidia-smi "nvidia-smi topo -m" "nvidia-smi -q"; do
    printf '\n$ %s\n' "$command"
    $command 2>&1
  done
  "$top/bin/rank" --version || problem "rank does not start" || return
  [ "$(gpus)" -gt 0 ] || problem "nvidia-smi lists no GPU"
}

preflight() {
  ranks "$(gpus)" --preflight || return
  ranks "$(gpus)" --preflight --json >"$dir/preflight.json" || return
  grep -q '"verdict"' "$dir/preflight.json" || problem "preflight.json holds no verdict"
}

# One rank moves data within its GPU; all of the program is gone through, with real sizes.
sweep() {
  ranks 1 --collective all --placement out,in -b 8 -e "$largest" -f 2 -c 1 --budget 300ms && all_right
}

# The peak memory, of the GPU and of the process, at the largest size; and that all of it is given back.
memory() {
  local sampler before after peak
  used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | sort -n | tail -n 1; }
  before=$(used)
  while sleep 0.1; do
    used >>"$dir/gpu_mib"
    for p in $(pid_of 0); do awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$p/status" >>"$dir/host_mib"; done
  done 2>/dev/null &
  sampler=$!
  ranks 1 --collective all_reduce,alltoall -b "$largest" -e "$largest" -n 20 -c 1 --run-cycles 5
  local code=$?
  kill "$sampler"
  wait "$sampler" 2>/dev/null
  [ "$code" = 0 ] || return
  peak=$(sort -n "$dir/host_mib" 2>/dev/null | tail -n 1)
  [ -n "$peak" ] || problem "the process was gone before it was looked at" || return
  printf 'peak memory of the process: %s MiB\n' "$peak"
  [ -z "$rehearsed" ] || return 0
  after=$(used)
  printf 'memory used on the GPU: %s MiB before, at most %s MiB, %s MiB after\n' "$before" "$(sort -n "$dir/gpu_mib" | tail -n 1)" "$after"
  [ "$after" -le $((before + 64)) ] || problem "$((after - before)) MiB of the GPU were not given back"
}

# Two ranks on one GPU: right data; no figure of it is worth keeping.
shared_gpu() {
  local visible=${CUDA_VISIBLE_DEVICES:-0}
  export CUDA_VISIBLE_DEVICES=${visible%%,*}
  ranks 2 --allow-shared-gpu --path --collective all --placement out,in -b 8 -e "$small" -f 4 -n 5 -c 1 && all_right && paths_told
}

all_gpus() {
  [ "$(gpus)" -ge 2 ] || { reason="there is one GPU"; return 77; }
  ranks "$(gpus)" --path --collective all -b 8 -e "$small" -f 4 -c 1 --budget 300ms && all_right && paths_told
}

graphs() {
  ranks "$(gpus)" -G 10 --collective all --mode throughput -b 8 -e "$small" -f 8 -c 1 --budget 300ms && all_right
}

# trained runs a training step and looks at what became of it: every point is right, or its library says that it lacks the type,
# and what computed is what was asked for.
trained() {
  local computing=$1 lines ok odd
  shift
  ranks "$(gpus)" --step "$model" --compute 30ms --strategy ddp,fsdp --bucket "$caps" -d bfloat16,float8e4m3 --budget 2s "$@" || return
  lines=$(cat "$dir"/results/*.jsonl | grep -F '"kind":"step"')
  ok=$(grep -F '"status":"ok"' <<<"$lines" | grep -cF '"check":{"result":"ok"')
  odd=$(grep -vF '"status":"ok"' <<<"$lines" | grep -vcF '"status":"unsupported"')
  printf '%s: %d points with every element right\n' "$computing" "$ok"
  [ "$ok" -ge 6 ] || problem "of the points with $computing only $ok are right; bfloat16 alone has 6" || return
  [ "$odd" = 0 ] || problem "$odd points with $computing are neither right nor unsupported" || return
  grep -qF "\"computing\":\"$computing" "$dir"/results/*.jsonl || problem "what computed is not $computing" || return
  mv "$dir/results" "$dir/results-${computing%% *}"
}

# A training step with both kinds of computing. cuBLAS is no part of busbar: where there is none that is said, and the step
# is done by busbar's own kernel.
training() {
  trained 'FMA kernels' --compute-kernel fma || return
  mkdir -p "$dir/results"
  trained 'cuBLAS' --compute-kernel gemm && return
  grep -qF 'cuBLAS could not be loaded' "$dir/log.txt" || return
  reason="computing by busbar's own kernel is right; there is no cuBLAS on this machine"
  return 77
}

stopped() {
  fault STOP || return
  [ "$code" = 4 ] || problem "the exit code is $code; a hang has 4" || return
  grep -qE 'rank 1\b' "$dir/log.txt" || problem "rank 1 is not named"
}

killed() {
  fault KILL || return
  [ "$code" != 0 ] || problem "the exit code is 0, though a rank was killed"
}

# Launches in turn, since two launches of one program differ by more than two programs do.
nccl_tests() {
  local i n like=(--like nccl-tests)
  [ -n "$nccl_tests" ] || { reason="no --nccl-tests PATH"; return 77; }
  [ -x "$nccl_tests" ] || problem "there is no program $nccl_tests" || return
  n=$(gpus)
  [[ $("$top/bin/rank" --help) = *"--like "* ]] || { like=(); echo "this rank has no --like: its own settings are compared"; }
  for i in 1 2 3 4 5; do
    "$nccl_tests" -b 8 -e "$largest" -f 2 -n 20 -w 5 -c 0 -g "$n" >"$dir/nccl-tests.$i" </dev/null || problem "$nccl_tests ended with $?" || return
    ranks "$n" ${like[@]+"${like[@]}"} --collective all_reduce --mode throughput -b 8 -e "$largest" -f 2 -n 20 -w 5 -c 0 || return
  done
  for i in "$dir"/results/*.jsonl; do
    "$top/bin/post" show --nccl-tests "$i" >"$dir/rank.$(basename "$i" .jsonl)" || problem "post show ended with $?" || return
  done
  join <(medians "$dir"/nccl-tests.? | sort) <(medians "$dir"/rank.* | sort) | sort -n |
    awk 'BEGIN { print "size_B nccl-tests_us rank_us ratio" } { printf "%d %s %s %.3f\n", $1, $2, $3, $3 / $2 }' | tee "$dir/ratio.txt"
  awk 'NR > 1 { n++; if ($4 < 0.98 || $4 > 1.02) bad++ } END { if (!n) exit 2; exit bad > 0 }' "$dir/ratio.txt" ||
    problem "ratio.txt has no sizes, or some whose ratio is not between 0.98 and 1.02"
}

# --- around them -----------------------------------------------------------------------------------------------------

step() {
  local name=$1 start=$SECONDS status word=ok
  dir=$out/$name step_id=$$.$name reason=''
  export BUSBAR_GPU_STEP=$step_id
  mkdir -p "$dir/results"
  printf '== %s\n' "$name"
  (
    "$name"
    status=$?
    if [ $status = 77 ]; then printf 'not run: %s\n' "$reason"; fi
    exit $status
  ) >"$dir/log.txt" 2>&1
  status=$?
  case $status in
    0) ;;
    77) word="not run" reason=$(sed -n 's/^not run: //p' "$dir/log.txt") ;;
    *)
      word=FAILED failed=$((failed + 1))
      reason="$(grep -a '^problem: ' "$dir/log.txt" | tail -n 1 | cut -d' ' -f2-) (see $name/log.txt)"
      ;;
  esac
  rmdir "$dir/results" 2>/dev/null
  printf '%-8s %-11s %4d s  %s\n' "$word" "$name" $((SECONDS - start)) "$reason" | sed 's/ *$//' | tee -a "$out/summary.txt"
}

usage() { sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

main() {
  local sure
  while [ $# -gt 0 ]; do
    case $1 in
      --out | --nccl | --nccl-tests | --max | --only) [ -n "${2:-}" ] || { echo "gpu.sh: $1 wants a value" >&2; exit 1; } ;;
    esac
    case $1 in
      --out) out=$2 ;;
      --nccl) backend+=(--nccl "$2") ;;
      --nccl-tests) nccl_tests=$2 ;;
      --max) largest=$2 ;;
      --only) IFS=, read -ra steps <<<"$2" ;;
      --rehearse)
        rehearsed=1 largest=1M small=64K
        model=uniform:8x64K caps=128K,256K,all
        backend+=(--rehearse)
        shift
        continue
        ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 1 ;;
    esac
    shift 2
  done
  for sure in "${steps[@]}"; do
    declare -F "$sure" >/dev/null || { echo "gpu.sh: there is no step \"$sure\"; --help lists them" >&2; exit 1; }
  done
  # Results of another check would be counted with this one's.
  [ ! -e "$out/summary.txt" ] || { echo "gpu.sh: $out holds a check already; give another --out" >&2; exit 1; }
  mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
  : >"$out/summary.txt"
  for sure in "${steps[@]}"; do step "$sure"; done
  printf '%s\n' "$failed of ${#steps[@]} steps failed; everything is in $out" | tee -a "$out/summary.txt"
  exit $failed
}

main "$@"
