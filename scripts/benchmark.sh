#!/usr/bin/env bash
# Compares backends: `benchmark.sh gloo|nccl|mpi|auto [flags of rank]` chooses backends and world sizes for the machine,
# measures the sweep "sizes" in one launch within five minutes, and writes the report.
# OUT=DIR, WORLDS=2,4,6, TIME_LIMIT=4m and REHEARSE=1 (simulated GPUs and NCCL) change that. Run it
# several times into one OUT: from six launches on the report has confidence intervals over launches.
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

# worlds_for GPUS prints the world sizes for a number of GPUs; nothing for fewer than two.
worlds_for() {
  if [ "$1" -ge 6 ]; then echo 2,4,6; elif [ "$1" -ge 4 ]; then echo 2,4; elif [ "$1" -ge 2 ]; then echo 2; fi
}

cores=$(nproc 2>/dev/null || echo 1)
devices=$(gpus)
gpu_worlds=$(worlds_for "$devices")
info "this machine: $cores CPU cores, $devices GPUs"
if grep -qi microsoft /proc/version 2>/dev/null; then
  info "this is WSL2, a virtual machine: it affects the results"
fi
if [ -n "$rehearse" ]; then
  info "REHEARSE is set: GPUs and NCCL are simulated; the results do not describe hardware"
  gpu_worlds=2,4,6
fi

case $what in
gloo | mpi) backend=$what worlds=2,4,6 ;;
nccl)
  if [ -z "$gpu_worlds" ]; then
    die 2 "NCCL requires at least two GPUs; nvidia-smi lists $devices" \
      "On the machine with GPUs: make nccl-benchmark. Here: make gloo-benchmark, or REHEARSE=1 make nccl-benchmark to try everything without a GPU."
  fi
  backend=nccl worlds=$gpu_worlds
  ;;
auto)
  if [ -n "$gpu_worlds" ]; then
    backend=gloo,nccl worlds=$gpu_worlds
    info "chosen: Gloo on CPUs and NCCL on GPUs, interleaved"
  else
    backend=gloo,mpi worlds=2,4,6
    info "chosen: Gloo and MPI on CPUs, interleaved (NCCL requires at least two GPUs)"
  fi
  ;;
*) die 1 "unknown benchmark \"$what\"" "known: gloo, nccl, mpi, auto" ;;
esac
worlds=${WORLDS:-$worlds}
ranks=$(tr ',' '\n' <<<"$worlds" | sort -n | tail -1)
info "world sizes $worlds, message sizes 1 MB to 1 GB, time limit ${TIME_LIMIT:-4m}"
info "points that exceed memory or time are skipped and listed"
if [ "$backend" != nccl ] || [ -n "$rehearse" ]; then
  if [ "$ranks" -gt "$cores" ]; then
    info "$ranks ranks on $cores cores: oversubscribed; world sizes above $cores do not show the speed"
  fi
fi

info "building"
# For make, OUT is the folder of the libraries.
env -u OUT -u MAKEFLAGS -u MAKEOVERRIDES make --no-print-directory build >/dev/null
if [[ ,$backend, == *,gloo,* ]] && [ ! -e lib/busbar-gloo.so ]; then
  die 2 "lib/busbar-gloo.so is missing; the backend gloo requires it" \
    "Run make deps, which installs libgloo-dev or prints how, then make build."
fi

info "measuring into $out"
code=0
scripts/mpirun.sh -np "$ranks" bin/rank ${rehearse:+--rehearse} --backend "$backend" --sweep sizes --worlds "$worlds" \
  --time-limit "${TIME_LIMIT:-4m}" --out "$out" "$@" || code=$?
case $code in
# Codes of rank: wrong command line, unsuitable environment.
1 | 2) die "$code" "nothing was measured" "The error of rank is above." ;;
esac

info "writing the report of all runs in $out"
bin/post report --layout comparison ${rehearse:+--include-rehearsed} "$out" || exit $((code > 0 ? code : $?))
printf '\n'
cat "$out/analysis.txt"
info "all values are in $out/summary_by_config.md and $out/full_results.md"
if [ "$code" != 0 ]; then info "rank exited with $code; its message is above (bin/rank --help explains the codes)"; fi
exit "$code"
