#!/usr/bin/env bash
# Watches for EC2's spot notice and stops a run cleanly: it finishes the current case and copies the results.
#   slurm/spot-watch.sh --pid PID [--sync DIR DEST]      PID is mpirun, busbar-run or srun
#   slurm/spot-watch.sh --job JOBID [--sync DIR DEST]    a Slurm job of slurm/sweep.sh, which requeues itself
#   slurm/spot-watch.sh --once                           queries once and prints the result
# It queries the instance metadata service (version 2). EC2 sends the notice two minutes before it stops the instance. Then
# the script sends USR1 to the process (or to the job's script), and after --grace TERM. Results are kept in both cases.
# On a rebalance recommendation it only copies results.
#   --on-rebalance stop   treat a rebalance recommendation as a notice (report)
#   --interval S          seconds between queries (5, as AWS recommends)
#   --grace S             seconds for the current case (60)
#   --endpoint URL        of the metadata service (http://169.254.169.254; also AWS_EC2_METADATA_SERVICE_ENDPOINT)
# Exit code: 0 the run ended, or --once without a notice; 1 usage; 2 no metadata service, or a command not found; 3 notice.
set -euo pipefail
me=spot-watch
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=slurm/lib/messages.sh
. "$here/lib/messages.sh"

readonly TOKEN_SECONDS=21600
pid='' job='' once='' source='' dest='' interval=5 grace=60 on_rebalance=report
endpoint=${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}
token='' status='' body='' rebalance_reported='' failure_reported=''

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --once) once=1 ;;
    --sync)
      require_value "$1" "${3:-}"
      source=$2 dest=$3
      shift 2
      ;;
    --pid | --job | --interval | --grace | --endpoint | --on-rebalance)
      require_value "$1" "${2:-}"
      case $1 in
        --pid) pid=$2 ;;
        --job) job=$2 ;;
        --interval) interval=$2 ;;
        --grace) grace=$2 ;;
        --endpoint) endpoint=${2%/} ;;
        --on-rebalance) on_rebalance=$2 ;;
      esac
      shift
      ;;
    *) die 1 "unknown argument \"$1\"" "slurm/spot-watch.sh --help lists them." ;;
  esac
  shift
done
case $on_rebalance in
  report | stop) ;;
  *) die 1 "--on-rebalance is \"$on_rebalance\"" "Set report or stop." ;;
esac
[ -n "$pid$job$once" ] || die 1 "--pid, --job or --once is required" "Set --pid to the process of mpirun or srun."
[[ $interval =~ ^[0-9]*\.?[0-9]+$ && $interval = *[1-9]* ]] || die 1 "--interval is \"$interval\"" "Set a number of seconds."
[[ $grace =~ ^(0|[1-9][0-9]*)$ ]] || die 1 "--grace is \"$grace\"" "Set a number of seconds."
[[ $pid =~ ^[0-9]*$ ]] || die 1 "--pid is \"$pid\"" "Set a process ID: mpirun … & slurm/spot-watch.sh --pid \$!"
[ -z "$job" ] || command -v scancel >/dev/null || die 2 "scancel not found; --job requires it" "Start this on a node of the job with Slurm's commands; without Slurm: --pid PID."
command -v curl >/dev/null || die 2 "curl not found" "Install it: apt-get install curl, or dnf install curl."

# request METHOD PATH [HEADER…] sets body and the HTTP status (000: no response). It ignores proxies.
request() {
  local method=$1 path=$2 response header options=()
  shift 2
  for header in "$@"; do options+=(-H "$header"); done
  response=$(curl -s --noproxy '*' --connect-timeout 2 --max-time 5 -X "$method" ${options[@]+"${options[@]}"} -w '\n%{http_code}' "$endpoint$path" || true)
  status=${response##*$'\n'} body=${response%$'\n'*}
}

# get PATH requests a path with a token, and a new token if the old one has expired.
get() {
  local try
  for try in 1 2; do
    if [ -z "$token" ]; then
      request PUT /latest/api/token "X-aws-ec2-metadata-token-ttl-seconds: $TOKEN_SECONDS"
      if [ "$status" != 200 ]; then return; fi
      token=$body
    fi
    request GET "$1" "X-aws-ec2-metadata-token: $token"
    if [ "$status" != 401 ]; then return; fi
    token=''
  done
}

# notice reports whether EC2 has announced the end, and prints the announcement.
notice() {
  get /latest/meta-data/spot/instance-action
  if [ "$status" = 200 ]; then
    warn "spot notice: $body"
    return 0
  fi
  if query_failed; then return 1; fi
  if [ -n "$rebalance_reported" ]; then return 1; fi
  get /latest/meta-data/events/recommendations/rebalance
  if [ "$status" = 200 ]; then
    rebalance_reported=1
    warn "rebalance recommendation: $body; EC2 is likely to reclaim this machine soon"
    if [ "$on_rebalance" = stop ]; then return 0; fi
    copy
  fi
  return 1
}

# query_failed warns once per outage. Without a notice the status is 404.
query_failed() {
  if [ "$status" = 404 ]; then
    failure_reported=''
    return 1
  fi
  if [ -z "$failure_reported" ]; then warn "$endpoint does not respond (status $status); retrying"; fi
  failure_reported=1
}

copy() {
  if [ -n "$source" ]; then "$here/sync-results.sh" "$source" "$dest" || warn "not all results were copied to $dest; they are in $source"; fi
}

# queued [-t STATES] reports whether Slurm has the job, in one of these states. If the controller does not respond, it
# returns true, so that the watch continues.
queued() {
  local listed
  if listed=$(squeue -h -j "$job" -o %i "$@" 2>/dev/null); then
    [ -n "$listed" ]
  else
    listed=$(squeue -h -j "$job" 2>&1 || true)
    [[ $listed != *'nvalid job id'* ]]
  fi
}

# running reports whether the process or job runs. A pending job does not.
running() {
  if [ -n "$pid" ]; then kill -0 "$pid" 2>/dev/null; else queued -t running,completing,suspended; fi
}

send_signal() { # send_signal NAME
  if [ -n "$pid" ]; then
    kill -s "$1" "$pid" 2>/dev/null || true
  else
    scancel --batch --signal="$1" "$job" || true
  fi
}

finish() {
  local waited=0 limit=$((SECONDS + grace))
  warn "finishing the current case (USR1 to ${pid:+process $pid}${job:+the script of job $job})"
  send_signal USR1
  while running && [ $SECONDS -lt "$limit" ]; do sleep 1; done
  if running; then
    warn "still running after $grace s; sending TERM"
    send_signal TERM
    while running && [ $((waited += 1)) -le 10 ]; do sleep 1; done
  fi
  copy
}

# connect tries three times: the service may be slow at first.
connect() {
  local try
  for try in 1 2 3; do
    get /latest/meta-data/instance-id
    if [ "$status" = 200 ]; then return; fi
    if [ "$try" -lt 3 ]; then sleep 1; fi
  done
  die 2 "the instance metadata service at $endpoint does not respond (status $status)" \
    "It requires an EC2 instance with metadata enabled, and in a container a hop limit of 2: aws ec2 modify-instance-metadata-options --http-put-response-hop-limit 2 …"
}

connect
if [ -n "$once" ]; then
  if notice; then exit 3; fi
  warn "no spot notice"
  exit 0
fi
warn "watching ${pid:+process $pid}${job:+job $job} on instance $body"
# A job may still be pending.
while [ -n "$job" ] && ! running && queued; do sleep "$interval"; done
while running; do
  if notice; then
    finish
    exit 3
  fi
  sleep "$interval"
done
