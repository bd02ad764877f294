#!/usr/bin/env bash
# mpi-shim.sh [MPICC…] builds the shim through which rank uses an MPI, by default with every mpicc on PATH.
# It requires neither Go nor make. OUT is the output folder (lib); CFLAGS adds flags. The compiled file contains the MPI
# family, which gives the name busbar-mpi-FAMILY.so. USAGE is the command before the path of an mpicc, for messages.
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

# rpaths prints an -rpath option for each library folder of mpicc, so that the shim finds its libmpi.
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
    fail "$mpicc not found." \
      "Load the module of your MPI or install one (Debian, Ubuntu: libopenmpi-dev or libmpich-dev), or give the path of its mpicc:" \
      "${usage}/path/to/mpicc"
  mapfile -t rpath < <(rpaths "$mpicc")
  new=$(mktemp "$out/.busbar-mpi-XXXXXX")
  log=$(mktemp)
  if ! "$mpicc" "${flags[@]}" -Werror ${extra[@]+"${extra[@]}"} -o "$new" "$root"/mpi/shim/*.c ${rpath[@]+"${rpath[@]}"} -ldl >"$log" 2>&1; then
    # Warnings of another compiler do not stop the build; they are printed.
    "$mpicc" "${flags[@]}" ${extra[@]+"${extra[@]}"} -o "$new" "$root"/mpi/shim/*.c ${rpath[@]+"${rpath[@]}"} -ldl >"$log" 2>&1 || {
      cat "$log" >&2
      fail "$mpicc cannot compile the shim; its message is above."
    }
    cat "$log" >&2
  fi
  family=$(grep -ao 'busbar family: [a-z]*' "$new" | sed 's/.*: //;q' || true)
  [ -n "$family" ] || fail "the file that $mpicc made does not name an MPI family."
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
