#!/usr/bin/env bash
# Starts the ranks of one pod of an Indexed Job: pod.sh COMMAND…, usually rank. Each pod starts RANKS of them, one per
# GPU, of RANKS × PODS in all. The Job sets JOB_COMPLETION_INDEX, and MASTER_ADDR to the name of its first pod.
# After the first failure the others have 30 seconds (GRACE) to end, in which rank 0 writes what happened; then they are
# stopped. The exit code is that of the lowest rank here that failed: in the first pod, rank 0's.
set -euo pipefail
: "${PODS:?is not set}" "${RANKS:?is not set}" "${MASTER_ADDR:?is not set}" "${JOB_COMPLETION_INDEX:?is not set}"
export WORLD_SIZE=$((PODS * RANKS)) LOCAL_WORLD_SIZE=$RANKS
children=()
for ((i = 0; i < RANKS; i++)); do
  RANK=$((JOB_COMPLETION_INDEX * RANKS + i)) LOCAL_RANK=$i "$@" &
  children+=("$!")
done

signal() { kill -s "$1" "${children[@]}" 2>/dev/null; } # fails if no rank is left

# end_within SECONDS fails if a rank is left after that time.
end_within() {
  local i
  for ((i = 0; i < $1; i++)); do
    signal 0 || return 0
    sleep 1
  done
  ! signal 0
}

# This script is process 1: what it leaves running is killed at once.
trap 'signal TERM || true' TERM INT
for ((i = 0; i < RANKS; i++)); do
  wait -n && continue
  end_within "${GRACE:-30}" || signal TERM || true
  end_within 10 || signal KILL || true
  break
done
code=0
for child in "${children[@]}"; do
  ended=0
  wait "$child" || ended=$?
  [ "$code" != 0 ] || code=$ended
done
exit "$code"
