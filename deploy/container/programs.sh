#!/usr/bin/env bash
# Compiles rank and post into bin/ for amd64 or arm64, as root in a Debian with Go: programs.sh ARCHITECTURE VERSION|unknown
set -euo pipefail
cd "$(dirname "$0")/../.."
arch=$1 version=$2
[ "$version" != unknown ] || version=$(<VERSION)
packages=(gcc libc6-dev)
case $arch in
  amd64) triplet=x86_64-linux-gnu ;;
  arm64) triplet=aarch64-linux-gnu ;;
  *)
    echo "programs.sh: architecture $arch is not supported; use amd64 or arm64" >&2
    exit 1
    ;;
esac
if [ "$arch" != "$(dpkg --print-architecture)" ]; then packages=("gcc-${triplet//_/-}" "libc6-dev-$arch-cross"); fi
apt-get update
apt-get install -y --no-install-recommends "${packages[@]}"
export GOARCH=$arch CC=$triplet-gcc
flags=(-trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version")
CGO_ENABLED=1 go build "${flags[@]}" -o bin/rank ./rank
CGO_ENABLED=0 go build "${flags[@]}" -o bin/post ./post
