#!/usr/bin/env bash
# Every fuzz test for a while (10 s, or $1): go test takes one at a time.
# Inputs that reach something new are hardly made smaller first: what SQLite covers differs from time to time, and that alone took all the time.
set -euo pipefail
cd "$(dirname "$0")/.."

git grep -noE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file _ func; do
  echo "== ${func#func } in ${file%/*}"
  "${GO:-go}" test "./${file%/*}" -run '^$' -fuzz "^${func#func }\$" -fuzztime "${1:-10s}" -fuzzminimizetime 10x </dev/null
done
