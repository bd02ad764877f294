#!/usr/bin/env bash
# Builds the shim through which rank uses Gloo, lib/busbar-gloo.so: gloo-shim.sh. With --if-there a machine without Gloo's
# headers is told so and is no failure; with --test the shim's own tests are built under the sanitizers, and run.
# Needs neither Go nor make. OUT is the folder of the result (lib), CXX the compiler, CXXFLAGS is added to its flags.
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

lacks() {
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
    # A compiler of another taste must not keep anyone from measuring, but its warnings are shown.
    "${shim[@]}" >"$log" 2>&1 || {
      cat "$log" >&2
      fail "$cxx cannot compile the shim; what it said is above."
    }
    cat "$log" >&2
  fi
  chmod 755 "$new"
  mv "$new" "$out/busbar-gloo.so"
  printf '%s: made with %s\n' "${out#"$PWD"/}/busbar-gloo.so" "$(command -v "$cxx")"
}

# sanitized leaves libgloo as it is: what it is given, and what happens to memory of ours, is seen all the same.
sanitized() {
  new=$(mktemp -d)
  "$cxx" -O1 -g "${flags[@]}" -Werror -fsanitize=address,undefined -fno-sanitize-recover=all ${extra[@]+"${extra[@]}"} \
    -o "$new/driver" "$root"/gloo/shim/test/driver.cc "$root"/gloo/shim/*.cc -lgloo -ldl
  ASAN_OPTIONS=detect_leaks=1 "$new/driver"
}

missing=$(lacks)
if [ -n "$missing" ]; then
  advice="Debian, Ubuntu: sudo apt-get install g++ libgloo-dev; elsewhere CXXFLAGS may say where Gloo is (-I… -L…)"
  [ "${1:-}" = --if-there ] || fail "there is $missing here." "$advice"
  printf 'There is %s, so there is no shim for Gloo; rank --backend gloo needs one.\n%s\n' "$missing" "$advice"
elif [ "${1:-}" = --test ]; then
  sanitized
else
  build
fi
