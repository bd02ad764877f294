#!/usr/bin/env bash
# Packs dist/busbar-VERSION-linux-ARCH.tar.gz: rank, post, a relocatable Open MPI, Gloo if its shim was built, slurm/,
# deploy/ and licences. Run `make build` first, or let FROM name a folder with other bin and lib; ARCH selects another machine
# (scripts/lib/target.sh), VERSION sets the version in the name. The script then checks each packed file: its glibc
# symbols are at most of version GLIBC_FLOOR (2.34), and it loads only libraries of the bundle and of glibc (Gloo: also
# C++).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/target.sh
. scripts/lib/target.sh

readonly LIMIT_MIB=60
floor=${GLIBC_FLOOR:-2.34}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
from=${FROM:-.}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
top=$stage/busbar-$version

fail() {
  printf 'bundle: %s\n' "$@" >&2
  exit 1
}

# examples lists the files of slurm/ and deploy/ that need no sources: those of git, so that nothing private is packed.
examples() {
  if git ls-files --error-unmatch VERSION >/dev/null 2>&1; then git ls-files slurm deploy; else find slurm deploy -type f; fi |
    grep -vE '[.]go$|^slurm/cluster/|^deploy/[a-z]+/test/|^deploy/container/(Containerfile|busbar[.]def|programs[.]sh|test[.]sh)$'
}

programs() {
  mkdir -p "$top/bin" "$top/lib" "$top/test"
  cp "$from"/bin/{rank,post} "$top/bin/"
  install -m 755 scripts/bundle/busbar-run.sh "$top/busbar-run"
  install -m 755 scripts/bundle/build-mpi-shim.sh "$top/build-mpi-shim"
  install -m 755 test/gpu.sh "$top/test/gpu.sh"
  local file
  while read -r file; do
    mkdir -p "$top/$(dirname "$file")"
    cp -p "$file" "$top/$file"
  done < <(examples)
  cp "$from/lib/busbar-nccl-profiler.so" "$top/lib/"
  if [ -e scripts/rehearsal.sh ]; then cp -r "$from/lib/rehearsal" "$top/lib/"; fi
}

# shim builds the shim for the packed Open MPI; it finds its own folder.
shim() {
  local made=$top/lib/busbar-mpi-openmpi.so
  OUT=$top/lib CFLAGS=scripts/bundle/openmpi_prefix.c scripts/mpi-shim.sh mpicc.openmpi >/dev/null
  patchelf --force-rpath --set-rpath "\$ORIGIN/../openmpi/lib/$triplet/openmpi/lib" "$made"
  cp "$made" "$top/openmpi/" # for build-mpi-shim --own
}

