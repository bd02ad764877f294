package mpi

import "strings"

// versionLines takes from MPI's version string its first line, and from that a short name:
//
//	Open MPI v4.1.4, package: Debian OpenMPI, …   Open MPI 4.1.4
//	MPICH Version:      4.0.2                     MPICH 4.0.2
//	Intel(R) MPI Library 2021.9 for Linux* OS     Intel(R) MPI Library 2021.9
func versionLines(full string) (first, short string) {
	first, _, _ = strings.Cut(strings.TrimSpace(full), "\n")
	first = strings.Join(strings.Fields(first), " ")
	short, _, _ = strings.Cut(first, ",")
	short, _, _ = strings.Cut(short, " for ")
	if before, version, ok := strings.Cut(short, " Version"); ok {
		short = strings.TrimSpace(before) + " " + strings.TrimSpace(strings.TrimLeft(version, ": "))
	}
	words := strings.Fields(short)
	for i, w := range words {
		if len(w) > 1 && w[0] == 'v' && w[1] >= '0' && w[1] <= '9' {
			words[i] = w[1:]
		}
	}
	return first, strings.Join(words, " ")
}
