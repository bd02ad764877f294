#!/usr/bin/env bash
# Installs dependencies, builds, measures with one rank per core (2 to 8) and writes the report.
set -euo pipefail
cd "$(dirname "$0")/.."

make --no-print-directory deps
make --no-print-directory build

# Cores, as mpirun counts them, not hardware threads; fewer if the container has fewer.
cores=$({ lscpu -p=core,socket 2>/dev/null || true; } | { grep -v '^#' || true; } | sort -u | wc -l)
usable=$(nproc 2>/dev/null || echo 2)
if [ "$cores" -lt 1 ] || [ "$usable" -lt "$cores" ]; then cores=$usable; fi
ranks=$((cores < 2 ? 2 : cores > 8 ? 8 : cores))
before=$(mktemp)
trap 'rm -f "$before"' EXIT

printf '\nMeasuring with %d ranks on %d cores, under a minute.\n' "$ranks" "$cores"
code=0
scripts/mpirun.sh -np "$ranks" bin/rank || code=$?
# Also if some points failed.
bin/post report

printf '\nOutput:\n'
find results -type f -newer "$before" | sort | sed 's/^/  /'
if [ "$code" != 0 ]; then printf '\nrank exited with %d; its message is above (bin/rank --help explains the codes).\n' "$code"; fi
exit "$code"
