#!/usr/bin/env bash
# Checks package nccl against NVIDIA's own libraries from the Python package index: `abi.sh` the oldest, a middle and the
# newest version for CUDA 12 and the newest for CUDA 13 (1.2 GB), `abi.sh newest` only the newest for CUDA 12. It removes
# each after its check; KEEP=1 keeps them in .tools/abi for the next run. It requires no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

wheels=.tools/abi
tool=.tools/bin/busbar-abi

case ${1:-all} in
all) selected=(nvidia-nccl-cu12==2.16.2 nvidia-nccl-cu12==2.23.4 nvidia-nccl-cu12 nvidia-nccl-cu13) ;;
newest) selected=(nvidia-nccl-cu12) ;;
*)
  echo "usage: abi.sh [newest]" >&2
  exit 1
  ;;
esac

if [ ! -x bin/rank ]; then
  echo "abi: bin/rank is missing: run make abi, which builds it." >&2
  exit 1
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "abi: python3 has no pip, which fetches the libraries (Debian, Ubuntu: apt-get install python3-pip)." >&2
  exit 1
fi

# fetch downloads the wheel of a package unless it exists, and prints its path.
fetch() {
  local output
  output=$(python3 -m pip download --disable-pip-version-check --no-deps --only-binary=:all: --dest "$wheels" "$1" 2>&1) || {
    printf '%s\nabi: pip cannot fetch %s; its message is above.\n' "$output" "$1" >&2
    return 1
  }
  # "Saved ./…" or "File was already downloaded /…"
  sed -nE 's/^ *(Saved|File was already downloaded) +(.*\.whl)$/\2/p' <<<"$output"
}

# unpack extracts the library from a wheel, which is a zip file.
unpack() {
  python3 - "$1" "$2" <<'PYTHON'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]).open("nvidia/nccl/lib/libnccl.so.2") as packed, open(sys.argv[2], "wb") as out:
    shutil.copyfileobj(packed, out)
PYTHON
}

# check_without_gpu checks the error of rank on a machine with NCCL and without a GPU.
check_without_gpu() {
  local output code=0
  [ ! -e /proc/driver/nvidia/version ] || return 0
  output=$(bin/rank --backend nccl --nccl "$1" --collective all_reduce -b 8 -e 8 --out "$folder/results" \
    2>&1 >/dev/null) || code=$?
  if [ "$code" != 2 ] || ! grep -q 'libcuda\.so\.1' <<<"$output"; then
    printf '%s\nabi: rank without a GPU exited with %d and the message above; expected exit code 2 and libcuda.so.1.\n' \
      "$output" "$code" >&2
    return 1
  fi
  echo "rank --backend nccl without a GPU: exit code 2, and the error names libcuda.so.1"
}

mkdir -p "$wheels"
folder=$(mktemp -d "$wheels/unpacked-XXXXXX")
trap 'rm -rf "$folder"; rmdir "$wheels" 2>/dev/null || true' EXIT
"${GO:-go}" build -o "$tool" ./internal/tools/abi
"$tool" -header
failed=0
for package in "${selected[@]}"; do
  wheel=$(fetch "$package")
  version=$(sed -E 's/.*-([0-9.]+[0-9])(\.post[0-9]+)?-py3-.*/\1/' <<<"$wheel")
  unpack "$wheel" "$folder/libnccl.so.2"
  [ "${KEEP:-}" = 1 ] || rm -f "$wheel"
  "$tool" -name "${package%%=*} $version" -version "$version" -cuda "$(sed -E 's/.*-cu([0-9]+).*/\1/' <<<"$package")" "$PWD/$folder/libnccl.so.2" || failed=1
done
check_without_gpu "$PWD/$folder/libnccl.so.2" || failed=1
exit $failed
