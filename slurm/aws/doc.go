// Package aws holds cluster.yaml, which starts a Slurm cluster with EFA on EC2. Its tests run the scripts for spot
// instances against a simulated metadata service.
package aws
