#!/usr/bin/env bash
# Tests the packed bundle:
#   bundle-test.sh moved   in a new folder with a space in its name, an empty environment, and with this machine's MPICH
#   bundle-test.sh bare    in a root folder with only Debian's base packages, without network, as root and another user
# bare requires root. It creates the root folder .tools/bare once; BARE_ROOT names another, such as that of an older
# system. Without arguments it runs both, and skips bare with a message where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/lib/bare.sh
. scripts/lib/bare.sh
here=$PWD
root=$(realpath -m "${BARE_ROOT:-.tools/bare}")
bundle=$({ find dist -name "busbar-*-linux-$(uname -m).tar.gz" 2>/dev/null || true; } | sort | tail -n 1)
folder=''
trap 'rm -rf ${folder:+"$folder"}' EXIT

fail() {
  printf 'bundle-test: %s\n' "$@" >&2
  exit 1
}

# try runs one command of the bundle in its folder, and prints its output if it fails.
try() {
  local log=$HOME/log
  if ! timeout 120 "$@" </dev/null >"$log" 2>&1; then
    printf 'bundle-test: failed as %s in %s: %s\n' "$(id -un)" "$PWD" "$*" >&2
    cat "$log" >&2
    return 1
  fi
}

# check_mpi FOLDER PLACE fails unless every results file in FOLDER records an MPI library under PLACE.
check_mpi() {
  local file
  for file in "$1"/*.jsonl; do
    grep -q "\"mpi\":{[^}]*\"path\":\"$2/" "$file" || {
      printf 'bundle-test: %s was not made with an MPI under %s:\n%s\n' "$file" "$2" "$(grep -o '"mpi":{[^}]*}' "$file")" >&2
      return 1
    }
  done
}

# checks runs in the folder of the bundle with a new HOME; of this script it has only the functions.
checks() {
  set -euo pipefail
  local out=$HOME/results sweep=(-b 8 -e 1K -f 2 --quiet --budget 50ms)
  try ./busbar-run -np 2 --backend mpi "${sweep[@]}" --out "$out"
  try ./busbar-run -np 4 --backend mpi "${sweep[@]}" --out "$out"
  try ./busbar-run -np 3 --bind-to none -- --backend mpi --collective all_reduce "${sweep[@]}" --out "$out"
  try bin/rank --backend mpi --collective all_reduce "${sweep[@]}" --out "$out"
  check_mpi "$out" "$PWD/openmpi"
  if [ -d lib/rehearsal ]; then
    try ./busbar-run -np 2 --rehearse --backend nccl --path "${sweep[@]}" --out "$HOME/rehearsed"
  fi
  if [ -e lib/busbar-gloo.so ]; then
    try ./busbar-run -np 2 --backend gloo --collective all_reduce "${sweep[@]}" --out "$HOME/gloo"
  fi
  cd "$HOME"
  try "$OLDPWD/bin/post" merge "$out"
  try "$OLDPWD/bin/post" plot "$out"
  ls "$out"/merged.csv "$out"/plots/*.png >/dev/null
}

# isolated runs checks without the caller's environment. Settings of another Open MPI must have no effect.
isolated() {
  "$@" env -i HOME="$HOME" PATH=/usr/bin:/bin OPAL_PREFIX=/nowhere OMPI_MCA_pml=ucx OMPI_MCA_btl=openib \
    bash -c "$(declare -f try check_mpi checks); checks"
}

unpack() {
  mkdir -p "$1/home"
  tar -xzf "$bundle" -C "$1" --strip-components=1
}

moved() {
  folder=$(mktemp -d)
  unpack "$folder/first"
  mv "$folder/first" "$folder/a folder"
  cd "$folder/a folder"
  HOME="$PWD/home" isolated
  # Switch to the MPI of this machine, and back.
  export HOME=$PWD/home
  local out=$HOME/site
  try ./build-mpi-shim mpicc.mpich
  try ./busbar-run -np 2 --backend mpi --collective all_reduce -b 8 -e 8 --quiet --out "$out"
  check_mpi "$out" /usr/lib
  try ./build-mpi-shim --own
  try ./busbar-run -np 2 --backend mpi --collective all_reduce -b 8 -e 8 --quiet --out "$out/own"
  check_mpi "$out/own" "$PWD/openmpi"
  cd "$here"
  echo "the bundle runs from a moved folder, and with this machine's MPICH"
}

# within runs in the namespaces of the bare root. They have only the loopback interface, and their mounts end with them.
within() {
  ip link set lo up
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  unpack "$root/tmp/a folder"
  mkdir -m 777 "$root/tmp/other"
  # chroot starts at the top of the new root, so env changes to the folder.
  HOME=/tmp/other isolated chroot --userspec=65534:65534 "$root" env -C "/tmp/a folder"
  HOME="/tmp/a folder/home" isolated chroot "$root" env -C "/tmp/a folder"
  chroot "$root" bash -c '! command -v mpirun && ! ls /usr/lib/*/libmpi.so* 2>/dev/null' ||
    { echo "bundle-test: the bare root is not bare: it has an MPI" >&2; return 1; }
}

bare() {
  [ "$(id -u)" = 0 ] || fail "bare requires root: sudo scripts/bundle-test.sh bare"
  [ -z "${BARE_ROOT:-}" ] || [ -d "$root" ] || fail "BARE_ROOT: folder $root does not exist"
  bare_root "$root"
  unshare --mount --net --pid --ipc --fork --kill-child bash -c "set -euo pipefail
    root='$root' bundle='$here/$bundle'
    $(declare -f try check_mpi checks isolated unpack within); within"
  # shellcheck disable=SC1091 # every Linux has it
  echo "the bundle runs in a bare root ($(. "$root/etc/os-release" && echo "$PRETTY_NAME")) without network, as root and as another user"
}

[ -n "$bundle" ] || fail "dist/busbar-*-linux-$(uname -m).tar.gz not found; run make bundle"
if [ $# = 0 ]; then
  set -- moved
  if can_be_bare; then set -- moved bare; else echo "bare skipped: it requires root and namespaces (unshare)"; fi
fi
for what in "$@"; do
  case $what in
    moved) moved ;;
    bare)
      scripts/deps.sh bundle
      bare
      ;;
    *) fail "usage: bundle-test.sh [moved] [bare]" ;;
  esac
done
