package logline

import (
	"strconv"
	"strings"
	"sync"

	"busbar/internal/coll"
)

// Algorithms and Protocols by the numbers that 2.20 to 2.23 print.
var (
	Algorithms = strings.Fields("TREE RING COLLNET_DIRECT COLLNET_CHAIN NVLS NVLS_TREE PAT")
	Protocols  = []string{"LL", "LL128", "SIMPLE"}
)

// Coded returns the name of a code, or the code itself.
func Coded(names []string, code int) string {
	if code >= 0 && code < len(names) {
		return names[code]
	}
	return strconv.Itoa(code)
}

// types by NCCL's numbers.
var types = []coll.DataType{coll.Int8, coll.UInt8, coll.Int32, coll.UInt32, coll.Int64, coll.UInt64, coll.Float16,
	coll.Float32,
	coll.Float64, coll.BFloat16, coll.Float8E4M3, coll.Float8E5M2}

// Typed is the name of a type by its number, and its bytes; 0 where the number is not known.
func Typed(code int) (string, int) {
	if code >= 0 && code < len(types) {
		return types[code].String(), types[code].Size()
	}
	return "type " + strconv.Itoa(code), 0
}

// ops are NCCL's numbers of reductions.
var ops = strings.Fields("sum prod max min avg")

// Reduced is the name of a reduction. One of the program's own has a number that NCCL derives from a pointer, so that
// it differs between processes (ncclUserRedOpMangle): all of them have one name.
func Reduced(code int) string {
	if code >= 0 && code < len(ops) {
		return ops[code]
	}
	return "an op of the program"
}

// collectives are the names that were met, of which a log has millions of lines.
var collectives sync.Map

// Collective is what NCCL's name of a function means.
func Collective(name string) coll.Collective {
	if c, known := collectives.Load(name); known {
		return c.(coll.Collective)
	}
	c, err := coll.ParseCollective(strings.ToLower(name))
	if err != nil {
		return coll.Other // not kept: a log may have any number of such names
	}
	collectives.Store(name, c)
	return c
}

// PerRank reports whether NCCL's count of this collective is one rank's part, and nccl-tests' S all parts.
func PerRank(c coll.Collective) bool {
	switch c {
	case coll.AllGather, coll.ReduceScatter, coll.AllToAll, coll.Gather, coll.Scatter:
		return true
	}
	return false
}

// Sized is S of nccl-tests for a collective of so many bytes, or unknown.
func Sized(c coll.Collective, bytes int64, ranks int) int64 {
	switch {
	case c == coll.Other || bytes < 0:
		return unknown
	case !PerRank(c):
		return bytes
	case ranks < 1 || bytes > 1<<62/int64(ranks):
		return unknown
	}
	return bytes * int64(ranks)
}

// unknown is nccllog.Unknown.
const unknown = -1
