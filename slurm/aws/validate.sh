#!/usr/bin/env bash
# Checks a cluster configuration against the schema of AWS ParallelCluster, without an AWS account:
#   slurm/aws/validate.sh [FILE]     default: slurm/aws/cluster.yaml
# Only `pcluster create-cluster --dryrun true` checks subnet, key and quota. The script installs ParallelCluster into
# .tools/parallelcluster, about 250 MB; tested with VERSION=3.16.1.
set -euo pipefail
file=$(readlink -f "${1:-$(dirname "${BASH_SOURCE[0]}")/cluster.yaml}")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
version=${VERSION:-3.16.1}
tools=.tools/parallelcluster
if [ "$(cat "$tools/version" 2>/dev/null)" != "$version" ]; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "aws-parallelcluster==$version"
  echo "$version" >"$tools/version"
fi
AWS_DEFAULT_REGION=us-east-1 "$tools/bin/python" - "$file" <<'PYTHON'
import sys

import yaml
from marshmallow import ValidationError
from pcluster.schemas.cluster_schema import ClusterSchema

text = open(sys.argv[1]).read()
placeholders = {"SUBNET": "subnet-0123456789abcdef0", "KEY": "my-key", "BUCKET": "my-bucket", "ADDRESS": "203.0.113.7/32"}
for name, value in placeholders.items():
    text = text.replace(name, value)
try:
    cluster = ClusterSchema(cluster_name="busbar").load(yaml.safe_load(text))
except (ValidationError, yaml.YAMLError) as error:
    sys.exit(f"{sys.argv[1]} is not a valid ParallelCluster configuration: {error}")
for queue in cluster.scheduling.queues:
    for resource in queue.compute_resources:
        print(f"queue {queue.name}: {queue.capacity_type.value}, {resource.min_count} to {resource.max_count} {resource.instance_types[0]}")
PYTHON
