#!/usr/bin/env bash
# Builds lib/busbar-nccl-profiler.so, by which NCCL tells rank the path of an operation (rank --path): nccl-profiler.sh;
# `nccl-profiler.sh test` builds it anew, under sanitizers too, and runs its test.
# OUT is the folder of the result (lib), CC the compiler, CFLAGS is added to its flags.
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
