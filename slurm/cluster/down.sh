#!/usr/bin/env bash
# Ends the cluster that up.sh started: daemons, jobs, namespaces, network and mounts go with one process.
# KEEP=1 leaves its folder with the logs.
set -euo pipefail
# shellcheck source=slurm/cluster/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if pid=$(head_pid); then
  kill -9 "$pid"
  while kill -0 "$pid" 2>/dev/null; do
    if [ $SECONDS -ge 60 ]; then echo "slurm cluster: process $pid is killed and does not end" >&2 && exit 1; fi
    sleep 0.05
  done
fi
rm -f "$BASE/run/head.pid"
if [ -n "${KEEP:-}" ] || [ ! -e "$BASE/$mark" ]; then exit 0; fi
# Processes that are just dying may still write a file.
while [ $SECONDS -lt 30 ]; do
  if rm -rf "${BASE:?}" 2>/dev/null; then exit 0; fi
  sleep 0.2
done
rm -rf "${BASE:?}"
