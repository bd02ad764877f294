#!/usr/bin/env bash
# Compares rank's alltoallv (even) over MPI with OSU's and IMB's, in launches that take turns in changing order:
#   OSU_ALLTOALLV=PATH IMB_MPI1=PATH scripts/peers.sh [LAUNCHES]      default: 12
# It requires an idle machine, make build, and osu_alltoallv or IMB-MPI1 of the same MPI. Sizes are bytes per pair of ranks.
# Against OSU (7.3 or newer): latency mode, each call after a barrier, median over calls, mean over ranks. Against IMB:
# throughput mode and -sync off, calls back to back, mean. rank uses MPI_THREAD_MULTIPLE, and with Open MPI so do the peers.
# The ratio is busbar's time to the peer's: its median over launches, and the 95 % CI by order statistics. A row is met if
# the upper end is at most 1.05, missed if the lower end is above it, else inconclusive: then twice as many launches run,
# up to 384.
# NP=2 ranks; SIZES="16 1024 32768 1048576" bytes per pair; CALLS=1000.
set -euo pipefail
cd "$(dirname "$0")/.."

launches=${1:-12}
if ! ((launches >= 12)); then echo "peers: at least 12 launches" >&2 && exit 1; fi
np=${NP:-2} calls=${CALLS:-1000}
read -ra sizes <<<"${SIZES:-16 1024 32768 1048576}"
peers=() work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${OSU_ALLTOALLV:-}" ]; then peers+=(osu); fi
if [ -n "${IMB_MPI1:-}" ]; then peers+=(imb); fi
if [ ${#peers[@]} = 0 ]; then
  echo "peers: set OSU_ALLTOALLV, IMB_MPI1 or both to the programs" >&2
  exit 1
fi
printf '%s\n' "${sizes[@]}" >"$work/lengths"

start() { OMPI_MPI_THREAD_LEVEL=3 scripts/mpirun.sh -np "$np" "$@" </dev/null; }

# busbar MODE FIELD prints the bytes per pair and the time in seconds of each size: of a list the mean.
busbar() {
  local size
  for size in "${sizes[@]}"; do
    rm -rf "$work/out"
    start bin/rank --quiet --backend mpi --collective alltoallv --imbalance even -d uint8 -c 0 -b $((size * np)) -e $((size * np)) \
      -n "$calls" -w 100 --mode "$1" --out "$work/out" >&2
    sed -n "s/.*\"status\":\"ok\".*\"$2\":\[*\([0-9.e,-]*\).*/\1/p" "$work/out"/profile_*.jsonl |
      awk -F, -v size="$size" '{ sum = 0; for (i = 1; i <= NF && $i != ""; i++) sum += $i; print size, sum / (i - 1) }'
  done
}

# Each prints the same of a peer, and of busbar measured in the same way.
osu() { for size in "${sizes[@]}"; do start "$OSU_ALLTOALLV" -m "$size:$size" -i "$calls" -x 100 -f -z50 | awk '/^[0-9]/ { print $1, $NF / 1e6 }'; done; }
osu_busbar() { busbar latency median_s; }
imb() { start "$IMB_MPI1" -npmin "$np" -iter "$calls" -iter_policy off -sync off -msglen "$work/lengths" Alltoallv | awk '$1 ~ /^[0-9]+$/ && NF == 5 && $1 > 0 { print $1, $4 / 1e6 }'; }
imb_busbar() { busbar throughput s; }

# table prints the ratios, and fails if a row is inconclusive.
table() {
  awk '
    # k(n): the k-th of n from both ends holds the median in at least 95 % of cases.
    function k(n,  i, sum, term) {
      term = 0.5 ^ n; sum = 0
      for (i = 0; i < n; i++) { sum += term; if (2 * sum > 0.05) return i; term *= (n - i) / (i + 1) }
    }
    { key = $1 " " $2; n[key]++; r[key, n[key]] = $3 / $4; if (n[key] == 1) order[++rows] = key }
    END {
      for (o = 1; o <= rows; o++) {
        key = order[o]; m = n[key]; split(key, part, " ")
        for (i = 2; i <= m; i++) for (j = i; j > 1 && r[key, j] < r[key, j - 1]; j--) { t = r[key, j]; r[key, j] = r[key, j - 1]; r[key, j - 1] = t }
        lo = r[key, k(m)]; hi = r[key, m + 1 - k(m)]; mid = (r[key, int((m + 1) / 2)] + r[key, int(m / 2) + 1]) / 2
        met = hi <= 1.05 ? "yes" : lo > 1.05 ? "no" : "inconclusive"
        if (met == "inconclusive") open = 1
        printf "| %s | %s B | %.3f (%.3f–%.3f) | %d | %s |\n", toupper(part[1]), part[2], mid, lo, hi, m, met
      }
      exit open
    }' "$work/pairs"
}

for ((done = 0; done < launches; )); do
  for ((i = done; i < launches; i++)); do
    for ((p = 0; p < ${#peers[@]}; p++)); do
      peer=${peers[(i + p) % ${#peers[@]}]}
      # The order changes: busbar first in every other pair of launches.
      if ((i / 2 % 2)); then "$peer" >"$work/theirs" && "${peer}_busbar" >"$work/ours"; else "${peer}_busbar" >"$work/ours" && "$peer" >"$work/theirs"; fi
      if [ "$(cut -d' ' -f1 "$work/ours")" != "$(cut -d' ' -f1 "$work/theirs")" ]; then
        echo "peers: the sizes of $peer and rank differ" >&2
        exit 1
      fi
      paste -d' ' "$work/ours" "$work/theirs" | awk -v peer="$peer" '{ print peer, $1, $2, $4 }' >>"$work/pairs"
    done
  done
  done=$launches
  if ! table >/dev/null && ((launches < 384)); then launches=$((2 * launches)); fi
done
echo "| peer | bytes per pair | ratio (95 % CI) | launches | at most 1.05 |"
echo "|---|---:|---|---:|---|"
table || echo "inconclusive after $launches launches" >&2
