#!/usr/bin/env bash
# Finds the smallest run that hangs or fails, with all logs on, and packs an archive for a bug report: preflight, logs of
# NCCL, MPI and libfabric, stacks of hanging ranks, the verdict of post hang, results, versions.
#   slurm/debug.sh [-np N] [--out DIR] [--deadline S] [rank flags]
#   salloc -N2 --ntasks-per-node=8 --gpus-per-node=8 slurm/debug.sh --backend nccl
# The runs: (1) 8 B between 2 ranks, (2) 8 B between all, (3) 1 MiB, (4) 1 GiB, (5) your flags. It stops at the first that
# fails or hangs. Flags such as --backend, --nccl and --collective apply to all runs, flags of training steps to the last.
#   --deadline S   timeout of a run in seconds (30)
#   --host LIST, --hostfile FILE   for mpirun
# The archive has environment variables of MPI, NCCL, fabrics, GPUs and Slurm only. Check it before you publish it: it
# contains host names and paths. The exit code is that of the failed run, or 0.
set -euo pipefail
me=debug
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# sbatch runs a copy of this file in another folder.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "debug: slurm/lib not found; submit from the folder that contains slurm/" >&2
  exit 2
}

out=debug-$(date +%Y%m%dT%H%M%S) deadline=30
read_arguments "--out --deadline" "" "$@"
[[ $deadline =~ ^[1-9][0-9]*$ ]] || die 1 "--deadline is \"$deadline\"" "Set a number of seconds."

enable_logs() {
  export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=ALL NCCL_DEBUG_FILE="$dir/nccl-%h-%p.log"
  export FI_LOG_LEVEL=${FI_LOG_LEVEL:-warn} UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-warn}
  export OMPI_MCA_orte_base_help_aggregate=0 PRTE_MCA_prte_base_help_aggregate=0 # an error message per rank
}

# environment omits other variables: they may contain secrets.
environment() { env | grep -E '^(NCCL|FI|OFI|UCX|OMPI|PMIX|PMI|PRTE|MPICH|I_MPI|SLURM|CUDA|NVIDIA|BUSBAR|GLOO|OMP)_[A-Z0-9_]*=|^(LD_LIBRARY_PATH|PATH|LOADEDMODULES)=' | grep -vE '^[A-Z0-9_]*(TOKEN|SECRET|KEY|PASSWORD|JWT|CRED)[A-Z0-9_]*=' | sort; }

versions() {
  describe_machine
  show_command mpirun --version
  show_command srun --version
  show_command srun --mpi=list
  show_command nvidia-smi -q
  MAX_LINES=100000 show_command ldconfig -p | grep -E 'libnccl|libcuda|libmpi|libfabric|libgloo|^\$' || true
  show_command df -h /dev/shm /tmp
  show_command ip -brief address
  echo "limits:"
  ulimit -a
}

# local_ranks prints the processes of rank that this run started on this host.
local_ranks() {
  local p
  for p in /proc/[0-9]*; do
    if [[ $(readlink "$p/exe" 2>/dev/null) = */rank ]] && grep -qzxF "BUSBAR_DEBUG_RUN=$run_id" "$p/environ" 2>/dev/null; then echo "${p#/proc/}"; fi
  done
}

# save_state writes the state of each rank on this host: from /proc, and stacks if eu-stack or gdb is available.
save_state() {
  local p
  for p in $(local_ranks); do
    {
      echo "process $p"
      tr '\0' ' ' <"/proc/$p/cmdline" || true
      echo
      grep -E '^(State|Threads|VmRSS|Cpus_allowed_list)' "/proc/$p/status" || true
      for thread in "/proc/$p/task/"*; do
        printf 'thread %s %s: in %s\n' "${thread##*/}" "$(cat "$thread/comm")" "$(cat "$thread/wchan" 2>/dev/null || echo '?')"
      done
      if command -v eu-stack >/dev/null; then
        timeout 20 eu-stack -p "$p" || true
      elif command -v gdb >/dev/null; then
        timeout 60 gdb -p "$p" -batch -nx -ex 'thread apply all bt' || true
      else
        echo "(no stacks: eu-stack and gdb not found)"
      fi
    } >"$dir/state-$p.txt" 2>&1
  done
}

# try_run NAME N [rank flags] starts one run. After half of the deadline it saves the state of the ranks.
try_run() {
  local name=$1 n=$2 launcher code=0 i half=$(((deadline + 1) / 2))
  shift 2
  dir=$out/$name run_id=$name-$$
  mkdir -p "$dir"
  info "$name: rank $*${n:+  ($n ranks)}"
  (
    enable_logs
    export BUSBAR_DEBUG_RUN=$run_id
    start "$n" -- "$@"
  ) </dev/null >"$dir/output.txt" 2>&1 &
  launcher=$!
  for ((i = 0; i < half * 10; i++)); do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$launcher" 2>/dev/null; then save_state; fi
  wait "$launcher" || code=$?
  printf '%s exited with %d\n' "$name" "$code" | tee -a "$out/summary.txt"
  # Without a message of rank, the launcher's last lines have the reason.
  if [ "$code" != 0 ]; then { grep -m 12 '^rank: ' "$dir/output.txt" || tail -n 5 "$dir/output.txt"; } | sed 's/^/  /'; fi
  return "$code"
}

# run_all runs from the smallest run to the requested one.
run_all() {
  local common=(--quiet --deadline "${deadline}s") name size
  drop_step_flags
  # A failed preflight does not always explain the hang.
  try_run preflight "$np" ${collective_flags[@]+"${collective_flags[@]}"} --preflight --deadline "${deadline}s" || true
  if [ -z "$np" ] || [ "$np" -gt 2 ]; then
    try_run 8B-2-ranks 2 --out "$out/8B-2-ranks/results" -b 8 -e 8 -n 1 -w 1 ${collective_flags[@]+"${collective_flags[@]}"} "${common[@]}" || return
  fi
  for size in 8:8B 1M:1MiB 1G:1GiB; do
    name=${size#*:}-all-ranks size=${size%:*}
    try_run "$name" "$np" --out "$out/$name/results" -b "$size" -e "$size" -n 1 -w 1 ${collective_flags[@]+"${collective_flags[@]}"} "${common[@]}" || return
  done
  if [ ${#flags[@]} -gt 0 ]; then try_run requested "$np" --out "$out/requested/results" "${flags[@]}" "${common[@]}"; fi
}

need_programs
choose_ranks
make_folder "$out"
out=$(cd "$out" && pwd)
printf 'debug.sh, rank flags: %s\n' "${flags[*]:-(none)}" >"$out/summary.txt"
environment >"$out/environment.txt"
versions >"$out/versions.txt" 2>&1
code=0
run_all || code=$?
if [ "$code" != 0 ] && "$top/bin/post" hang "$dir" >"$out/hang.txt" 2>&1; then
  sed '/^$/,$d' "$out/hang.txt" | tee -a "$out/summary.txt"
fi

tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
if [ "$code" = 0 ]; then
  info "no run hung or failed; try more ranks, your own flags, or a shorter --deadline"
else
  info "stopped at the first failed run; its output is in output.txt in its folder"
fi
info "packed: $out.tar.gz ($(du -h "$out.tar.gz" | cut -f1)); it contains host names and paths"
exit "$code"
