#!/usr/bin/env bash
# Tests the release in dist/, which `make release` builds:
#   release-test.sh same      builds it again from a copy of the sources, without Go's cache, with another folder and
#                             umask: all files must be equal, byte for byte
#   release-test.sh install   installs and runs each file in a bare Debian without network: those for arm64 under qemu;
#                             of the program for macOS it reads only the header. Requires root
# Without arguments it runs both.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/lib/bare.sh
. scripts/lib/bare.sh
here=$PWD
folder=''
trap 'rm -rf ${folder:+"$folder"}' EXIT

fail() {
  printf 'release-test: %s\n' "$@" >&2
  exit 1
}

# --- two builds ------------------------------------------------------------------------------------------------------

same() {
  local epoch
  folder=$(mktemp -d)
  mkdir -p "$folder/copy/.tools"
  git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$folder/copy"
  ln -s "$here/.tools/aarch64" "$folder/copy/.tools/"
  # The copy has no git, from which the first build has both.
  echo "$version" >"$folder/copy/VERSION"
  epoch=$(date -d "$(sed -n 's/.*"timestamp": "\(.*\)".*/\1/p' "dist/busbar-$version.cdx.json")" +%s)
  (
    umask 077
    cd "$folder/copy"
    GOCACHE=$folder/cache SOURCE_DATE_EPOCH=$epoch scripts/release.sh >"$folder/log" 2>&1
  ) || {
    tail -n 20 "$folder/log" >&2
    fail "the second build failed"
  }
  diff -r dist "$folder/copy/dist" || fail "two builds of the release differ"
  echo "two builds of the release are equal: $(find dist -type f | wc -l) files"
}

# --- installation ----------------------------------------------------------------------------------------------------

# try runs a command and prints its output if it fails.
try() {
  if ! timeout 300 "$@" </dev/null >"$log" 2>&1; then
    printf 'release-test: failed: %s\n' "$*" >&2
    cat "$log" >&2
    return 1
  fi
}

# in_root runs a program of the bare root; words VARIABLE=VALUE may precede it.
in_root() {
  local variables=(HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin)
  while [[ $1 == [A-Z_]*=* ]]; do
    variables+=("$1")
    shift
  done
  try env -i "${variables[@]}" chroot "$root" ${emulator:+"$emulator"} "$@"
}

# printed WORD fails unless the last command printed it.
printed() { grep -q -F -- "$1" "$log" || { echo "release-test: \"$1\" is missing in:" && cat "$log" && return 1; } >&2; }

