#!/usr/bin/env bash
# nccl-profiler.sh builds lib/busbar-nccl-profiler.so, which records the algorithm of NCCL operations (rank
# --algorithms). `nccl-profiler.sh test` builds it in a temporary folder, without and with sanitizers, and runs its
# test. OUT is the output folder (lib), CC the compiler; CFLAGS adds flags.
set -euo pipefail
cd "$(dirname "$0")/.."

me=nccl-profiler
# shellcheck source=scripts/lib/c.sh
. scripts/lib/c.sh
name=busbar-nccl-profiler.so

# build FOLDER FLAG… makes the library there.
build() {
  local out=$1
  shift
  mkdir -p "$out"
  need_cc
  "$cc" "${flags[@]}" "$@" -fPIC -shared -fvisibility=hidden '-Wl,-z,defs' "-Wl,-soname,$name" -o "$out/.$name" cudart/nccl/profiler/plugin.c
  mv "$out/.$name" "$out/$name"
}

# check NAME FLAG… builds the library and its test with these flags and runs it.
check() {
  local out=$folder/$1
  shift
  build "$out" "$@"
  "$cc" "${flags[@]}" "$@" -o "$out/test" cudart/nccl/profiler/test/test.c -ldl
  timeout 60 "$out/test" "$out/$name"
}

build_or_test "${1:-}" "${OUT:-lib}" "$name"
