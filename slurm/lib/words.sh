# shellcheck shell=bash
# What scripts say, and how they give up. It is sourced by a script that has set `me`, its own name.
# shellcheck disable=SC2154 # me is theirs

say() { printf '%s: %s\n' "$me" "$*"; }

# note says it beside what others write to stdout.
note() { say "$@" >&2; }

# give_up CODE "what is wrong" "what to do"
give_up() {
  printf '%s: %s\n  %s\n' "$me" "$2" "$3" >&2
  exit "$1"
}

# usage prints the comment at the top of the script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# value FLAG VALUE ends the script where the value of a flag is missing.
value() { [ -n "${2:-}" ] || give_up 1 "$1 wants a value" "slurm/$me.sh --help shows an example."; }