# check_rank PROGRAM: its help, its plan, a world of one, and simulated NCCL with two ranks that meet over TCP.
check_rank() {
  local rank=$1 out=/tmp/results pids=() id
  local sweep=(--simulate --backend nccl --collective all_reduce -b 8 -e 1K -f 2 --quiet --budget 20ms)
  in_root "$rank" --version
  printed "$version"
  in_root "$rank" --help
  in_root "$rank" --list "${sweep[@]}"
  rm -rf "${root:?}$out"
  in_root "$rank" "${sweep[@]}" --out "$out/one"
  for id in 0 1; do
    log=$log.$id in_root RANK=$id WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 \
      "$rank" --bootstrap tcp "${sweep[@]}" --out "$out/two" &
    pids+=($!)
  done
  for id in "${pids[@]}"; do wait "$id"; done
  for id in one/*world1 two/*world2; do
    compgen -G "$root$out/$id*.jsonl" >/dev/null || { echo "release-test: $rank wrote no $id*.jsonl" >&2 && return 1; }
  done
}

# check_post PROGRAM runs the commands of post on the examples and keeps all output in /tmp/post of the root.
check_post() {
  local post=$1 e=/tmp/examples out=/tmp/post name
  local -A commands=(
    [any]="$e/gpu-h200/hang/rank0.log"
    [show]="show --include-simulated $e/cpu-quick $e/gpu-h200 $e/step-cpu"
    [json]="show --format json $e/step-cpu"
    [report]="report -o $out/report $e/h100-two-nodes"
    [plot]="plot -o $out/plots $e/cpu-quick"
    [merge]="merge -o $out/merged $e/cpu-quick"
    [compare]="compare $e/gpu-h200/compare/nccl-tests $e/gpu-h200/compare/rank"
    [import]="import -o $out/imported $e/osu.txt --set world=2"
    [export]="export --format csv,json,nccl-tests,prometheus -o $out/exported $e/cpu-quick"
    [log]="log $e/gpu-h200/hang"
    [timeline]="timeline $e/ddp-timeline"
    [campaign]="campaign show /opt/busbar-$version/slurm/campaign.yaml"
    [explain]="explain straggler"
    [anonymize]="anonymize -o $out/anonymized $e/gpu-h200/hang"
  )
  rm -rf "${root:?}$out"
  mkdir "$root$out"
  printf '# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n8 1.92\n16 1.95\n' >"$root$e/osu.txt"
  in_root "$post" --version
  printed "$version"
  for name in "${!commands[@]}"; do
    # shellcheck disable=SC2086 # words of a command
    in_root "$post" ${commands[$name]}
    cp "$log" "$root$out/$name.txt"
  done
}

# check_archives compares all output of the post for another machine with that of this machine's: all values are equal.
# Pixels may differ, since processors round differently.
check_archives() {
  local name=post-$version-linux
  mkdir -p "$root/opt"
  tar -xzf "dist/busbar-$version-linux-$arch.tar.gz" -C "$root/opt"
  tar -xzf "dist/$name-$debian.tar.gz" -C "$root/opt"
  check_post "/opt/$name-$debian/post"
  [ -n "$emulator" ] || return 0
  mv "$root/tmp/post" "$root/tmp/other"
  tar -xzf "dist/$name-amd64.tar.gz" -C "$root/opt"
  emulator='' check_post "/opt/$name-amd64/post"
  for name in post other; do (cd "$root/tmp/$name" && find . | sort) >"$log.$name"; done
  if ! { diff "$log.post" "$log.other" && diff -r -x '*.png' -I ' linux/a[rm][md]64' "$root"/tmp/{post,other}; } >&2; then
    echo "release-test: post's output depends on the machine" >&2
    return 1
  fi
}

# check_package installs the Debian package and removes it. On another machine's root this machine's dpkg does both.
check_package() {
  local dpkg=(chroot "$root" dpkg) left
  if [ -n "$emulator" ]; then dpkg=(dpkg --root="$root" --force-architecture --force-depends); fi
  cp "dist/busbar_${version}_$debian.deb" "$root/tmp/busbar.deb"
  if [ -n "$emulator" ]; then try "${dpkg[@]}" -i "$root/tmp/busbar.deb"; else try "${dpkg[@]}" -i /tmp/busbar.deb; fi
  in_root /usr/bin/busbar --version
  printed "$version"
  check_rank /usr/bin/busbar-rank
  in_root /usr/bin/busbar show --include-simulated /tmp/results
  printed "all_reduce"
  try "${dpkg[@]}" -r busbar
  left=$(find "$root/usr" -path '*busbar*')
  [ -z "$left" ] || { echo "release-test: the removed package left $left" >&2 && return 1; }
}

# within ARCH runs in namespaces, in a copy of the bare root. They have only the loopback interface, and their mounts
# end with them.
within() {
  local base=.tools/bare emulator=''
  arch=$1 debian=amd64
  if [ "$arch" = aarch64 ]; then base=.tools/bare-arm64 debian=arm64 emulator=/tmp/qemu; fi
  root=$here/.tools/release-root
  ip link set lo up
  mkdir -p "$root"
  mount -t tmpfs tmpfs "$root"
  log=$root/log
  cp -a "$base/." "$root/"
  if [ -L "$root/proc" ]; then rm "$root/proc" && mkdir "$root/proc"; fi # from debootstrap --foreign in a container
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  cp -r examples "$root/tmp/examples"
  if [ -n "$emulator" ]; then cp "$(command -v qemu-aarch64-static)" "$root$emulator"; fi
  check_archives
  if [ -n "$emulator" ]; then
    check_rank "/opt/busbar-$version/bin/rank"
    in_root "/opt/busbar-$version/bin/rank" --backend mpi --collective all_reduce -b 8 -e 8 --quiet --out /tmp/mpi
  fi
  check_package
  echo "the files for $arch run in a bare root"
}

wheels() {
  local python=.tools/release-venv/bin a
  rm -rf .tools/release-venv
  python3 -m venv --without-pip .tools/release-venv
  # Otherwise pip takes the bundle for sources.
  local pip=(python3 -m pip -q --disable-pip-version-check)
  local from=(--no-index --find-links dist --only-binary :all:)
  "${pip[@]}" --python "$python/python" install "${from[@]}" busbar
  "$python/busbar" --version | tee "$log"
  printed "$version"
  for a in manylinux2014_aarch64 macosx_14_0_arm64; do
    "${pip[@]}" install "${from[@]}" --platform "$a" --target ".tools/release-venv/$a" busbar
    [ -x ".tools/release-venv/$a/bin/busbar" ] || fail "the wheel for $a installs no busbar"
  done
  # A 64-bit Mach-O file for ARM.
  [ "$(od -An -tx4 -N8 ".tools/release-venv/$a/bin/busbar")" = ' feedfacf 0100000c' ] || fail "the program for macOS is none"
}

install() {
  local a
  [ "$(id -u)" = 0 ] || fail "install requires root: sudo scripts/release-test.sh install"
  can_be_bare || fail "install requires namespaces (unshare)"
  scripts/deps.sh release
  scripts/deps.sh cross
  (cd dist && sha256sum -c --quiet SHA256SUMS)
  folder=$(mktemp -d)
  log=$folder/log
  wheels
  scripts/bundle-test.sh bare
  bare_root .tools/bare-arm64 --foreign --arch=arm64
  for a in x86_64 aarch64; do
    unshare --mount --net --pid --ipc --fork --kill-child "$0" within $a
  done
}

version=$({ find dist -name 'busbar-*.cdx.json' 2>/dev/null || true; } | sed 's/.*busbar-//; s/\.cdx\.json$//')
[ -n "$version" ] || fail "dist/ has no release; run make release"
[ $# != 0 ] || set -- install same
if [ "$1" = within ]; then
  within "$2"
  exit
fi
for what in "$@"; do
  case $what in
    same | install) "$what" ;;
    *) fail "usage: release-test.sh [same] [install]" ;;
  esac
done
