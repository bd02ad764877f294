#!/usr/bin/env bash
# rehearsal.sh builds the simulated libcuda, libnccl and libcublas, which run rank and its tests without a GPU.
# `rehearsal.sh test` builds them in a temporary folder, without and with sanitizers, and runs their tests.
# OUT is the output folder (lib/rehearsal), CC the compiler; CFLAGS adds flags.
# WITHOUT="ncclCommSplit ncclAlltoAll" leaves out symbols, as in an older library; EXTRA=ncclx adds those of NCCLX.
set -euo pipefail
cd "$(dirname "$0")/.."

me=rehearsal
# shellcheck source=scripts/lib/c.sh
. scripts/lib/c.sh
read -ra without <<<"${WITHOUT:-}"

# build FOLDER FLAG… makes the libraries there.
build() {
  local out=$1 hidden name known
  shift
  local library=("$@" -fPIC -shared -fvisibility=hidden '-Wl,-z,defs')
  mkdir -p "$out"
  need_cc
  case ${EXTRA:-} in
  '') ;;
  ncclx) library+=(-DBUSBAR_NCCLX) ;;
  *) fail "unknown EXTRA=$EXTRA; known: ncclx." ;;
  esac
  hidden=$(mktemp "$out/.without-XXXXXX")
  {
    echo '{ global: *;'
    [ ${#without[@]} -eq 0 ] || { echo 'local:' && printf '%s;\n' "${without[@]}"; }
    echo '};'
  } >"$hidden"
  library+=("-Wl,--version-script,$hidden")
  "$cc" "${flags[@]}" "${library[@]}" -Wl,-soname,libcuda.so.1 -o "$out/.libcuda.so.1" cudart/rehearsal/cuda/*.c
  mv "$out/.libcuda.so.1" "$out/libcuda.so.1"
  # It loads the libcuda in its own folder, regardless of LD_LIBRARY_PATH.
  # shellcheck disable=SC2016 # the loader expands $ORIGIN
  "$cc" "${flags[@]}" "${library[@]}" -Wl,-soname,libnccl.so.2 -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN' \
    -o "$out/.libnccl.so.2" cudart/rehearsal/nccl/*.c "$out/libcuda.so.1" -lm -ldl
  mv "$out/.libnccl.so.2" "$out/libnccl.so.2"
  # shellcheck disable=SC2016
  "$cc" "${flags[@]}" "${library[@]}" -Wl,-soname,libcublas.so.12 -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN' \
    -o "$out/.libcublas.so.12" cudart/rehearsal/cublas/*.c "$out/libcuda.so.1"
  mv "$out/.libcublas.so.12" "$out/libcublas.so.12"
  rm -f "$hidden"
  for name in ${without[@]+"${without[@]}"}; do
    known=$(grep -hoE "\\b$name\\b" cudart/cuda.h cudart/rehearsal/nccl/abi.h || true)
    [ -n "$known" ] || fail "WITHOUT names $name, which is not a symbol of the simulated libraries."
  done
}

# check NAME FLAG… builds the libraries and the test with these flags and runs it.
check() {
  local out=$folder/$1
  shift
  EXTRA=ncclx build "$out" "$@"
  OUT=$out CFLAGS=$* scripts/nccl-profiler.sh >/dev/null
  "$cc" "${flags[@]}" "$@" -Icudart/rehearsal -o "$out/test" cudart/rehearsal/test/*.c "$out/libnccl.so.2" "$out/libcuda.so.1" \
    -ldl -lm -Wl,--disable-new-dtags "-Wl,-rpath,$out"
  timeout 300 "$out/test" "$out"
}

# check_symbols tests WITHOUT and EXTRA.
check_symbols() {
  local out=$folder/short symbols
  without=(ncclCommSplit cuGraphLaunch)
  build "$out" -O1
  symbols=$(nm -D --defined-only "$out/libnccl.so.2" "$out/libcuda.so.1")
  case $symbols in *ncclCommSplit* | *cuGraphLaunch* | *ncclAllToAllv*)
    fail "the library has a symbol that WITHOUT or EXTRA excludes."
    ;;
  esac
  case $symbols in *ncclAlltoAll*cuGraphDestroy* | *cuGraphDestroy*ncclAlltoAll*) ;;
  *) fail "WITHOUT removed more symbols than it names." ;;
  esac
  without=()
}

build_or_test "${1:-}" "${OUT:-lib/rehearsal}" "libcuda.so.1, libnccl.so.2, libcublas.so.12"
if [ "${1:-}" = test ]; then check_symbols; fi
