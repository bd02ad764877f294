#!/usr/bin/env bash
# Installs missing dependencies of busbar: `deps.sh` to build and run, `deps.sh test` also for the tests,
# `deps.sh bundle` to pack and test the bundle, `deps.sh cross` to build for aarch64, `deps.sh release` to build and test a
# release, `deps.sh image` to build and test the container image, `deps.sh slurm` for the Slurm of slurm/cluster,
# `deps.sh torchrun` for PyTorch.
# As root with apt it installs; otherwise it prints the commands for common systems and stops with status 1.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly LINT_VERSION=v2.5.0
readonly GOTESTSUM_VERSION=v1.13.0
GO=${GO:-go}

have() { command -v "$1" >/dev/null 2>&1; }

# missing NAME… prints the names that are not commands on this machine.
missing() {
  local c
  for c in "$@"; do have "$c" || printf '%s ' "$c"; done
}

# descriptions lists missing dependencies for messages, packages the Debian packages that provide them.
packages=()
descriptions=()
need() { # need "what" "packages" CHECK…
  local what=$1 names=$2
  shift 2
  "$@" && return
  descriptions+=("$what")
  read -ra names <<<"$names"
  packages+=("${names[@]}")
}
all_of() { [ -z "$(missing "$@")" ]; }
have_pip() { python3 -m pip --version >/dev/null 2>&1; }
# have_gloo reports whether the C++ compiler finds the headers of Gloo.
have_gloo() { have "${CXX:-g++}" && "${CXX:-g++}" -E -x c++ -include gloo/config.h /dev/null >/dev/null 2>&1; }
# have_pmix checks for a link that Slurm opens, which only the -dev package of PMIx contains.
have_pmix() { compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' >/dev/null || compgen -G '/usr/lib/*/libpmix.so' >/dev/null; }
any_mpi() { have mpirun && { have mpicc || have mpicc.openmpi || have mpicc.mpich; }; }

check_dependencies() {
  packages=()
  descriptions=()
  need "a C compiler" "gcc libc6-dev" have "${CC:-cc}"
  if [ "$1" = test ]; then
    need "Open MPI" "openmpi-bin libopenmpi-dev" all_of mpicc.openmpi mpirun.openmpi
    need "MPICH" "mpich libmpich-dev" all_of mpicc.mpich mpirun.mpich
    need "Gloo with its headers and a C++ compiler" "g++ libgloo-dev" have_gloo
    need "shellcheck" "shellcheck" have shellcheck
    need "valgrind" "valgrind" have valgrind
    need "Python with pip" "python3-pip" have_pip
    need "Chromium, which tests the page of a report" "chromium" have chromium
    need "curl" "curl" have curl
    need "ip and tc" "iproute2" all_of ip tc
    need "systemd-analyze, which checks units" "systemd" have systemd-analyze
  elif [ "$1" = cross ]; then
    need "a cross compiler for aarch64" "gcc-aarch64-linux-gnu g++-aarch64-linux-gnu" all_of aarch64-linux-gnu-gcc aarch64-linux-gnu-g++
    need "qemu for aarch64" "qemu-user-static" have qemu-aarch64-static
    need "dpkg" "dpkg" have dpkg-deb
  elif [ "$1" = bundle ] || [ "$1" = release ]; then
    need "Open MPI" "openmpi-bin libopenmpi-dev" all_of mpicc.openmpi mpirun.openmpi
    need "MPICH" "mpich libmpich-dev" all_of mpicc.mpich mpirun.mpich
    need "binutils and patchelf" "binutils patchelf" all_of readelf objcopy patchelf
    need "debootstrap" "debootstrap" have debootstrap
    [ "$1" = release ] || return 0
    need "Gloo with its headers and a C++ compiler" "g++ libgloo-dev" have_gloo
    need "Python with pip" "python3-pip" have_pip
  elif [ "$1" = torchrun ]; then
    need "PyTorch" "python3-torch" /usr/bin/python3 -c 'import torch.distributed.run'
  elif [ "$1" = image ]; then
    need "buildah" "buildah" have buildah
    need "debootstrap" "debootstrap" have debootstrap
  elif [ "$1" = slurm ]; then
    need "Slurm with munge" "slurm-wlm munge" all_of slurmctld slurmd sbatch srun munged
    need "PMIx for Slurm" "libpmix-dev" have_pmix
    need "ip, namespaces and pgrep" "iproute2 util-linux procps" all_of ip unshare nsenter setpriv chrt pgrep pkill
    need "bindfs" "bindfs" have bindfs
  else
    need "an MPI with its compiler (mpicc) and launcher (mpirun)" "openmpi-bin libopenmpi-dev" any_mpi
  fi
}

print_commands() {
  local for_tests=$1
  {
    echo "Missing: $(join "${descriptions[@]}"). Install it, then run make again:"
    echo "  Debian, Ubuntu:  sudo apt-get install ${packages[*]}"
    [[ $for_tests != @(slurm|torchrun) ]] || exit 1
    echo "  RHEL, Rocky:     sudo dnf install gcc openmpi openmpi-devel && module load mpi/openmpi-x86_64"
    echo "  SUSE:            sudo zypper install gcc openmpi4 openmpi4-devel && module load gnu-openmpi"
    echo "  module system:   module avail mpi    then    module load gcc openmpi    (the names differ from site to site)"
    if [ "$for_tests" = test ]; then
      echo "The tests also require MPICH (mpich, mpich-devel), Gloo, ShellCheck, valgrind, pip, Chromium, curl"
      echo "and ip (iproute)."
      echo "They use Debian's names of the two MPIs: mpicc.openmpi, mpirun.openmpi, mpicc.mpich and mpirun.mpich."
    fi
  } >&2
  exit 1
}

join() {
  local out=$1 w
  shift
  for w in "$@"; do out+=", $w"; done
  printf '%s' "$out"
}

# apt installs packages without starting their daemons.
apt() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ] && [ -d ${policy%/*} ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
  fi
  apt_install "$@"
)

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    --no-install-recommends install "$@" </dev/null
}

install() {
  echo "installing with apt: $* (for $(join "${descriptions[@]}"))"
  apt "$@" >/dev/null 2>&1 && return
  # The usual cause is a missing or old package list: update it and retry once.
  local log
  log=$(mktemp)
  { apt-get -qq update || true; } </dev/null >"$log" 2>&1
  if ! apt "$@" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "apt-get could not install: $*" >&2
    exit 1
  fi
  rm -f "$log"
}

# gloo installs Gloo where apt can; only the backend gloo requires it.
gloo() {
  if have_gloo || [ "$(id -u)" != 0 ] || ! have apt-get; then return; fi
  echo "installing with apt: g++ libgloo-dev (for the backend gloo)"
  apt g++ libgloo-dev >/dev/null 2>&1 || echo "apt cannot install them; only the backend gloo requires them"
}

# need_go checks for Go. It installs nothing: Debian's Go is too old.
need_go() {
  local required found=
  required=$(sed -n 's/^go //p' go.mod)
  if have go; then
    found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
    found=${found#go}
    if [ -n "$found" ] && [ "$(printf '%s\n' "$required" "$found" | sort -V | sed -n 1p)" = "$required" ]; then return; fi
    # Go 1.21 or later downloads the required version itself unless GOTOOLCHAIN is local.
    if [ "$(go env GOTOOLCHAIN 2>/dev/null)" != local ] && go version >/dev/null 2>&1; then return; fi
  fi
  {
    echo "Missing: Go $required or later${found:+ (found $found)}. Packages of distributions are often older; install it:"
    echo "  any Linux:       unpack the archive from Go's download page:  sudo tar -C /usr/local -xzf go$required.linux-amd64.tar.gz"
    echo "                   and put it on PATH:  export PATH=\$PATH:/usr/local/go/bin"
    echo "  module system:   module avail go    then    module load go"
  } >&2
  go_missing=1
}

# linter installs the pinned versions of golangci-lint and gotestsum where check.sh searches them.
linter() {
  PATH=$PWD/.tools/bin:$PATH:$("$GO" env GOPATH)/bin
  [[ $(gotestsum --version 2>/dev/null) == *"$GOTESTSUM_VERSION"* ]] ||
    GOBIN=$PWD/.tools/bin "$GO" install "gotest.tools/gotestsum@$GOTESTSUM_VERSION"
  [[ $(golangci-lint version 2>/dev/null) != *" version ${LINT_VERSION#v} "* ]] || return 0
  echo "building golangci-lint $LINT_VERSION into .tools/bin (a minute or two, once)"
  GOBIN=$PWD/.tools/bin "$GO" install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$LINT_VERSION"
}

main() {
  local what=${1:-run} go_missing=
  need_go
  check_dependencies "$what"
  if [ ${#packages[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! have apt-get; then print_commands "$what"; fi
    install "${packages[@]}"
    check_dependencies "$what"
    [ ${#descriptions[@]} -eq 0 ] || print_commands "$what"
  fi
  [ -z "$go_missing" ] || exit 1
  if [ "$what" = run ]; then gloo; fi
  if [ "$what" = test ]; then linter; fi
}

main "$@"
