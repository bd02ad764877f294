#!/usr/bin/env bash
# Makes .tools/aarch64, with which this x86_64 machine builds for aarch64: root/ has Debian's arm64 packages of MPI and
# Gloo, unpacked; bin/ has compilers, objcopy and ldd for them. It needs no root and does not change the machine's own
# packages. `rm -r .tools/aarch64` if those become newer.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly PACKAGES=(libopenmpi-dev openmpi-bin libmpich-dev libgloo-dev)
readonly triplet=aarch64-linux-gnu
to=.tools/aarch64
new=$PWD/$to.new

fail() {
  printf 'aarch64: %s\n' "$@" >&2
  exit 1
}

# apt runs apt-get for arm64 with its own lists and no installed packages.
apt() {
  apt-get -qq -y -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
    -o Dir::State="$new/apt" -o Dir::State::status="$new/apt/status" -o Dir::Cache="$new/apt" -o Acquire::Retries=3 \
    --no-install-recommends "$@" </dev/null
}

download() {
  mkdir -p "$new"/apt/{lists,archives}/partial
  : >"$new/apt/status"
  { apt update && apt --download-only install "${PACKAGES[@]}"; } >"$new/log" 2>&1 || {
    tail -n 20 "$new/log" >&2
    fail "apt cannot download Debian's packages for arm64"
  }
}

# unpack also writes dpkg's list of files of each package, which the licence notices use.
unpack() {
  local root=$new/root package name
  mkdir -p "$root"/usr/{lib,bin,sbin} "$root/var/lib/dpkg"/{info,updates}
  ln -s usr/lib usr/bin usr/sbin "$root/"
  for package in "$new"/apt/archives/*.deb; do
    name=$(dpkg-deb -f "$package" Package)
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --no-same-owner --keep-directory-symlink
    dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$root/var/lib/dpkg/info/$name.list"
    { dpkg-deb -f "$package" && printf 'Status: install ok installed\n\n'; } >>"$root/var/lib/dpkg/status"
  done
  rm -r "$new/apt"
}

# program NAME WORDS… makes the program NAME, which runs WORDS with $root set.
# shellcheck disable=SC2016 # the program expands the variables
program() {
  printf '#!/bin/sh\nroot=$(cd "${0%%/*}/../root" && pwd)\n%s\n' "$2" >"$new/bin/$1"
  chmod 755 "$new/bin/$1"
}

# The paths of ldd begin with those of root.
# shellcheck disable=SC2016 # the programs expand the variables
programs() {
  local name gcc='exec /usr/bin/'$triplet'-gcc --sysroot="$root"' lib='"$root"/usr/lib/'$triplet
  mkdir -p "$new/bin"
  for name in cc gcc; do program $name "$gcc"' "$@"'; done
  program g++ 'exec /usr/bin/'$triplet'-g++ --sysroot="$root" "$@"'
  program objcopy 'exec /usr/bin/'$triplet'-objcopy "$@"'
  program mpicc.openmpi "$gcc -I$lib/openmpi/include -L$lib/openmpi/lib -Wl,-rpath,/usr/lib/$triplet/openmpi/lib"' "$@" -lmpi'
  program mpicc.mpich "$gcc"' -I"$root"/usr/include/'$triplet'/mpich "$@" -lmpich'
  program ldd 'qemu-aarch64-static -L "$root" "$root/lib/ld-linux-aarch64.so.1" --list "$1" | sed "/ld-linux/d; s,=> \(/usr\)*/lib,=> $root\1/lib,"'
}

scripts/deps.sh cross
rm -rf "$new" "$to"
download
unpack
programs
mv "$new" "$to"
