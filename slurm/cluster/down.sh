#!/usr/bin/env bash
# Stops the cluster of up.sh: daemons, jobs, namespaces, network and mounts end with one process.
# KEEP=1 keeps its folder with the logs.
set -euo pipefail
# shellcheck source=slurm/cluster/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if pid=$(head_pid); then
  kill -9 "$pid"
  while kill -0 "$pid" 2>/dev/null; do
    if [ $SECONDS -ge 60 ]; then echo "slurm cluster: process $pid was killed but still runs" >&2 && exit 1; fi
    sleep 0.05
  done
fi
rm -f "$BASE/run/head.pid"
if [ -n "${KEEP:-}" ] || [ ! -e "$BASE/$mark" ]; then exit 0; fi
# Exiting processes may still write a file.
while [ $SECONDS -lt 30 ]; do
  if rm -rf "${BASE:?}" 2>/dev/null; then exit 0; fi
  sleep 0.2
done
rm -rf "${BASE:?}"
