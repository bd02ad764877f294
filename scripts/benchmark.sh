#!/usr/bin/env bash
# Sets backends side by side: `benchmark.sh gloo|nccl|mpi|auto [flags of rank]` looks at the machine, says what it chose,
# measures the sweep "sizes" in one launch within five minutes, and writes the report.
# OUT=DIR, WORLDS=2,4,6, TIME_LIMIT=4m and REHEARSE=1 (simulated GPUs and NCCL) change that. More launches into one
# OUT are better: from six on the report has intervals over launches.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-auto}
shift $(($# > 0))
out=${OUT:-results/benchmark}
rehearse=${REHEARSE:-}
if [ "$rehearse" = 0 ]; then rehearse=; fi

me=benchmark here=$PWD/slurm
# shellcheck source=slurm/lib/launch.sh
. slurm/lib/launch.sh

# worlds_for GPUS prints the worlds that so many GPUs are good for; nothing for fewer than two.
worlds_for() {
  if [ "$1" -ge 6 ]; then echo 2,4,6; elif [ "$1" -ge 4 ]; then echo 2,4; elif [ "$1" -ge 2 ]; then echo 2; fi
}

cores=$(nproc 2>/dev/null || echo 1)
devices=$(gpus)
gpu_worlds=$(worlds_for "$devices")
say "this machine: $cores CPU cores, $devices GPUs"
if grep -qi microsoft /proc/version 2>/dev/null; then
  say "this is WSL2: a virtual machine, whose figures are not those of the hardware alone"
fi
if [ -n "$rehearse" ]; then
  say "REHEARSE is set: GPUs and NCCL are simulated; no value is about hardware"
  gpu_worlds=2,4,6
fi

case $what in
gloo | mpi) backend=$what worlds=2,4,6 ;;
nccl)
  if [ -z "$gpu_worlds" ]; then
    give_up 2 "NCCL wants two GPUs or more, and nvidia-smi lists $devices" \
      "On the machine with GPUs: make nccl-benchmark. Here: make gloo-benchmark, or REHEARSE=1 make nccl-benchmark to try everything without a GPU."
  fi
  backend=nccl worlds=$gpu_worlds
  ;;
auto)
  if [ -n "$gpu_worlds" ]; then
    backend=gloo,nccl worlds=$gpu_worlds
    say "chosen: Gloo on CPUs and NCCL on GPUs, case by case in turn"
  else
    backend=gloo,mpi worlds=2,4,6
    say "chosen: Gloo and MPI on CPUs, case by case in turn (NCCL wants two GPUs or more)"
  fi
  ;;
*) give_up 1 "unknown benchmark \"$what\"" "known: gloo, nccl, mpi, auto" ;;
esac
worlds=${WORLDS:-$worlds}
ranks=$(tr ',' '\n' <<<"$worlds" | sort -n | tail -1)
say "worlds of $worlds ranks, sizes 1 MB to 1 GB, within ${TIME_LIMIT:-4m}; what does not fit memory or time is skipped and said"
if [ "$backend" != nccl ] || [ -n "$rehearse" ]; then
  if [ "$ranks" -gt "$cores" ]; then
    say "$ranks ranks on $cores cores is oversubscription: figures of worlds larger than $cores say nothing about speed, and the report says so"
  fi
fi

say "building"
env -u OUT -u MAKEFLAGS -u MAKEOVERRIDES make --no-print-directory build >/dev/null # to which OUT means where libraries go
if [[ ,$backend, == *,gloo,* ]] && [ ! -e lib/busbar-gloo.so ]; then
  give_up 2 "there is no lib/busbar-gloo.so, which Gloo is measured with" "make deps installs libgloo-dev or says how; then make build"
fi

say "measuring into $out"
code=0
scripts/mpirun.sh -np "$ranks" bin/rank ${rehearse:+--rehearse} --backend "$backend" --sweep sizes --worlds "$worlds" \
  --time-limit "${TIME_LIMIT:-4m}" --out "$out" "$@" || code=$?
case $code in
1 | 2) give_up "$code" "nothing was measured" "rank says above why." ;; # its own codes: the command line, the environment
esac

say "the report, of everything in $out"
bin/post report --layout comparison ${rehearse:+--include-rehearsed} "$out" || exit $((code > 0 ? code : $?))
printf '\n'
cat "$out/analysis.txt"
say "all values are in $out/summary_by_config.md and $out/full_results.md"
if [ "$code" != 0 ]; then say "rank ended with $code; what it said is above (bin/rank --help explains the codes)"; fi
exit "$code"
