#!/usr/bin/env bash
# Builds the release of VERSION into dist/, from nothing that was built before; docs/releasing.md lists the files.
# Building the same commit again gives the same bytes, in any folder. A tree with changes or new files has +dirty in its version.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C TZ=UTC

# shellcheck source=scripts/lib/target.sh
. scripts/lib/target.sh
GO=${GO:-go}
work=.tools/release
version=$(<VERSION)
if [ -n "$(git status --porcelain 2>/dev/null)" ]; then version+=+dirty; fi
set_epoch
export VERSION=$version

# go_build OS/ARCHITECTURE CGO PROGRAM FOLDER builds rank or post.
go_build() {
  GOOS=${1%/*} GOARCH=${1#*/} CGO_ENABLED=$2 CC=cc \
    "$GO" build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" -o "$4/$3" "./$3"
}

# programs ARCH builds rank, post and the libraries of rank into $work/ARCH.
programs() (
  ARCH=$1
  # shellcheck source=scripts/lib/target.sh
  . scripts/lib/target.sh
  export ARCH OUT=$work/$arch/lib CC=cc CXX=g++ CFLAGS=-ffile-prefix-map=$PWD=. CXXFLAGS=-ffile-prefix-map=$PWD=.
  CFLAGS='' go_build "linux/$goarch" 1 rank "$work/$arch/bin"
  CFLAGS='' go_build "linux/$goarch" 0 post "$work/$arch/bin"
  scripts/mpi-shim.sh mpicc.openmpi mpicc.mpich
  scripts/gloo-shim.sh
  scripts/nccl-profiler.sh
  OUT=$OUT/rehearsal scripts/rehearsal.sh
  FROM=$work/$arch scripts/bundle.sh
)

# licenses FOLDER PACKAGE… copies busbar's licence and those of the Go code in the packages.
licenses() {
  mkdir -p "$1"
  cp LICENSE "$1/"
  go_licenses "$1/go" "${@:2}"
}

# post_files PLATFORM PROGRAM TAGS packs post alone: an archive, and a wheel for these platforms of Python.
post_files() {
  local name=post-$version-$1 folder=$work/post
  rm -rf "$folder"
  mkdir -p "$folder/$name"
  cp "$2" "$folder/$name/post"
  GOOS=${1%-*} GOARCH=${1#*-} CGO_ENABLED=0 licenses "$folder/$name/licenses" ./post
  archive "$folder" "$name" "dist/$name.tar.gz"
  "$work/tool" wheel "$version" "$3" "$2" "$folder/$name/licenses" "dist/busbar-$version-py3-none-$3.whl"
}

# deb ARCH packs a Debian package. Its programs have other names on PATH, since rank and post are too general.
deb() (
  ARCH=$1
  # shellcheck source=scripts/lib/target.sh
  . scripts/lib/target.sh
  top=$work/deb-$goarch
  mkdir -p "$top"/{DEBIAN,usr/bin,usr/lib/busbar,usr/share/doc/busbar}
  cp -r "$work/$arch/bin" "$work/$arch/lib" "$top/usr/lib/busbar/"
  ln -s ../lib/busbar/bin/post "$top/usr/bin/busbar"
  ln -s ../lib/busbar/bin/rank "$top/usr/bin/busbar-rank"
  cp LICENSE "$top/usr/share/doc/busbar/copyright"
  GOARCH=$goarch CGO_ENABLED=1 licenses "$top/usr/share/doc/busbar/licenses" ./rank ./post
  cat >"$top/DEBIAN/control" <<TEXT
Package: busbar
Version: $version
Architecture: $goarch
Maintainer: The busbar authors
Section: science
Priority: optional
Depends: libc6 (>= 2.34)
Suggests: openmpi-bin | mpich, libgloo0
Installed-Size: $(du -sk --apparent-size "$top/usr" | cut -f1)
Description: benchmark and diagnostic tool for collective communication
 busbar-rank measures MPI, NCCL and Gloo; it is the program rank of the
 documentation. busbar analyzes results, NCCL logs and traces; it is the
 program post.
TEXT
  dpkg-deb --root-owner-group -Zgzip --build "$top" "dist/busbar_${version}_$goarch.deb" >/dev/null
)

# bill writes the SBOM of all programs and bundles.
bill() {
  local files=() a
  for a in x86_64 aarch64; do
    files+=("rank-linux-$a=$work/$a/bin/rank" "post-linux-$a=$work/$a/bin/post")
    tar -xzf "dist/busbar-$version-linux-$a.tar.gz" -C "$work/$a" --strip-components=3 "busbar-$version/licenses/debian/VERSIONS"
  done
  files+=("post-darwin-arm64=$work/darwin/post" "bundle-x86_64:amd64=$work/x86_64/VERSIONS" "bundle-aarch64:arm64=$work/aarch64/VERSIONS")
  "$work/tool" sbom "$version" "dist/busbar-$version.cdx.json" "${files[@]}"
}

[ "$(uname -m)" = x86_64 ] || { echo "release: only an x86_64 machine builds a release" >&2 && exit 1; }
scripts/deps.sh release
scripts/deps.sh cross
rm -rf "$work" dist
mkdir -p "$work" dist
"$GO" build -o "$work/tool" ./internal/tools/release
programs x86_64
programs aarch64
go_build darwin/arm64 0 post "$work/darwin"
post_files linux-amd64 "$work/x86_64/bin/post" manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64
post_files linux-arm64 "$work/aarch64/bin/post" manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64
post_files darwin-arm64 "$work/darwin/post" macosx_12_0_arm64
deb x86_64
deb aarch64
bill
(cd dist && sha256sum -- * >.sums && mv .sums SHA256SUMS)
ls -l dist
