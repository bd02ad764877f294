#!/usr/bin/env bash
# gpu.sh checks busbar on a machine with NVIDIA GPUs, in at most 15 minutes, from the unpacked bundle or the built repository:
#   test/gpu.sh [--out DIR] [--nccl PATH] [--nccl-tests PATH/all_reduce_perf] [--max SIZE] [--only STEP,...] [--rehearse] [--anonymize]
# It writes report.md and the results of all steps into DIR (gpu-check-TIME), and DIR.tar.gz for a bug report. A failed
# step does not stop the others. The exit status is the number of failed steps.
#   --nccl PATH        check this library instead of the one that rank finds
#   --nccl-tests PATH  compare rank with nccl-tests, five launches each, interleaved; PATH must be built with MPI=1
#   --max SIZE         largest message size (8G)
#   --only STEP,...    run these steps only:
#                      STEPS
#   --anonymize        replace hosts, addresses and users in the archive (not in DIR)
#   --rehearse         simulate CUDA and NCCL with small sizes, to test this script
# shellcheck disable=SC2317,SC2016 # the steps are called by step; backquotes in text are Markdown
set -uo pipefail

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# Each step with its seconds; later steps get unused time. The sum leaves half a minute of the 15 for the page.
LIMITS=(machine:20 preflight:60 library:50 sweep:120 memory:60 shared_gpu:60 all_gpus:70 graphs:60
  training:90 stopped:40 killed:30 fixed_buffers:60 nccl_tests:110)
readonly COLLECTIVES=(all_reduce all_gather reduce_scatter broadcast reduce alltoall gather scatter sendrecv)
steps=()
for name in "${LIMITS[@]}"; do steps+=("${name%:*}"); done
started=$SECONDS
out=gpu-check-$(date +%Y%m%dT%H%M%S) nccl_tests='' simulated='' anonymize=''
largest=8G small=64M compared=256M
model=resnet50 caps=5M,25M,all # of three different buckets
backend=(--backend nccl)
failed=0

# --- tools of the steps ----------------------------------------------------------------------------------------------

# problem prints why a step fails, for the page.
problem() {
  printf 'problem: %s\n' "$*"
  return 1
}

# value NAME TEXT... saves a value that requires a GPU, for the page.
value() {
  printf '%s\t%s\n' "$1" "${*:2}" >>"$out/values.tsv"
}

# seconds_left prints the remaining seconds of the step.
seconds_left() { echo $((deadline - SECONDS)); }

# time_limit prints rank's flag for a run that leaves the step 15 seconds.
time_limit() {
  local seconds=$(($(seconds_left) - 15))
  echo "--time-limit=$((seconds > 10 ? seconds : 10))s"
}

# launch N PROGRAM... replaces the process by the launcher of N processes.
launch() {
  local n=$1 program=$2
  shift 2
  if [ -x "$top/busbar-run" ]; then BUSBAR_RUN_PROGRAM=$program exec "$top/busbar-run" -np "$n" "$@"; fi
  exec "$top/scripts/mpirun.sh" -np "$n" "$program" "$@"
}

# start N FLAGS... replaces the process by the launcher of N ranks with results in the step's folder.
start() { launch "$1" "$top/bin/rank" "${backend[@]}" --quiet --out "$dir/results" "${@:2}"; }

