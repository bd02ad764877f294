#!/usr/bin/env bash
# Builds the shim through which rank uses an MPI: mpi-shim.sh [MPICC…], by default with every mpicc found on PATH.
# Needs neither Go nor make. OUT is the folder of the result (lib), CFLAGS is added to the compiler's flags.
# The MPI family, and with it the name busbar-mpi-FAMILY.so, is found out from what was compiled. USAGE is what to type
# before the path of an mpicc, for messages.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
out=${OUT:-$root/lib}
usage=${USAGE:-make mpi-shim MPICC=}
flags=(-O2 -std=gnu11 -Wall -Wextra -fPIC -shared -fvisibility=hidden)
read -ra extra <<<"${CFLAGS:-}"
new='' log=''
trap 'rm -f "$new" "$log"' EXIT

fail() {
  printf 'mpi-shim: %s\n' "$@" >&2
  exit 1
}

# rpaths prints the option that makes the shim find its libmpi, for each library folder that mpicc names.
rpaths() {
  local shown word
  shown=$("$1" -show 2>/dev/null || "$1" -showme 2>/dev/null || true)
  for word in $shown; do
    case $word in
      -L*) case $shown in *"-rpath,${word#-L}"* | *"-rpath -Wl,${word#-L}"*) ;; *) printf '%s\n' "-Wl,-rpath,${word#-L}" ;; esac ;;
    esac
  done
}

build() {
  local mpicc=$1 rpath=() family missing
  command -v "$mpicc" >/dev/null ||
    fail "there is no program $mpicc here." \
      "Load the module of your MPI or install one (Debian, Ubuntu: libopenmpi-dev or libmpich-dev), or give the path of its mpicc:" \
      "${usage}/path/to/mpicc"
  mapfile -t rpath < <(rpaths "$mpicc")
  new=$(mktemp "$out/.busbar-mpi-XXXXXX")
  log=$(mktemp)
  if ! "$mpicc" "${flags[@]}" -Werror ${extra[@]+"${extra[@]}"} -o "$new" "$root"/mpi/shim/*.c ${rpath[@]+"${rpath[@]}"} -ldl >"$log" 2>&1; then
    # A compiler of another taste must not keep anyone from measuring, but its warnings are shown.
    "$mpicc" "${flags[@]}" ${extra[@]+"${extra[@]}"} -o "$new" "$root"/mpi/shim/*.c ${rpath[@]+"${rpath[@]}"} -ldl >"$log" 2>&1 || {
      cat "$log" >&2
      fail "$mpicc cannot compile the shim; what it said is above."
    }
    cat "$log" >&2
  fi
  family=$(grep -ao 'busbar family: [a-z]*' "$new" | sed 's/.*: //;q' || true)
  [ -n "$family" ] || fail "$mpicc made a file without the mark of the shim."
  missing=$(ldd "$new" 2>/dev/null | awk '/not found/ { print $1 }' || true)
  chmod 755 "$new"
  mv "$new" "$out/busbar-mpi-$family.so"
  rm -f "$log"
  printf '%s: made with %s\n' "${out#"$PWD"/}/busbar-mpi-$family.so" "$(command -v "$mpicc")"
  if [ -n "$missing" ]; then
    printf 'mpi-shim: the loader does not find %s; set LD_LIBRARY_PATH (or load the module of this MPI) where rank runs.\n' \
      "${missing//$'\n'/, }" >&2
  fi
}

compilers=("$@")
if [ $# -eq 0 ]; then
  seen=" "
  for name in mpicc.openmpi mpicc.mpich mpicc; do
    path=$(command -v "$name") || continue
    real=$(readlink -f "$path")
    case $seen in *" $real "*) continue ;; esac
    seen+="$real "
    compilers+=("$path")
  done
fi
[ ${#compilers[@]} -gt 0 ] ||
  fail "no mpicc on PATH. Load the module of your MPI or install one (Debian, Ubuntu: libopenmpi-dev or libmpich-dev)," \
    "or give the path of its mpicc: ${usage}/path/to/mpicc"
mkdir -p "$out"
for mpicc in "${compilers[@]}"; do
  build "$mpicc"
done
