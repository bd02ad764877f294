# shellcheck shell=bash
# The settings of a site for submit.sh and campaign.sh, which need them before a job is submitted. The sourcing script
# sets `here`, the folder of the scripts, and `me`, its own name.
# shellcheck disable=SC2154 # here and me

fail() {
  printf "$me: %s\n" "$@" >&2
  exit 1
}

site_names() { (cd "$here/sites" && printf '%s ' *.env) | sed 's/\.env//g'; }

detected_site() { if [ -x "$here/sites/detect.sh" ]; then "$here/sites/detect.sh" 2>/dev/null || true; fi; }

# load_site NAME exports the variables of slurm/sites/NAME.env; the default is BUSBAR_SITE, else the detected site, else
# generic. It sets settings to what it changed.
load_site() {
  local site=${1:-${BUSBAR_SITE:-$(detected_site)}} before
  site=${site:-generic}
  [ -e "$here/sites/$site.env" ] || fail "unknown site \"$site\" in $here/sites; known: $(site_names)"
  before=$(export -p | sort)
  # shellcheck source=/dev/null
  . "$here/sites/$site.env"
  export BUSBAR_SITE=$site
  # shellcheck disable=SC2034 # for the scripts
  settings=$(comm -13 <(echo "$before") <(export -p | sort) | sed 's/^declare -x //')
}

need_sbatch() { command -v sbatch >/dev/null || fail "sbatch not found: submit on the login node of a cluster with Slurm"; }
