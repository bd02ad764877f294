# shellcheck shell=bash disable=SC2034 # the scripts use what it sets
# Sourced by the scripts that build for ARCH: x86_64 or aarch64, by default that of this machine. Sets arch, goarch
# (also Debian's name), triplet and root: the folder of that machine's Debian packages, empty for this machine. For
# another machine, scripts/aarch64.sh provides its compilers and ldd, which then come first on PATH.
arch=${ARCH:-$(uname -m)}
case $arch in
  x86_64) goarch=amd64 ;;
  aarch64) goarch=arm64 ;;
  *)
    echo "ARCH=$arch: known are x86_64 and aarch64" >&2
    exit 1
    ;;
esac
triplet=$arch-linux-gnu
root=''
if [ "$arch" != "$(uname -m)" ]; then
  [ -d ".tools/$arch/root" ] || "scripts/$arch.sh"
  root=$(realpath ".tools/$arch/root")
  PATH=$PWD/.tools/$arch/bin:$PATH
fi

# of_target PROGRAM… runs a program of dpkg on the packages of that machine.
of_target() { "$1" ${root:+"--admindir=$root/var/lib/dpkg"} "${@:2}"; }

# set_epoch sets SOURCE_DATE_EPOCH, the time of all files in an archive, to the time of the commit unless it is set.
set_epoch() {
  export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
}

# archive FOLDER NAME TO packs the folder NAME of FOLDER. The bytes depend only on names, modes of the owner and contents.
archive() {
  set_epoch
  tar -C "$1" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "--mtime=@$SOURCE_DATE_EPOCH" \
    -cf - "$2" | gzip -9n >"$3"
}

# go_licenses FOLDER PACKAGE… copies the licences of Go and of the modules in these packages.
go_licenses() {
  local to=$1 module dir name
  shift
  mkdir -p "$to"
  cp "$("${GO:-go}" env GOROOT)/LICENSE" "$to/go"
  "${GO:-go}" list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}' "$@" |
    sort -u | while read -r module dir; do
      [ -n "$dir" ] || continue
      name=$(find "$dir" -maxdepth 1 \( -iname 'LICEN[CS]E*' -o -iname 'UNLICENSE*' -o -iname 'COPYING*' \) | sort | sed -n 1p)
      [ -n "$name" ] || { echo "the Go module $module has no licence file" >&2 && return 1; }
      cp "$name" "$to/${module//\//_}"
    done
  chmod -R u+w "$to"
}
