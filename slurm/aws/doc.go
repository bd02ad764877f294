// Package aws has what a run on EC2 needs beside the programs: cluster.yaml, which starts a Slurm cluster with EFA. Its
// tests try the scripts for spot instances against a metadata service of their own.
package aws
