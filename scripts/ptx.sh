#!/usr/bin/env bash
# Assembles the kernels of cudart with ptxas of CUDA 12 and CUDA 13 from the Python package index, for every
# architecture from 7.0 to 10.0 that the ptxas supports. Without this check only the driver of a GPU compiles them. The
# script also checks that busbar_fma uses at most the registers that cudart/fma.go assumes.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly KERNELS='cudart/kernels.ptx cudart/work.ptx'
readonly WORK_REGISTERS=32 # of a thread of busbar_fma, at most
readonly ARCHITECTURES='70 72 75 80 86 87 89 90 100'
# The oldest required architectures: 70 is V100, the oldest that busbar supports; 75 is the oldest of CUDA 13.
declare -A oldest=([nvidia-cuda-nvcc-cu12]=70 [nvidia-cuda-nvcc]=75)

fail() {
  printf 'ptx: %s\n' "$@" >&2
  exit 1
}

# fetch PACKAGE prints the path of its ptxas.
fetch() {
  local folder=.tools/ptx/$1 wheel found
  found=$(find "$folder" -name ptxas -type f 2>/dev/null | sed -n 1p)
  if [ -z "$found" ]; then
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$folder" "$1" >&2 ||
      fail "pip cannot download $1." "It requires Python 3 with pip (Debian, Ubuntu: python3-pip) and a package index."
    for wheel in "$folder"/*.whl; do python3 -m zipfile -e "$wheel" "$folder" && rm -f "$wheel"; done
    found=$(find "$folder" -name ptxas -type f | sed -n 1p)
    [ -n "$found" ] || fail "$1 contains no ptxas."
  fi
  chmod +x "$found"
  printf '%s\n' "$found"
}

out=$(mktemp)
log=$(mktemp)
trap 'rm -f "$out" "$log"' EXIT
# assemble FILE PACKAGE
assemble() {
  local kernels=$1 package=$2 ptxas version architecture registers done=()
  ptxas=$(fetch "$package")
  version=$("$ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  for architecture in $ARCHITECTURES; do
    if "$ptxas" -arch "sm_$architecture" --warn-on-spills -o "$out" "$kernels" >"$log" 2>&1; then
      [ ! -s "$log" ] || fail "ptxas of CUDA $version warns for sm_$architecture:" "$(cat "$log")"
      done+=("$architecture")
      registers=$("$ptxas" -v -arch "sm_$architecture" -o "$out" "$kernels" 2>&1 | sed -n "/'busbar_fma'/,\$s/.*Used \([0-9]*\) registers.*/\1/p")
      [ "${registers:-0}" -le $WORK_REGISTERS ] ||
        fail "busbar_fma uses $registers registers for sm_$architecture; the maximum is $WORK_REGISTERS."
    elif [ "$architecture" -ge "${oldest[$package]}" ] && ! grep -qi "not defined for option\|unsupported gpu" "$log"; then
      fail "ptxas of CUDA $version cannot assemble $kernels for sm_$architecture:" "$(cat "$log")"
    fi
  done
  for architecture in "${oldest[$package]}" 90 100; do
    [[ " ${done[*]} " == *" $architecture "* ]] ||
      fail "ptxas of CUDA $version does not support sm_$architecture; supported: ${done[*]:-none}."
  done
  printf 'ptxas of CUDA %s assembles %s for sm_%s\n' "$version" "$kernels" "${done[*]}"
}

for package in "${!oldest[@]}"; do
  for kernels in $KERNELS; do assemble "$kernels" "$package"; done
done