sources() {
  mkdir -p "$top"/src/{scripts,mpi/shim,internal/loop}
  cp scripts/mpi-shim.sh "$top/src/scripts/"
  cp mpi/busbar_mpi.h "$top/src/mpi/"
  cp mpi/shim/*.[ch] "$top/src/mpi/shim/"
  cp internal/loop/loop.h "$top/src/internal/loop/"
}

# notices collects the licences of the packed Debian files (names on stdin) and of the Go modules.
notices() {
  local to=$top/licenses package found name
  mkdir -p "$to/debian"
  cp LICENSE "$top/"
  while read -r found; do
    found=${found#"$root"}
    # With a merged /usr, dpkg may list a file under its old name.
    package=$(of_target dpkg -S "$found" 2>/dev/null || of_target dpkg -S "${found#/usr}" 2>/dev/null) || fail "no package owns $found"
    echo "${package%%:*}"
  done | sort -u >"$stage/packages"
  while read -r package; do
    cp "$root/usr/share/doc/$package/copyright" "$to/debian/$package"
    # shellcheck disable=SC2016 # the fields are dpkg's
    of_target dpkg-query -W -f '${Package} ${Version}, source package ${source:Package} ${source:Version}\n' "$package" | sed -n 1p
  done <"$stage/packages" >"$to/debian/VERSIONS"
  { grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$to"/debian/* || true; } | sort -u | while read -r name; do
    cp -L "$name" "$to/debian/"
  done
  GOARCH=$goarch CGO_ENABLED=1 go_licenses "$to/go" ./rank ./post
  cat >"$to/README" <<TEXT
The licence of busbar is ../LICENSE. This archive also contains
  openmpi/, lib/gloo/
             files of Debian packages, with licences in debian/. debian/VERSIONS lists the packages and their sources,
             available from every Debian mirror (apt-get source PACKAGE=VERSION). Changes: the search path in each
             library and program, and libevent_core, which is linked again from its objects.
  bin/       Go modules and the Go library, statically linked, with licences in go/.
TEXT
  chmod -R u+w "$to"
}

# elf lists the packed libraries and programs.
elf() { find "$top" -type f \( -name '*.so*' -o -path '*/bin/*' \); }

# needs prints the versions of glibc that a file requires.
needs() { readelf -VW "$1" 2>/dev/null | grep -o 'Name: GLIBC_[^ ]*' | sed 's/Name: GLIBC_//' | sort -u; }

check_glibc() {
  local file version worst='' bad=0
  while read -r file; do
    for version in $(needs "$file"); do
      if [[ ! $version =~ ^[0-9.]+$ ]] || [ "$(printf '%s\n' "$version" "$floor" | sort -V | tail -n 1)" != "$floor" ]; then
        printf 'bundle: %s needs GLIBC_%s, which is newer than %s\n' "${file#"$top"/}" "$version" "$floor" >&2
        bad=1
      fi
      worst=$(printf '%s\n' "$worst" "$version" | sort -V | tail -n 1)
    done
  done < <(elf)
  [ $bad = 0 ] || fail "pack on an older Debian, or raise the limit: GLIBC_FLOOR=2.36 make bundle"
  glibc=$worst
}

# check_closed fails if the loader resolves a library outside the bundle and glibc.
check_closed() {
  local file stray system
  while read -r file; do
    case ${file#"$top"/} in lib/busbar-gloo.so | lib/gloo/*) system='libstdc[+][+]|libgcc_s' ;; *) system=none ;; esac
    stray=$({ env -i PATH="$PATH" ldd "$file" 2>/dev/null || true; } | awk -v top="$top/" -v ours="^($system)[.]so" '
      $2 == "=>" { at = $3 == "not" ? "nowhere" : $3 }
      $2 == "=>" && index(at, top) != 1 && $1 !~ ours && $1 !~ /^(lib(c|m|dl|rt|pthread|resolv)|ld-linux.*)\.so/ { print $1 " (" at ")" }')
    [ -z "$stray" ] || fail "${file#"$top"/} loads libraries from outside the bundle: ${stray//$'\n'/, }"
  done < <(elf)
}

readme() {
  local openmpi
  # shellcheck disable=SC2016 # the field is dpkg's
  openmpi=$(of_target dpkg-query -W -f '${Version}' libopenmpi3)
  sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@GLIBC@/$glibc/" -e "s/@OPENMPI@/${openmpi%%-*}/" scripts/bundle/README.txt >"$top/README.txt"
}

pack() {
  local to mib
  to=dist/busbar-$version-linux-$arch.tar.gz
  mkdir -p dist
  rm -f dist/busbar-*"-linux-$arch.tar.gz"
  archive "$stage" "busbar-$version" "$to"
  mib=$((($(stat -c %s "$to") + (1 << 20) - 1) >> 20))
  [ "$mib" -le $LIMIT_MIB ] || fail "$to has $mib MiB; $LIMIT_MIB is the limit"
  echo "$to: at most $mib MiB, glibc $glibc or newer"
}

scripts/deps.sh bundle
mkdir "$top"
programs
{
  scripts/bundle/openmpi.sh "$top/openmpi"
  if [ -e "$from/lib/busbar-gloo.so" ]; then scripts/bundle/gloo.sh "$from/lib/busbar-gloo.so" "$top/lib"; fi
} | sort -u >"$stage/debian"
shim
sources
notices <"$stage/debian"
check_glibc
check_closed
readme
pack
