#!/usr/bin/env bash
# Builds lib/busbar-nccl-profiler.so, by which NCCL tells rank the path of an operation (rank --path): nccl-profiler.sh;
# `nccl-profiler.sh test` builds it anew, under sanitizers too, and runs its test.
# OUT is the folder of the result (lib), CC the compiler, CFLAGS is added to its flags.
set -euo pipefail
cd "$(dirname "$0")/.."

cc=${CC:-cc}
name=busbar-nccl-profiler.so
flags=(-std=gnu11 -Wall -Wextra -Werror -pthread)
read -ra extra <<<"${CFLAGS:-}"
folder=''
trap 'rm -rf "$folder"' EXIT

# build FOLDER FLAG… makes the library there.
build() {
  local out=$1
  shift
  mkdir -p "$out"
  command -v "$cc" >/dev/null || {
    echo "nccl-profiler: there is no C compiler $cc here; CC=… names another." >&2
    return 1
  }
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

case ${1:-} in
'')
  build "${OUT:-lib}" -O2 ${extra[@]+"${extra[@]}"}
  printf '%s: made with %s\n' "${OUT:-lib}/$name" "$(command -v "$cc")"
  ;;
test)
  folder=$(mktemp -d)
  check plain -O2
  check sanitized -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
  ;;
*)
  echo "usage: nccl-profiler.sh [test]" >&2
  exit 1
  ;;
esac
