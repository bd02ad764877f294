#!/usr/bin/env bash
# Measures, and compares with the baseline in FOLDER:
#   nightly.sh FOLDER COMMAND…        such as: nightly.sh /var/lib/busbar mpirun -np 8 rank --sweep baseline
# COMMAND runs 5 times (LAUNCHES), with --out and a new folder in FOLDER/nights, which keeps 30. NIGHT names it where
# this script runs several times: their folder must be one. The first complete night becomes FOLDER/baseline.
# METRICS is the folder of node_exporter's textfile collector, if metrics are exported.
# Exit code: 7 if a point is more than 5 % (LIMIT) slower or fails (post compare); else that of COMMAND: wrong data and
# failed points (3, 6) are compared all the same, other codes end the night.
set -euo pipefail
folder=${1:?a folder is required; the top of nightly.sh describes it}
shift
[ $# -gt 0 ] || { echo "nightly.sh: a command is required after the folder" >&2; exit 1; }
night=$folder/nights/${NIGHT:-$(date -u +%Y-%m-%dT%H%M%SZ)}

failed=0
for ((i = 0; i < ${LAUNCHES:-5}; i++)); do
  code=0
  "$@" --out "$night" || code=$?
  case $code in 0) ;; 3 | 6) failed=$code ;; *) exit "$code" ;; esac
done
# Rank 0 writes the results. In the other pods of a Kubernetes Job nothing is left to do.
if [ "${JOB_COMPLETION_INDEX:-0}" != 0 ]; then exit "$failed"; fi

find "$folder/nights" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' | sort -rn | tail -n +31 | cut -d' ' -f2- | xargs -rd '\n' rm -rf --
code=0
if [ -n "${METRICS:-}" ]; then post export --format prometheus -o "$METRICS" "$night" || failed=$?; fi
if [ -e "$folder/baseline" ]; then
  post compare --strict --fail-above "${LIMIT:-5%}" -o "$night" "$folder/baseline" "$night" || code=$?
elif [ "$failed" = 0 ]; then
  mv "$night" "$folder/baseline"
  echo "nightly.sh: this night is the baseline: $folder/baseline"
fi
exit $((code > 0 ? code : failed))
