#!/usr/bin/env bash
# Looks for the smallest run that hangs or fails, with every switch on, and packs what it saw into one archive for whoever
# is to help: preflight, logs of NCCL, MPI and libfabric, stacks of the ranks while they hang, results, versions.
#   slurm/debug.sh [-np N] [--out DIR] [--deadline S] [rank flags]
#   salloc -N2 --ntasks-per-node=8 --gpus-per-node=8 slurm/debug.sh --backend nccl
# It goes from small to large and stops at the first run that does not end well: (1) 8 B between 2 ranks, (2) 8 B between all,
# (3) 1 MiB, (4) 1 GiB, (5) your flags as they are. Flags such as --backend, --nccl, --collective go with each run, --step and
# what belongs to it with the last alone.
#   --deadline S   seconds after which a run counts as hanging (30)
#   --host LIST, --hostfile FILE   as mpirun takes them
# Of the environment only names that say something of MPI, NCCL, fabrics, GPUs and Slurm are kept. Look at the archive before
# you give it away: host names and paths are in it. The exit code is that of the run it stopped at, or 0.
set -euo pipefail
me=debug
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# sbatch runs a copy of this file, with nothing beside it.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "debug: submit from the folder that has slurm/ in it, or start slurm/debug.sh where it lies" >&2
  exit 2
}

out=debug-$(date +%Y%m%dT%H%M%S) deadline=30
read_arguments "--out --deadline" "" "$@"
[[ $deadline =~ ^[1-9][0-9]*$ ]] || give_up 1 "--deadline is \"$deadline\"" "It is a number of seconds."

# switches turns every log on that says why something hangs.
switches() {
  export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=ALL NCCL_DEBUG_FILE="$dir/nccl-%h-%p.log"
  export FI_LOG_LEVEL=${FI_LOG_LEVEL:-warn} UCX_LOG_LEVEL=${UCX_LOG_LEVEL:-warn}
  export OMPI_MCA_orte_base_help_aggregate=0 PRTE_MCA_prte_base_help_aggregate=0 # each rank's complaint, not the first's
}

# environment prints variables of the subject; values of others may be secrets.
environment() { env | grep -E '^(NCCL|FI|OFI|UCX|OMPI|PMIX|PMI|PRTE|MPICH|I_MPI|SLURM|CUDA|NVIDIA|BUSBAR|GLOO|OMP)_[A-Z0-9_]*=|^(LD_LIBRARY_PATH|PATH|LOADEDMODULES)=' | grep -vE '^[A-Z0-9_]*(TOKEN|SECRET|KEY|PASSWORD|JWT|CRED)[A-Z0-9_]*=' | sort; }

versions() {
  machine
  command_of mpirun --version
  command_of srun --version
  command_of srun --mpi=list
  command_of nvidia-smi -q
  LINES_OF_COMMAND=100000 command_of ldconfig -p | grep -E 'libnccl|libcuda|libmpi|libfabric|libgloo|^\$' || true
  command_of df -h /dev/shm /tmp
  command_of ip -brief address
  echo "limits:"
  ulimit -a
}

# ranks_here prints the processes of rank that the launcher of this run has started on this host.
ranks_here() {
  local p
  for p in /proc/[0-9]*; do
    if [[ $(readlink "$p/exe" 2>/dev/null) = */rank ]] && grep -qzxF "BUSBAR_DEBUG_RUN=$run_id" "$p/environ" 2>/dev/null; then echo "${p#/proc/}"; fi
  done
}

# state writes down where each rank of this host stands: what the kernel knows, and its stacks where a tool for that is there.
state() {
  local p
  for p in $(ranks_here); do
    {
      echo "process $p"
      tr '\0' ' ' <"/proc/$p/cmdline" || true
      echo
      grep -E '^(State|Threads|VmRSS|Cpus_allowed_list)' "/proc/$p/status" || true
      for thread in "/proc/$p/task/"*; do
        printf 'thread %s %s: waits in %s\n' "${thread##*/}" "$(cat "$thread/comm")" "$(cat "$thread/wchan" 2>/dev/null || echo '?')"
      done
      if command -v eu-stack >/dev/null; then
        timeout 20 eu-stack -p "$p" || true
      elif command -v gdb >/dev/null; then
        timeout 60 gdb -p "$p" -batch -nx -ex 'thread apply all bt' || true
      else
        echo "(neither eu-stack nor gdb is here, so there are no stacks)"
      fi
    } >"$dir/state-$p.txt" 2>&1
  done
}

# try_run NAME N [rank flags] starts one run; the state of its ranks is looked at when half of the deadline is over.
try_run() {
  local name=$1 n=$2 launcher code=0 i half=$(((deadline + 1) / 2))
  shift 2
  dir=$out/$name run_id=$name-$$
  mkdir -p "$dir"
  say "$name: rank $*${n:+  ($n ranks)}"
  (
    switches
    export BUSBAR_DEBUG_RUN=$run_id
    start "$n" -- "$@"
  ) </dev/null >"$dir/output.txt" 2>&1 &
  launcher=$!
  for ((i = 0; i < half * 10; i++)); do
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$launcher" 2>/dev/null; then state; fi
  wait "$launcher" || code=$?
  printf '%s ended with %d\n' "$name" "$code" | tee -a "$out/summary.txt"
  # Where rank said nothing, the launcher's last words say why.
  if [ "$code" != 0 ]; then { grep -m 12 '^rank: ' "$dir/output.txt" || tail -n 5 "$dir/output.txt"; } | sed 's/^/  /'; fi
  return "$code"
}

# ladder goes from the smallest run to the one that was asked for.
ladder() {
  local common=(--quiet --deadline "${deadline}s") name size
  without_step
  # What the preflight finds need not be what hangs.
  try_run preflight "$np" ${plain[@]+"${plain[@]}"} --preflight --deadline "${deadline}s" || true
  if [ -z "$np" ] || [ "$np" -gt 2 ]; then
    try_run 8B-2-ranks 2 --out "$out/8B-2-ranks/results" -b 8 -e 8 -n 1 -w 1 ${plain[@]+"${plain[@]}"} "${common[@]}" || return
  fi
  for size in 8:8B 1M:1MiB 1G:1GiB; do
    name=${size#*:}-all-ranks size=${size%:*}
    try_run "$name" "$np" --out "$out/$name/results" -b "$size" -e "$size" -n 1 -w 1 ${plain[@]+"${plain[@]}"} "${common[@]}" || return
  done
  if [ ${#flags[@]} -gt 0 ]; then try_run as-asked "$np" --out "$out/as-asked/results" "${flags[@]}" "${common[@]}"; fi
}

need_programs
choose_ranks
make_folder "$out"
out=$(cd "$out" && pwd)
printf 'debug.sh, rank flags: %s\n' "${flags[*]:-(none)}" >"$out/summary.txt"
environment >"$out/environment.txt"
versions >"$out/versions.txt" 2>&1
code=0
ladder || code=$?

tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
if [ "$code" = 0 ]; then
  say "no run hung or failed; try more ranks, your own flags, or --deadline shorter than the wait that you saw"
else
  say "stopped at the first run that did not end well; what it said is in its folder, output.txt"
fi
say "packed: $out.tar.gz ($(du -h "$out.tar.gz" | cut -f1)); host names and paths are in it"
exit "$code"
