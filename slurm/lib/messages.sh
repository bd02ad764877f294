# shellcheck shell=bash
# Messages, usage and errors of the scripts. The sourcing script sets `me`, its own name.
# shellcheck disable=SC2154 # me

info() { printf '%s: %s\n' "$me" "$*"; }

warn() { info "$@" >&2; }

# die CODE PROBLEM FIX
die() {
  printf '%s: %s\n  %s\n' "$me" "$2" "$3" >&2
  exit "$1"
}

# usage prints the comment at the top of the script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# require_value FLAG VALUE
require_value() { [ -n "${2:-}" ] || die 1 "$1 requires a value" "slurm/$me.sh --help shows an example."; }
