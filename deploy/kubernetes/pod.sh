#!/usr/bin/env bash
# Starts the ranks of one pod of an Indexed Job: pod.sh COMMAND…, usually rank. Each pod starts RANKS of them, one per
# GPU, of RANKS × PODS in all. The Job sets JOB_COMPLETION_INDEX, and MASTER_ADDR to the name of its first pod.
# The exit code is that of the first rank that fails; the others are stopped then.
set -euo pipefail
: "${PODS:?is not set}" "${RANKS:?is not set}" "${MASTER_ADDR:?is not set}" "${JOB_COMPLETION_INDEX:?is not set}"
export WORLD_SIZE=$((PODS * RANKS)) LOCAL_WORLD_SIZE=$RANKS
children=()
for ((i = 0; i < RANKS; i++)); do
  RANK=$((JOB_COMPLETION_INDEX * RANKS + i)) LOCAL_RANK=$i "$@" &
  children+=("$!")
done
trap 'kill "${children[@]}" 2>/dev/null || true' EXIT TERM
for ((i = 0; i < RANKS; i++)); do wait -n || exit; done