# ranks N FLAGS... runs ranks and waits.
ranks() {
  printf '$ rank %s    (ranks: %s)\n' "${*:2}" "$1" >&2
  (start "$@") </dev/null
  local code=$?
  [ "$code" = 0 ] || problem "rank exited with $code" >&2
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

# paths_recorded checks that records have NCCL's algorithm, or that the header has the reason why not.
paths_recorded() {
  local n
  n=$(records '"path":{')
  printf 'NCCL reports its algorithm for %s points\n' "$n"
  [ "$n" -gt 0 ] || grep -qF 'path: unknown' "$dir"/results/*.jsonl || problem "NCCL reports its algorithm for no point"
}

# smi runs nvidia-smi, which may hang with the driver.
smi() { timeout 20 nvidia-smi "$@" 2>/dev/null; }

# gpus counts the GPUs that ranks see: nvidia-smi ignores CUDA_VISIBLE_DEVICES and lists all.
gpus() {
  local n visible
  if [ -n "$simulated" ]; then
    echo "${BUSBAR_REHEARSAL_GPUS:-2}"
    return
  fi
  n=$(grep -c . "$out/gpus.csv")
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
  local signal=$1 launcher victim='' i flags=()
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
  wait "$launcher"
  code=$?
  [ -n "$victim" ] || problem "no rank 1 was found in the middle of the sweep" || return
  printf 'SIG%s to rank 1 (process %s) after %d points; the launch ended with %d\n' "$signal" "$victim" "$kept" "$code"
  sleep 1
  i=$(pid_of 0)$(pid_of 1)
  [ -z "$i" ] || { kill -KILL "$victim" 2>/dev/null; problem "ranks outlive the launch"; } || return
  [ "$(records '"status":"ok"')" -ge "$kept" ] || problem "of $kept points only $(records '"status":"ok"') were kept"
}

# field prints a text field of the backend in the step's first results file: field path.
field() {
  local file
  for file in "$dir"/results/*.jsonl; do
    sed -n '1s/.*"backend":{[^{}]*"'"$1"'":"\([^"]*\)".*/\1/p' "$file"
    return
  done
}

# setup_seconds prints the time of a part of the set-up on the slowest rank.
setup_seconds() {
  local file
  for file in "$dir"/results/*.jsonl; do
    sed -n '1s/.*{"what":"'"$1"'","s":\([0-9.e+-]*\)}.*/\1/p' "$file" | awk '{ printf "%.3g", $1 }'
    return
  done
}

# microseconds converts a field in seconds from the first line of the step's results; 0 if it is missing.
microseconds() {
  local file
  for file in "$dir"/results/*.jsonl; do
    sed -n '1s/.*"'"$1"'":\([0-9.e+-]*\).*/\1/p' "$file" | awk '{ s = $1 } END { printf "%.3g", s * 1e6 }'
    return
  done
}

# nccl_devices prints RANK BUS-ADDRESS from NCCL's log, an address of at most 16 digits: the device that NCCL uses.
nccl_devices() {
  sed -n 's/.* rank \([0-9]*\) nranks .* cudaDev .* busId \([0-9a-f]*\) .*Init COMPLETE.*/\1 \2/p' "$@" | sort -un
}

# rank_devices prints the same from rank's results: 0000:1b:00.0 is 1b000.
rank_devices() {
  sed -n 's/^{"kind":"rank","rank":\([0-9]*\),.*"pci":"\([0-9a-fA-F:.]*\)".*/\1 \2/p' "$@" | tr -d ':.' | tr A-F a-f |
    sed 's/ 0*/ /' | sort -un
}

# nccl_memory prints the MiB of GPU memory in one log of NCCL until its communicator was ready, and after.
nccl_memory() {
  awk '
    / Cuda Alloc Size / { sub(/.* Cuda Alloc Size /, ""); n[done + 0] += $1 }
    / Allocated shareable buffer .* size / { sub(/.* size /, ""); n[done + 0] += $1 }
    /Init COMPLETE/ { done = 1 }
    END { printf "%d %d\n", n[0] / 1048576, n[1] / 1048576 }' "$1"
}

# memory_used prints the MiB in use on the GPU with the most.
memory_used() { smi --query-gpu=memory.used --format=csv,noheader,nounits | sort -n | tail -n 1; }

# as_nccl_tests prints a results file of rank in the format of nccl-tests, without lines that post compare would reject.
as_nccl_tests() {
  "$top/bin/post" show --nccl-tests "$1" | grep -vE '^# (busbar|time|Warning|Bus bandwidth|SIMULATED)'
}

# compare_logs compares the logs of two folders; compare.txt has the ratios with their 95 % CIs. It fails if a point is
# significantly slower or faster and its CI is not within 2 %.
compare_logs() {
  local side points differ same
  for side in "$1" "$2"; do
    "$top/bin/post" import --set collective=all_reduce -o "$dir/compare/${side##*/}" "$side"/* >/dev/null || problem "post import failed for $side" || return
  done
  "$top/bin/post" compare --margin 2% "$dir/compare/${1##*/}" "$dir/compare/${2##*/}" >"$dir/compare.txt" ||
    problem "post compare exited with $?" || return
  "$top/bin/post" compare --margin 2% --format json "$dir/compare/${1##*/}" "$dir/compare/${2##*/}" >"$dir/compare.json" ||
    problem "post compare exited with $?" || return
  cat "$dir/compare.txt"
  points=$(grep -c '"verdict":' "$dir/compare.json")
  differ=$(grep -cE '"verdict": *"(worse|better)"' "$dir/compare.json")
  same=$(grep -c '"verdict": *"same"' "$dir/compare.json")
  ratios=$(awk -F'[:,]' '/"ratio":/ && $2 != " null" { r = $2 + 0; if (!n++ || r < low) low = r; if (r > high) high = r }
    END { if (n) printf "%.3f to %.3f", low, high }' "$dir/compare.json")
  [ "$points" -gt 0 ] && [ -n "$ratios" ] || problem "${1##*/} and ${2##*/} have no point in common" || return
  verdict="$differ of $points points differ significantly, $same are equal within 2 %, $((points - differ - same)) inconclusive; ratios of times ${2##*/} / ${1##*/} are $ratios"
  echo "$verdict"
  [ "$differ" = 0 ] || problem "$verdict (compare.txt)"
}

# --- the steps -------------------------------------------------------------------------------------------------------

machine() {
  local command
  for command in "uname -a" lscpu "cat /proc/meminfo" "df -h /dev/shm" nvidia-smi "nvidia-smi -q"; do
    printf '\n$ %s\n' "$command"
    $command 2>&1
  done
  if smi topo -m | sed 's/\x1b\[[0-9;]*m//g' >"$dir/topology.txt"; then cat "$dir/topology.txt"; else rm "$dir/topology.txt"; fi
  "$top/bin/rank" --version || problem "rank does not start" || return
  [ "$(gpus)" -gt 0 ] || problem "nvidia-smi lists no GPU"
}

preflight() {
  ranks "$(gpus)" --preflight || return
  ranks "$(gpus)" --preflight --json >"$dir/preflight.json" || return
  grep -q '"verdict"' "$dir/preflight.json" || problem "preflight.json has no verdict"
}

# library runs every collective on all GPUs with NCCL's log, which shows NCCL's devices and memory.
library() {
  local n free file during after most=0 first=0
  n=$(gpus)
  free=$(smi --query-gpu=memory.free --format=csv,noheader,nounits | sort -n | sed -n 1p)
  NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ALLOC NCCL_DEBUG_FILE=$dir/nccl-log.%h.%p \
    ranks "$n" --collective all -b 8 -e "$small" -f 8 -n 5 -c 1 "$(time_limit)" || return
  value driver "$(setup_seconds driver) s (watchdog: 60 s), persistence mode: $(gpu_property 4)"
  value init "$(setup_seconds communicator) s, ranks: $n (watchdog: 60 s)"
  field library >"$out/nccl.txt"
  field path >>"$out/nccl.txt"
  all_right || return
  nccl_devices "$dir"/nccl-log.* >"$dir/devices.nccl" 2>/dev/null
  rank_devices "$dir"/results/*.jsonl >"$dir/devices.rank"
  if [ ! -s "$dir/devices.nccl" ]; then
    value device "unknown: no device in NCCL's log"
    value memory "unknown: no memory in NCCL's log"
    return 0
  fi
  for file in "$dir"/nccl-log.*; do
    read -r during after < <(nccl_memory "$file")
    if [ "$during" -gt "$first" ]; then first=$during; fi
    if [ "$after" -gt "$most" ]; then most=$after; fi
  done
  value memory "NCCL's log adds up to at most $first MiB per rank for the communicator and $most MiB after it; rank keeps $((${free:-0} / 10 + 32)) MiB free (a tenth of ${free:-unknown} MiB, and 32 MiB)"
  if ! diff "$dir/devices.rank" "$dir/devices.nccl"; then
    value device "DIFFERENT: see library/devices.rank and library/devices.nccl"
    problem "NCCL uses other GPUs than rank chose: library/devices.rank, library/devices.nccl" || return
  fi
  if [ "$n" = 1 ]; then
    value device "unknown: only one GPU"
  else
    value device "yes, on each of $n ranks, by NCCL's log"
  fi
}

# compared_placement prints the placement to compare with nccl-tests: in place, NCCL does nothing for one rank.
compared_placement() { if [ "$(gpus)" = 1 ]; then echo out; else echo both; fi; }

# One rank copies data within its GPU, with large sizes.
sweep() {
  ranks 1 --collective all --placement out,in -b 8 -e "$largest" -f 4 -c 1 --budget 300ms "$(time_limit)" && all_right
}

# Peak memory of GPU and process at the largest size, and that the GPU memory is freed.
memory() {
  local sampler before after peak
  before=$(memory_used)
  while sleep 0.1; do
    memory_used >>"$dir/gpu_mib"
    for p in $(pid_of 0); do awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$p/status" >>"$dir/host_mib"; done
  done 2>/dev/null &
  sampler=$!
  ranks 1 --collective all_reduce,alltoall -b "$largest" -e "$largest" -n 20 -c 1 --run-cycles 3
  local code=$?
  kill "$sampler"
  wait "$sampler" 2>/dev/null
  [ "$code" = 0 ] || return
  peak=$(sort -n "$dir/host_mib" 2>/dev/null | tail -n 1)
  [ -n "$peak" ] || problem "the process exited before its memory was read" || return
  printf 'peak memory of the process: %s MiB\n' "$peak"
  [ -z "$simulated" ] || return 0
  after=$(memory_used)
  printf 'memory used on the GPU: %s MiB before, at most %s MiB, %s MiB after\n' "$before" "$(sort -n "$dir/gpu_mib" | tail -n 1)" "$after"
  [ "$after" -le $((before + 64)) ] || problem "$((after - before)) MiB of GPU memory were not freed"
}

# Two ranks on one GPU: the data must be correct; the times are meaningless.
shared_gpu() {
  local visible=${CUDA_VISIBLE_DEVICES:-0} begun=$SECONDS
  export CUDA_VISIBLE_DEVICES=${visible%%,*}
  ranks 2 --allow-shared-gpu --path --collective all --placement out,in -b 8 -e "$small" -f 4 -n 5 -c 1 && all_right && paths_recorded
  local code=$?
  if [ $code != 0 ]; then
    value shared_gpu "FAILED after $((SECONDS - begun)) s"
    return $code
  fi
  value shared_gpu "all data right, $((SECONDS - begun)) s for $(records '"status":"ok"') points (deadline 60 s per phase)"
}

all_gpus() {
  [ "$(gpus)" -ge 2 ] || { reason="requires two GPUs"; return 77; }
  ranks "$(gpus)" --path --collective all -b 8 -e "$small" -f 4 -c 1 --budget 300ms "$(time_limit)" && all_right && paths_recorded
}

graphs() {
  ranks "$(gpus)" -G 10 --collective all --mode throughput -b 8 -e "$small" -f 8 -c 1 --budget 300ms "$(time_limit)" && all_right
}

# trained runs a training step and checks it: every point is correct, or the library reports that it lacks the type, and the
# requested kernel computed.
trained() {
  local computing=$1 lines ok odd
  shift
  ranks "$(gpus)" --step "$model" --compute 30ms --strategy ddp,fsdp --bucket "$caps" -d bfloat16,float8e4m3 --budget 1s "$@" || return
  lines=$(grep -hF '"kind":"step"' "$dir"/results/*.jsonl)
  ok=$(grep -F '"status":"ok"' <<<"$lines" | grep -cF '"check":{"result":"ok"')
  odd=$(grep -vF '"status":"ok"' <<<"$lines" | grep -vcF '"status":"unsupported"')
  printf '%s: %d points with every element right\n' "$computing" "$ok"
  [ "$ok" -ge 6 ] || problem "of the points with $computing only $ok are right; bfloat16 alone has 6" || return
  [ "$odd" = 0 ] || problem "$odd points with $computing are neither right nor unsupported" || return
  grep -qF "\"computing\":\"$computing" "$dir"/results/*.jsonl || problem "the step was not computed by $computing" || return
  value calibration "$computing: $(microseconds compute_start_s) us per start, $(microseconds compute_unit_s) us per unit (several us a start suggest the host's launch rate)"
  mv "$dir/results" "$dir/results-${computing%% *}"
}

# A training step with both kinds of computation. cuBLAS is not part of busbar: without it the step reports that, and uses
# busbar's own kernel.
training() {
  trained 'FMA kernels' --compute-kernel fma || return
  mkdir -p "$dir/results"
  trained 'cuBLAS' --compute-kernel gemm && return
  grep -qF 'cuBLAS could not be loaded' "$dir/log.txt" || return
  reason="busbar's own kernel is right; cuBLAS not found"
  return 77
}

stopped() {
  fault STOP || return
  [ "$code" = 4 ] || problem "the exit code is $code; expected 4 (hang)" || return
  grep -qE 'rank 1\b' "$dir/log.txt" || problem "the message does not name rank 1"
}

killed() {
  fault KILL || return
  [ "$code" != 0 ] || problem "the exit code is 0 although a rank was killed"
}

# fixed_buffers compares moving through buffers, as nccl-tests does, with fixed buffers, interleaved.
fixed_buffers() {
  local i placement verdict=''
  placement=$(compared_placement)
  mkdir -p "$dir/moving" "$dir/fixed"
  for i in 1 2 3 4; do
    save_launch moving $i --like nccl-tests --placement "$placement" || return
    save_launch fixed $i -a 1 --mode throughput --placement "$placement" --alloc nccl || return
  done
  compare_logs "$dir/moving" "$dir/fixed"
  [ -n "$verdict" ] && value buffers "$verdict"
}

# save_launch FOLDER NUMBER FLAGS... runs one launch of fixed_buffers and saves its table.
save_launch() {
  local file
  ranks "$(gpus)" "${@:3}" --collective all_reduce -b 64K -e "$small" -f 4 -n 20 -w 5 -c 0 || return
  for file in "$dir"/results/*.jsonl; do
    as_nccl_tests "$file" >"$dir/$1/$2" || problem "post show failed" || return
  done
  rm -rf "$dir/results"
}

# nccl_tests compares rank with nccl-tests, with the same launcher and library and one process per GPU. The launches are
# interleaved: launches of one program may differ more than two programs.
nccl_tests() {
  local n i library path loaded code verdict=''
  [ -n "$nccl_tests" ] || { reason="--nccl-tests PATH was not given"; return 77; }
  [ -x "$nccl_tests" ] || problem "program $nccl_tests not found" || return
  n=$(gpus)
  ranks "$n" --collective all_reduce -b 8 -e 8 -n 1 -c 0 || return
  library=$(field path)
  version=$(field version)
  rm -rf "$dir/results"
  mkdir -p "$dir/library" "$dir/nccl-tests" "$dir/rank"
  ln -sf "$library" "$dir/library/libnccl.so.2"
  path=$dir/library:$(dirname "$library")$(bundled_mpi)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  loaded=$(LD_LIBRARY_PATH=$path ldd "$nccl_tests" | sed -n 's/.*libnccl[.]so[^ ]* => \(.*\) (0x.*/\1/p')
  [ "$loaded" -ef "$library" ] ||
    problem "nccl-tests loads ${loaded:-no libnccl.so}, rank loads $library: link nccl-tests with NCCL dynamically and without an rpath to another NCCL" || return
  for i in 1 2 3 4 5; do
    (
      export LD_LIBRARY_PATH=$path
      launch "$n" "$nccl_tests" -b 8 -e "$compared" -f 2 -n 20 -w 5 -c 0 -g 1
    ) >"$dir/nccl-tests/$i" </dev/null
    code=$?
    [ "$code" = 0 ] || problem "$nccl_tests exited with $code; build it with MPI=1 and the MPI of this launcher (in the bundle, ./build-mpi-shim selects another MPI)" || return
    check_log "$dir/nccl-tests/$i" "$n" "$version" || return
    ranks "$n" --like nccl-tests --placement "$(compared_placement)" --collective all_reduce -b 8 -e "$compared" -f 2 -n 20 -w 5 -c 0 || return
    {
      grep -m 1 '^# nccl-tests version' "$dir/nccl-tests/$i"
      as_nccl_tests "$(echo "$dir"/results/*.jsonl)"
    } >"$dir/rank/$i" || problem "post show failed" || return
    rm -rf "$dir/results"
  done
  compare_logs "$dir/nccl-tests" "$dir/rank"
  code=$?
  if [ -n "$simulated" ] && [ -n "$verdict" ]; then return 0; fi
  return $code
}

# bundled_mpi prints the library path of the bundle's Open MPI, if that is the launcher.
bundled_mpi() {
  local library
  [ ! -s "$top/lib/launcher" ] || return 0
  for library in "$top"/openmpi/lib/*/openmpi/lib/libmpi.so.40; do
    if [ -e "$library" ]; then printf ':%s' "$(dirname "$library")"; fi
  done
}

# check_log LOG N VERSION checks the world size and the version of NCCL in a log of nccl-tests.
check_log() {
  local ranks code
  ranks=$(awk '$1 == "#" && $2 == "Rank" && $3 + 1 > n { n = $3 + 1 } END { print n + 0 }' "$1")
  [ "$ranks" = "$2" ] || problem "nccl-tests ran as a world of $ranks, rank as one of $2: build nccl-tests with MPI=1 and the MPI of this launcher" || return
  code=$(sed -n 's/^# nccl-tests version .* nccl-library=\([0-9]*\).*/\1/p' "$1" | sed -n 1p)
  [ -n "$code" ] || problem "nccl-tests does not print the version of its NCCL: use nccl-tests 2.17 or later" || return
  code=$((code / 10000)).$((code / 100 % 100)).$((code % 100))
  [ "$code" = "$3" ] || problem "nccl-tests uses NCCL $code, rank uses NCCL $3"
}

# --- running steps ---------------------------------------------------------------------------------------------------

# step_processes prints the processes that this step started.
step_processes() {
  grep -lzxF "BUSBAR_GPU_STEP=$step_id" /proc/[0-9]*/environ 2>/dev/null | grep -oE '[0-9]+'
}

# end_step kills the shell of a step, so that it starts nothing more, then its processes.
end_step() {
  local i pids
  kill -KILL "$1" 2>/dev/null
  for i in TERM TERM TERM TERM KILL; do
    pids=$(step_processes)
    [ -n "$pids" ] || return 0
    # shellcheck disable=SC2086 # a list
    kill -"$i" $pids 2>/dev/null
    sleep 1
  done
}

# limit prints the second by which a step must end: the time of all steps up to it.
limit() {
  local entry sum=$started
  for entry in "${LIMITS[@]}"; do
    sum=$((sum + ${entry#*:}))
    if [ "${entry%:*}" = "$1" ]; then break; fi
  done
  echo "$sum"
}

# outcome adds a step's line to the summary.
outcome() { printf '%-8s %-13s %4d s  %s\n' "$1" "$2" $((SECONDS - $3)) "$4" | sed 's/ *$//' | tee -a "$out/summary.txt"; }

step() {
  local name=$1 start=$SECONDS status word=passed shell
  dir=$out/$name step_id=$$.$name reason='' deadline=$(limit "$name")
  export BUSBAR_GPU_STEP=$step_id
  mkdir -p "$dir/results"
  printf '== %s\n' "$name"
  (
    if [ "$name" != machine ] && [ "$(gpus)" = 0 ]; then
      reason="no GPU" status=77
    else
      "$name"
      status=$?
    fi
    if [ $status = 77 ]; then printf 'not run: %s\n' "$reason"; fi
    exit $status
  ) >"$dir/log.txt" 2>&1 &
  shell=$!
  while kill -0 "$shell" 2>/dev/null && [ $SECONDS -lt "$deadline" ]; do sleep 0.2; done
  if kill -0 "$shell" 2>/dev/null; then
    end_step "$shell"
    echo "problem: stopped after $((SECONDS - start)) s, the time limit of the step" >>"$dir/log.txt"
  fi
  wait "$shell" 2>/dev/null
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
  outcome "$word" "$name" "$start" "$reason"
  page >"$out/report.md"
}

# --- the page --------------------------------------------------------------------------------------------------------

# block FILE LINES prints the end of a file as a code block.
block() {
  echo '```'
  tail -n "$2" "$1" | sed 's/```/---/'
  echo '```'
}

# question prints a row of the table of values: question NAME TEXT.
question() {
  local answer
  answer=$(awk -F'\t' -v name="$1" '$1 == name { printf "%s%s", between, $2; between = "<br>" }' "$out/values.tsv" 2>/dev/null)
  printf '| %s | %s |\n' "$2" "${answer:-unknown: not measured in this check}"
}

page() {
  local word name seconds text failures
  failures=$(grep -c '^FAILED' "$out/summary.txt")
  echo "# busbar GPU check: $failures of $(grep -c . "$out/summary.txt") steps failed"
  echo
  if [ -n "$simulated" ]; then printf '**Simulation: no GPU was used. No value on this page describes hardware.**\n\n'; fi
  printf 'Host %s, %s, %d s. Command: `%s`.\n\n' "$(uname -n)" "$(date -u '+%Y-%m-%d %H:%M UTC')" $((SECONDS - started)) "$command"
  printf 'Attach the archive `%s` to a bug report. It holds this page, the log and the results of every step, ' "$(basename "$out").tar.gz"
  printf 'host and user names, serial numbers and UUIDs of the GPUs, and `NCCL_` variables: look through it before you publish it.\n\n'
  printf '## Steps\n\n| step | result | time | reason |\n|---|---|---|---|\n'
  sed -E 's/^(not run|[^ ]+) +([a-z_]+) +([0-9]+) s *(.*)$/\2\t\1\t\3\t\4/' "$out/summary.txt" | while IFS=$'\t' read -r name word seconds text; do
    printf '| %s | %s | %s s | %s |\n' "$name" "$word" "$seconds" "${text//|/\\|}"
  done
  if [ "$failures" -gt 0 ]; then
    printf '\n## What failed\n'
    sed -nE 's/^FAILED +([a-z_]+) .*/\1/p' "$out/summary.txt" | while read -r name; do
      printf '\n### %s\n\nThe end of `%s/log.txt`:\n\n' "$name" "$name"
      block "$out/$name/log.txt" 20
    done
  fi
  printf '\n## Versions\n\n| | |\n|---|---|\n'
  printf '| busbar | %s |\n' "$("$top/bin/rank" --version 2>&1 | sed -n 1p)"
  printf '| NCCL | %s |\n' "$(paste -sd' ' "$out/nccl.txt" 2>/dev/null || echo unknown)"
  printf '| driver | %s |\n' "$(gpu_property 2)"
  printf '| GPUs | %s |\n' "$(gpu_property 1)"
  printf '| GPU memory | %s |\n' "$(gpu_property 3)"
  printf '| nccl-tests | %s |\n' "$(grep -hom 1 'nccl-tests version.*' "$out/nccl_tests/nccl-tests/1" 2>/dev/null || echo 'not compared')"
  printf '| kernel | %s |\n' "$(uname -r)"
  printf '\n## Values that only a GPU can settle\n\n| question | value |\n|---|---|\n'
  question device "Does NCCL use the GPU that rank chose, on ranks that see all GPUs?"
  question memory "Does NCCL's later memory fit what rank keeps free?"
  question driver "How long does loading CUDA take?"
  question init "How long does NCCL init take?"
  question shared_gpu "Do two ranks that share one GPU finish?"
  question calibration "How long does it take to start a computing kernel?"
  question buffers "How much do times change if buffers do not move as in nccl-tests?"
  for name in nccl_tests fixed_buffers; do
    [ -s "$out/$name/compare.txt" ] || continue
    printf '\n## Comparison in step %s\n\n' "$name"
    block "$out/$name/compare.txt" 200
  done
  if [ -s "$out/machine/topology.txt" ]; then
    printf '\n## Topology\n\n'
    block "$out/machine/topology.txt" 80
  fi
}

# gpu_property prints a column of gpus.csv, each value once: name, driver, memory, persistence mode.
gpu_property() {
  local found
  found=$(cut -d, -f "$1" "$out/gpus.csv" 2>/dev/null | sed 's/^ //' | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\1 x \2/' | paste -sd,)
  echo "${found:-unknown}"
}

# pack writes the archive.
pack() {
  local copies
  if [ -z "$anonymize" ]; then
    tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
    return
  fi
  copies=$(mktemp -d) || return
  "$top/bin/post" anonymize -o "$copies" "$out" && tar -C "$copies" -czf "$out.tar.gz" .
  set -- $?
  rm -rf "$copies"
  return "$1"
}

# finish writes the page and the archive, also after an interrupt.
finish() {
  page >"$out/report.md"
  pack || echo "gpu.sh: cannot write $out.tar.gz" >&2
  printf '\n%s\n' "$failed of $(grep -c . "$out/summary.txt") steps failed. Page: $out/report.md. Archive for a bug report: $out.tar.gz"
}

interrupted() {
  trap '' INT TERM
  if [ -n "${shell:-}" ]; then # a step runs
    end_step "$shell"
    wait "$shell" 2>/dev/null
    failed=$((failed + 1))
    outcome FAILED "$name" "$start" "interrupted"
  fi
  finish
  exit 130
}

usage() {
  sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" | sed "s/ STEPS\$/ ${steps[*]}/"
}

main() {
  local name
  command="gpu.sh $*"
  while [ $# -gt 0 ]; do
    case $1 in
      --out | --nccl | --nccl-tests | --max | --only) [ -n "${2:-}" ] || { echo "gpu.sh: $1 requires a value; see --help" >&2; exit 1; } ;;
    esac
    case $1 in
      --out) out=$2 ;;
      --nccl) backend+=(--nccl "$2") ;;
      --nccl-tests) nccl_tests=$2 ;;
      --max) largest=$2 ;;
      --only) IFS=, read -ra steps <<<"$2" ;;
      --rehearse)
        simulated=1 largest=1M small=64K compared=64K
        model=uniform:8x64K caps=128K,256K,all
        backend+=(--rehearse)
        shift
        continue
        ;;
      --anonymize)
        anonymize=1
        shift
        continue
        ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 1 ;;
    esac
    shift 2
  done
  for name in "${steps[@]}"; do
    [[ " ${LIMITS[*]} " = *" $name:"* ]] || { echo "gpu.sh: unknown step \"$name\"; --help lists the steps" >&2; exit 1; }
  done
  # Results of two checks would be mixed.
  [ ! -e "$out/summary.txt" ] || { echo "gpu.sh: $out already has a check; set another --out" >&2; exit 1; }
  mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
  : >"$out/summary.txt"
  smi --query-gpu=name,driver_version,memory.total,persistence_mode --format=csv,noheader >"$out/gpus.csv"
  trap interrupted INT TERM
  for name in "${steps[@]}"; do step "$name"; done
  finish
  exit $failed
}

# Tests source this file for its functions.
[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
