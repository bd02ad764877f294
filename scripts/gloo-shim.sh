#!/usr/bin/env bash
# gloo-shim.sh builds lib/busbar-gloo.so, through which rank uses Gloo.
#   --optional   if the headers of Gloo are missing, print a message and exit with 0
#   --test       build the tests of the shim under the sanitizers and run them
# It requires neither Go nor make. OUT is the output folder (lib), CXX the compiler; CXXFLAGS adds flags.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
out=${OUT:-$root/lib}
cxx=${CXX:-g++}
flags=(-std=c++17 -Wall -Wextra -pthread -idirafter "$root/gloo/shim/compat")
read -ra extra <<<"${CXXFLAGS:-}"
new='' log=''
trap 'rm -rf "$new" "$log"' EXIT

fail() {
  printf 'gloo-shim: %s\n' "$@" >&2
  exit 1
}

missing_dependency() {
  command -v "$cxx" >/dev/null || { echo "no C++ compiler ($cxx)"; return; }
  "$cxx" -E -x c++ ${extra[@]+"${extra[@]}"} -include gloo/config.h /dev/null >/dev/null 2>&1 || echo "no headers of Gloo"
}

build() {
  mkdir -p "$out"
  new=$(mktemp "$out/.busbar-gloo-XXXXXX")
  log=$(mktemp)
  local shim=("$cxx" -O3 "${flags[@]}" -fPIC -shared -fvisibility=hidden "-Wl,-z,defs"
    "-Wl,--version-script=$root/gloo/shim/exports.map" ${extra[@]+"${extra[@]}"} -o "$new" "$root"/gloo/shim/*.cc -lgloo -ldl)
  if ! "${shim[@]}" -Werror >"$log" 2>&1; then
    # Warnings of another compiler do not stop the build; they are printed.
    "${shim[@]}" >"$log" 2>&1 || {
      cat "$log" >&2
      fail "$cxx cannot compile the shim; its message is above."
    }
    cat "$log" >&2
  fi
  chmod 755 "$new"
  mv "$new" "$out/busbar-gloo.so"
  printf '%s: made with %s\n' "${out#"$PWD"/}/busbar-gloo.so" "$(command -v "$cxx")"
}

# sanitized does not rebuild libgloo: the sanitizers still check the arguments and memory of the shim.
sanitized() {
  new=$(mktemp -d)
  "$cxx" -O1 -g "${flags[@]}" -Werror -fsanitize=address,undefined -fno-sanitize-recover=all ${extra[@]+"${extra[@]}"} \
    -o "$new/driver" "$root"/gloo/shim/test/driver.cc "$root"/gloo/shim/*.cc -lgloo -ldl
  ASAN_OPTIONS=detect_leaks=1 "$new/driver"
}

missing=$(missing_dependency)
if [ -n "$missing" ]; then
  advice="Debian, Ubuntu: sudo apt-get install g++ libgloo-dev; elsewhere: set CXXFLAGS to its folders (-I… -L…)"
  [ "${1:-}" = --optional ] || fail "$missing." "$advice"
  printf 'gloo-shim: %s, so the shim for Gloo is not built; rank --backend gloo requires it.\n%s\n' "$missing" "$advice"
elif [ "${1:-}" = --test ]; then
  sanitized
else
  build
fi
