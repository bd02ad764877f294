#!/usr/bin/env bash
# Checks that package cublas loads libcublas with the libcublasLt of the same version, for NVIDIA's 12.1.3.1 and
# 12.9.1.4 from the Python package index (0.8 GB to download, kept in .tools/cublas). It needs no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly OLD=12.1.3.1 NEW=12.9.1.4
readonly BELOW=lib/python3.0/site-packages/nvidia/cublas/lib # as in an environment of pip
folder=$PWD/.tools/cublas
tool=$PWD/.tools/bin/cublas.test

fail() {
  printf 'cublas: %s\n' "$@" >&2
  exit 1
}

# fetch VERSION downloads and unpacks both libraries of a version unless they exist.
fetch() {
  local to=$folder/$1/$BELOW wheels
  [ ! -e "$to/libcublasLt.so.12" ] || return 0
  wheels=$(mktemp -d "$folder/wheel-XXXXXX")
  if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$wheels" "nvidia-cublas-cu12==$1" >&2; then
    rm -rf "$wheels"
    fail "pip cannot download nvidia-cublas-cu12 $1; its message is above." "It requires Python 3 with pip (Debian, Ubuntu: python3-pip) and a package index."
  fi
  mkdir -p "$to"
  # libcublasLt comes last: it marks the folder as complete.
  python3 - "$wheels"/*.whl "$to" <<'PYTHON'
import os, shutil, sys, zipfile
wheel, to = zipfile.ZipFile(sys.argv[1]), sys.argv[2]
for name in "libcublas.so.12", "libcublasLt.so.12":
    part = os.path.join(to, "." + name)
    with wheel.open("nvidia/cublas/lib/" + name) as packed, open(part, "wb") as out:
        shutil.copyfileobj(packed, out, 1 << 20)
    os.rename(part, os.path.join(to, name))
PYTHON
  rm -rf "$wheels"
}

# expect NAME PREFIX VARIABLE=VALUE… loads cuBLAS with these variables and fails unless the output begins with PREFIX.
expect() {
  local what=$1 prefix=$2 output
  shift 2
  output=$(env "$@" "$tool") || true
  case $output in
  "$prefix"*) printf '%s: %s\n' "$what" "${output%%$'\n'*}" ;;
  *) fail "$what: expected $prefix, got:" "$output" ;;
  esac
}

mkdir -p "$folder" "$(dirname "$tool")"
"${GO:-go}" test -c -o "$tool" ./cudart/cublas
fetch $OLD
fetch $NEW
old=$folder/$OLD/$BELOW new=$folder/$NEW/$BELOW
all=BUSBAR_TEST_CUBLAS_FOLDER=.
expect "loader $OLD, environment $NEW" "${OLD%.*} $old/libcublas.so.12" $all "LD_LIBRARY_PATH=$old" "VIRTUAL_ENV=$folder/$NEW"
expect "loader $NEW, environment $OLD" "${NEW%.*} $new/libcublas.so.12" $all "LD_LIBRARY_PATH=$new" "VIRTUAL_ENV=$folder/$OLD"
expect "folder of $OLD alone" "${OLD%.*} $old/libcublas.so.12" "BUSBAR_TEST_CUBLAS_FOLDER=$old"
expect "folder of $NEW alone" "${NEW%.*} $new/libcublas.so.12" "BUSBAR_TEST_CUBLAS_FOLDER=$new"
mixed=$(mktemp -d "$folder/mixed-XXXXXX")
trap 'rm -rf "$mixed"' EXIT
ln -s "$old/libcublas.so.12" "$mixed/"
expect "libcublas $OLD with libcublasLt $NEW" "cuBLAS could not be loaded" $all "LD_LIBRARY_PATH=$mixed:$new" VIRTUAL_ENV=
