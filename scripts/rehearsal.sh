#!/usr/bin/env bash
# Builds the stand-ins of libcuda, libnccl and libcublas, with which everything but the speed of GPUs can be tried without one:
# rehearsal.sh; `rehearsal.sh test` builds them anew, under sanitizers too, and runs their tests.
# OUT is the folder of the result (lib/rehearsal), CC the compiler, CFLAGS is added to its flags.
# WITHOUT="ncclCommSplit ncclAlltoAll" leaves symbols out, as an older or shorter library would; EXTRA=ncclx adds NCCLX's.
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
  *) fail "EXTRA=$EXTRA is not known; it can be ncclx." ;;
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
  # Its libcuda is the one beside it, whatever LD_LIBRARY_PATH says.
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
    [ -n "$known" ] || fail "WITHOUT names $name, which the stand-ins do not have."
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

# lacking checks that WITHOUT and EXTRA do what they say.
lacking() {
  local out=$folder/short symbols
  without=(ncclCommSplit cuGraphLaunch)
  build "$out" -O1
  symbols=$(nm -D --defined-only "$out/libnccl.so.2" "$out/libcuda.so.1")
  case $symbols in *ncclCommSplit* | *cuGraphLaunch* | *ncclAllToAllv*) fail "WITHOUT or EXTRA left a symbol that should not be there." ;; esac
  case $symbols in *ncclAlltoAll*cuGraphDestroy* | *cuGraphDestroy*ncclAlltoAll*) ;; *) fail "WITHOUT took more than it was asked to." ;; esac
  without=()
}

build_or_test "${1:-}" "${OUT:-lib/rehearsal}" "libcuda.so.1, libnccl.so.2, libcublas.so.12"
if [ "${1:-}" = test ]; then lacking; fi
