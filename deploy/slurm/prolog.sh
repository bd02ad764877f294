#!/usr/bin/env bash
# Checks a node before or after each job, on the GPUs of the job. In slurm.conf:
#   Prolog=/opt/busbar/deploy/slurm/prolog.sh
#   Epilog=/opt/busbar/deploy/slurm/prolog.sh
#   PrologFlags=Alloc
#   SchedulerParameters=nohold_on_prolog_fail
# If the check fails, Slurm drains the node, and requeues the job after a failed prolog. The reason is in the system log.
# A job waits about two seconds for it. Flags of rank are in the last line.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Slurm sets none
export BUSBAR_DEADLINE=5s # Slurm gives a prolog MessageTimeout: 10 s by default

die() { # die CODE MESSAGE, as NHC has it
  logger -t busbar -- "job ${SLURM_JOB_ID:-unknown}: $2" || true
  echo "$2" >&2
  exit 1 # 0: only log
}

# shellcheck source=/dev/null
. "$(dirname "$(readlink -f "$0")")/../nhc/busbar.nhc"
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
export CUDA_VISIBLE_DEVICES=$SLURM_JOB_GPUS CUDA_DEVICE_ORDER=PCI_BUS_ID
commas=${SLURM_JOB_GPUS//[^,]/}
check_busbar $((${#commas} + 1)) --backend nccl
