#!/usr/bin/env bash
# Runs every fuzz test for 10 s, or for $1. `go test -fuzz` runs one test at a time.
# Minimization is limited: the coverage of SQLite varies between runs, so minimizing would use all the time.
set -euo pipefail
cd "$(dirname "$0")/.."

git grep -noE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file _ func; do
  echo "== ${func#func } in ${file%/*}"
  "${GO:-go}" test "./${file%/*}" -run '^$' -fuzz "^${func#func }\$" -fuzztime "${1:-10s}" -fuzzminimizetime 10x </dev/null
done
