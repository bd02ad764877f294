#!/usr/bin/env bash
# Profiles rank with Nsight Systems: a report and an NCCL log for each rank. Inside a Slurm allocation srun starts the
# ranks, else mpirun; LAUNCHER=mpirun or LAUNCHER=srun overrides this. Without nsys it writes only results and logs.
#   slurm/profile.sh -np 8 [--out DIR] [--ranks 0,7] [rank flags]      default flags: all_reduce, 1 MiB and 64 MiB
#   salloc -N2 --ntasks-per-node=8 --gpus-per-node=8 slurm/profile.sh --ranks 0,8 --collective all_gather -b 16M -e 16M -n 20
#   --out DIR      reports, logs and results (profile-TIME)
#   --ranks LIST   profile these ranks only (all)
#   --trace LIST   what nsys records (cuda,nvtx,osrt); cuda,nvtx is enough for collectives
#   --duration S   record at most S seconds per report (30; 0: no limit)
#   --host LIST, --hostfile FILE   for mpirun
# nsys records only the timed part of each case (rank --profile-range). Training steps (--step) are in one report, with
# NVTX ranges. Profiling slows a run, so its results have the variant profiled. SRUN_ARGS are more options for srun. The
# exit code is that of rank.
set -euo pipefail
me=profile
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

# --- in each rank: profile.sh --as-rank OUT RANKS TRACE DURATION rank … --------------------------------------------------

# own_rank prints the rank of this process.
own_rank() {
  local name
  for name in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID; do
    if [ -n "${!name:-}" ]; then
      echo "${!name}"
      return
    fi
  done
  echo "profile: none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK and SLURM_PROCID is set: start it with mpirun or srun" >&2
  return 2
}

# as_rank executes rank, under nsys if available. Settings are arguments: mpirun exports no variables to other hosts.
as_rank() {
  local out=$1 ranks=$2 trace=$3 duration=$4 rank name
  shift 4
  rank=$(own_rank)
  name=$(printf 'rank%04d-%s' "$rank" "$(hostname -s 2>/dev/null || hostname)")
  export NCCL_DEBUG=${NCCL_DEBUG:-INFO} NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS:-INIT,GRAPH,NET,ENV,TUNING,COLL}
  export NCCL_DEBUG_FILE=$out/logs/nccl-$name.log
  if ! command -v nsys >/dev/null || [[ ,$ranks, != *,all,* && ,$ranks, != *,$rank,* ]]; then exec "$@"; fi
  local options=(--output "$out/reports/$name" --force-overwrite true --trace "$trace" --cuda-memory-usage false --sample none --cpuctxsw none)
  # One report per case. By default nsys kills rank after the first, and at the end of the duration.
  case " $* " in *" --profile-range "*) options+=(--capture-range cudaProfilerApi --capture-range-end repeat) ;; esac
  options+=(--kill none)
  if [ "$duration" != 0 ]; then options+=(--duration "$duration"); fi
  exec nsys profile "${options[@]}" "$@"
}

if [ "${1:-}" = --as-rank ]; then
  shift
  as_rank "$@"
fi

# --- once ---------------------------------------------------------------------------------------------------------------

# sbatch runs a copy of this file in another folder.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "profile: slurm/lib not found; submit from the folder that contains slurm/" >&2
  exit 2
}

out=profile-$(date +%Y%m%dT%H%M%S) ranks=all trace=cuda,nvtx,osrt duration=30
read_arguments "--out --ranks --trace --duration" "" "$@"
[[ $ranks =~ ^(all|[0-9]+(,[0-9]+)*)$ ]] || die 1 "--ranks is \"$ranks\"" "Set a list of ranks, such as --ranks 0,7, or all."
[[ $duration =~ ^[0-9]+$ ]] || die 1 "--duration is \"$duration\"" "Set a number of seconds; 0: no limit."
if [ ${#flags[@]} = 0 ]; then flags=(--collective all_reduce -b 1M -e 64M -f 64 -n 20); fi

need_programs
choose_ranks
make_folder "$out/logs" "$out/reports" "$out/results"
out=$(cd "$out" && pwd)
describe_machine >"$out/machine.txt"
if ! command -v nsys >/dev/null; then
  info "nsys not found: writing only results and NCCL's logs"
  info "nsys (Nsight Systems) is part of the CUDA toolkit (module load cuda) and of the package nsight-systems-cli"
fi
code=0
# The deadline is long because a profiler can delay operations.
(start "$np" "$here/profile.sh" --as-rank "$out" "$ranks" "$trace" "$duration" -- \
  --profile-range --variant profiled --deadline 10m --out "$out/results" "${flags[@]}") </dev/null || code=$?

reports=$(find "$out/reports" -name '*.nsys-rep' | sort)
info "results: $out"
find "$out/logs" "$out/results" -type f | sort | sed 's/^/  /'
if [ -n "$reports" ]; then
  printf '  %s\n' "${reports//$'\n'/$'\n'  }"
  info "to view them on your own machine: nsys-ui FILE… (all ranks of a case in one timeline)"
  info "statistics: nsys stats --report cuda_gpu_kern_sum,nvtx_sum $(head -n 1 <<<"$reports")"
  info "stragglers: for r in $out/reports/*.nsys-rep; do nsys export --type=sqlite --include-blobs=true --output=\"\${r%.nsys-rep}.sqlite\" \"\$r\"; done; post timeline $out/reports"
  info "algorithms and errors of NCCL: post log $out/logs"
  info "look for kernels named ncclDevKernel…, and for ranks that start them late"
elif command -v nsys >/dev/null; then
  info "nsys wrote no report: its error is above, or no CUDA call was captured (simulated runs have none)"
fi
exit "$code"
