#!/usr/bin/env bash
# Builds the image of the Containerfile and measures in it, as root and without an image registry:
#   test.sh [amd64|arm64]      default: the architecture of this machine
# The base image is a Debian of debootstrap; the image with Go has this machine's Go. Another architecture requires
# qemu-user-static with its binfmt handler. Images are in .tools/image. Exit code 77: this machine does not allow it.
set -euo pipefail
cd "$(dirname "$0")/../.."
own=$(dpkg --print-architecture)
arch=${1:-$own}
top=$PWD/.tools/image root=$PWD/.tools/image/root-$arch
export BUILDAH_ISOLATION=chroot # needs no namespaces of its own

fail() {
  printf 'container/test.sh: %s\n' "$@" >&2
  exit 1
}

b() { buildah --root "$top/storage" --runroot "$top/run" "$@"; }

# base makes the root folder of a Debian once, from the mirror that apt uses.
base() {
  local suite mirror
  [ ! -d "$root" ] || return 0
  # shellcheck disable=SC1091 # every Debian has it
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016 # the field is apt's
  mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" "Component: main" | sed -n 1p)
  rm -rf "$root.new"
  debootstrap --arch="$arch" --variant=minbase "$suite" "$root.new" ${mirror:+"$mirror"} >"$top/debootstrap.log" 2>&1 || {
    tail -n 20 "$top/debootstrap.log" >&2
    fail "debootstrap failed; its log is $top/debootstrap.log"
  }
  rm -rf "$root.new"/var/cache/apt/archives/*.deb
  mv "$root.new" "$root"
}

# image NAME ARCHITECTURE [FOLDER TARGET]… makes an image of folders.
image() {
  local name=$1 container
  container=$(b from --arch "$2" scratch)
  b config --arch "$2" --env PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  if [ "$2" = arm64 ]; then b config --variant v8 "$container"; fi
  shift 2
  while [ $# -gt 0 ]; do
    b add --quiet "$container" "$1" "$2" >/dev/null
    shift 2
  done
  b commit --quiet --rm "$container" "$name" >/dev/null
}

build() {
  local go
  go=$(go env GOROOT)
  image "localhost/base-$arch" "$arch" "$root" /
  root=$top/root-$own arch=$own base
  image localhost/go "$own" "$top/root-$own" / "$go" /usr/local/go /etc/ssl/certs /etc/ssl/certs
  b build --quiet --platform "linux/$arch" --build-arg "BUILDPLATFORM=linux/$own" --build-arg "TARGETPLATFORM=linux/$arch" \
    --build-arg GO=localhost/go --build-arg "BASE=localhost/base-$arch" --build-arg VERSION=test \
    --volume "$(go env GOMODCACHE):/root/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" \
    --file deploy/container/Containerfile --tag "localhost/busbar-$arch" . >"$top/build-$arch.log" 2>&1 || {
    tail -n 30 "$top/build-$arch.log" >&2
    fail "the build failed; its log is $top/build-$arch.log"
  }
}

# checks runs in a container: each backend with two ranks, the ranks of a pod, and sshd for the MPI Operator.
# shellcheck disable=SC2317 # called by its text
checks() {
  set -euo pipefail
  cd /tmp
  local sweep=(--collective all_reduce -b 8 -e 1K -n 5 -w 1 --budget 50ms --quiet) backend
  for backend in mpi gloo nccl; do
    case $backend in nccl) sweep+=(--simulate) ;; esac
    timeout 120 mpirun -np 2 --oversubscribe rank --backend "$backend" "${sweep[@]}" --out "$backend"
    post show "$backend" >/dev/null
  done
  JOB_COMPLETION_INDEX=0 PODS=1 RANKS=2 MASTER_ADDR=127.0.0.1 timeout 120 pod.sh rank --backend nccl "${sweep[@]}" --out pod
  post show pod >/dev/null
  if compgen -G '/etc/ssh/ssh_host_*'; then return 1; fi
  ssh-keygen -A >/dev/null && /usr/sbin/sshd -t
  # The image has no CUDA.
  [ -z "$(find / -xdev \( -name 'libcuda*' -o -name 'libnccl*' \) -not -path '*/rehearsal/*')" ]
  rank --version
}

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then echo "it requires root and mount namespaces"; exit 77; fi
scripts/deps.sh image
mkdir -p "$top"
base
if ! chroot "$root" true 2>/dev/null; then echo "this machine does not run programs for $arch (qemu-user-static with binfmt)"; exit 77; fi
build
container=$(b from --arch "$arch" "localhost/busbar-$arch")
trap 'b rm "$container" >/dev/null; b rmi --all --force >/dev/null 2>&1' EXIT
b run "$container" bash -c "$(declare -f checks); checks" >"$top/checks-$arch.log" 2>&1 || {
  cat "$top/checks-$arch.log" >&2
  fail "a check in the image failed"
}
echo "the image for $arch measures with MPI, Gloo and simulated NCCL: $(b images --format '{{.Size}}' "localhost/busbar-$arch") with its base, $(b images --format '{{.Size}}' "localhost/base-$arch")"
