#!/usr/bin/env bash
# Runs rank in Nsight Systems, a report and an NCCL log for each rank. Inside a Slurm allocation srun starts the ranks, else
# mpirun (LAUNCHER=mpirun or srun decides otherwise). Without nsys it says so, and still measures and keeps the logs.
#   slurm/profile.sh -np 8 [--out DIR] [--ranks 0,7] [rank flags]      default flags: all_reduce, 1 MiB and 64 MiB
#   salloc -N2 --ntasks-per-node=8 --gpus-per-node=8 slurm/profile.sh --ranks 0,8 --collective all_gather -b 16M -e 16M -n 20
#   --out DIR      reports, logs and results (profile-TIME)
#   --ranks LIST   profile these ranks only; the others run as they are (all)
#   --trace LIST   what nsys records: cuda,nvtx is all that collectives need (cuda,nvtx,osrt)
#   --duration S   seconds of recording at most, so that files stay small (30; 0 is no limit)
#   --host LIST, --hostfile FILE   as mpirun takes them
# Only the timed part of each case is recorded (rank --profile-range); of training steps (--step) all steps in one report, with
# NVTX ranges that name them and what is in them. Figures of a profiled run are slower than others and are kept apart:
# --variant profiled. SRUN_ARGS are further options of srun. The exit code is rank's.
set -euo pipefail
me=profile
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

# --- what each rank does: profile.sh --as-rank OUT RANKS TRACE DURATION rank … --------------------------------------------

# own_rank prints this process's rank, as the launcher tells it.
own_rank() {
  local name
  for name in OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID; do
    if [ -n "${!name:-}" ]; then
      echo "${!name}"
      return
    fi
  done
  echo "profile: none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK and SLURM_PROCID is set: was this started by mpirun or srun?" >&2
  return 2
}

# as_rank becomes rank, in nsys where there is one. Settings come as arguments, since mpirun hands no variables to other hosts.
as_rank() {
  local out=$1 ranks=$2 trace=$3 duration=$4 rank name
  shift 4
  rank=$(own_rank)
  name=$(printf 'rank%04d-%s' "$rank" "$(hostname -s 2>/dev/null || hostname)")
  export NCCL_DEBUG=${NCCL_DEBUG:-INFO} NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS:-INIT,GRAPH,NET,ENV,TUNING,COLL}
  export NCCL_DEBUG_FILE=$out/logs/nccl-$name.log
  if ! command -v nsys >/dev/null || [[ ,$ranks, != *,all,* && ,$ranks, != *,$rank,* ]]; then exec "$@"; fi
  local words=(--output "$out/reports/$name" --force-overwrite true --trace "$trace" --cuda-memory-usage false --sample none --cpuctxsw none)
  # A report for each case; nsys would otherwise end rank after the first, and at the end of the duration.
  case " $* " in *" --profile-range "*) words+=(--capture-range cudaProfilerApi --capture-range-end repeat) ;; esac
  words+=(--kill none)
  if [ "$duration" != 0 ]; then words+=(--duration "$duration"); fi
  exec nsys profile "${words[@]}" "$@"
}

if [ "${1:-}" = --as-rank ]; then
  shift
  as_rank "$@"
fi

# --- what is done once ----------------------------------------------------------------------------------------------------

# sbatch runs a copy of this file, with nothing beside it.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "profile: submit from the folder that has slurm/ in it, or start slurm/profile.sh where it lies" >&2
  exit 2
}

out=profile-$(date +%Y%m%dT%H%M%S) ranks=all trace=cuda,nvtx,osrt duration=30
read_arguments "--out --ranks --trace --duration" "" "$@"
[[ $ranks =~ ^(all|[0-9]+(,[0-9]+)*)$ ]] || give_up 1 "--ranks is \"$ranks\"" "It is a list of ranks, as in --ranks 0,7, or all."
[[ $duration =~ ^[0-9]+$ ]] || give_up 1 "--duration is \"$duration\"" "It is a number of seconds; 0 is no limit."
if [ ${#flags[@]} = 0 ]; then flags=(--collective all_reduce -b 1M -e 64M -f 64 -n 20); fi

need_programs
choose_ranks
make_folder "$out/logs" "$out/reports" "$out/results"
out=$(cd "$out" && pwd)
machine >"$out/machine.txt"
if ! command -v nsys >/dev/null; then
  say "there is no nsys here: nothing is profiled; rank measures, and the logs of NCCL are kept"
  say "nsys is NVIDIA's Nsight Systems: it comes with the CUDA toolkit (module load cuda), or as the package nsight-systems-cli"
fi
code=0
# The deadline is long, since a profiler may hold an operation up that does not hang.
(start "$np" "$here/profile.sh" --as-rank "$out" "$ranks" "$trace" "$duration" -- \
  --profile-range --variant profiled --deadline 10m --out "$out/results" "${flags[@]}") </dev/null || code=$?

reports=$(find "$out/reports" -name '*.nsys-rep' | sort)
say "everything is in $out"
find "$out/logs" "$out/results" -type f | sort | sed 's/^/  /'
if [ -n "$reports" ]; then
  printf '  %s\n' "${reports//$'\n'/$'\n'  }"
  say "to look at them, on your own machine: nsys-ui FILE… (all ranks of a case in one timeline)"
  say "in figures, here: nsys stats --report cuda_gpu_kern_sum,nvtx_sum $(head -n 1 <<<"$reports")"
  say "who waits for whom, here or anywhere: for r in $out/reports/*.nsys-rep; do nsys export --type=sqlite --include-blobs=true --output=\"\${r%.nsys-rep}.sqlite\" \"\$r\"; done; post timeline $out/reports"
  say "what NCCL says it did: post log $out/logs"
  say "look for kernels whose names begin with ncclDevKernel, and for ranks that start theirs late"
elif command -v nsys >/dev/null; then
  say "nsys wrote no report: no CUDA was captured (a run with --rehearse has none), or what it says above"
fi
exit "$code"
