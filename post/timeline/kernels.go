package timeline

import (
	"cmp"
	_ "embed" // for kernels.tsv
	"regexp"
	"strings"
	"sync"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// kernelRow is one kind of kernel, recognised by the name of its function.
//
// A name is not always precise: NCCL's names contain the algorithm and protocol of one of several variants, and the
// kernel named SendRecv runs any mixture of operations.
type kernelRow struct {
	name, scope *regexp.Regexp  // of the function; the group op of name is the operation, if the name has it
	only        coll.Collective // the operation of all of them; 0: from op, or unknown
	within      bool            // stays within one GPU: not communication
}

// operations are patterns of operations in kernels.tsv; the name of NCCL's kernel for sends and groups does not contain
// its operation.
var operations = strings.NewReplacer(
	"{op}", `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|reduce|gather|scatter))`,
	"{few}", `(?P<op>(?i:all_?reduce|all_?gather|reduce_?scatter))`)

//go:embed kernels.tsv
var kernelsFile string

// kernelTable classifies kernels by name; the first match wins.
var kernelTable = sync.OnceValue(func() (rows []kernelRow) {
	for f := range units.Rows(kernelsFile, 3) {
		only, _ := coll.ParseCollective(f[0]) // else 0
		rows = append(rows, kernelRow{name: regexp.MustCompile(operations.Replace(f[1])),
			scope: regexp.MustCompile(f[2]), only: only, within: f[0] == "within"})
	}
	return rows
})

// known is what a kernel's name shows.
type known struct {
	comm   bool
	within bool            // stays within one GPU
	own    bool            // busbar's own: it counts with a world size of 1 too
	what   coll.Collective // Other if the name has no collective
	name   string          // display name of the function
}

// recognise classifies a kernel's name.
func recognise(kernel string) known {
	if k, ok := recogniseOwn(kernel); ok {
		return k
	}
	f := functionOf(kernel)
	for _, row := range kernelTable() {
		m := row.name.FindStringSubmatch(f.name)
		if m == nil || !row.scope.MatchString(f.scope) {
			continue
		}
		k := known{comm: !row.within, within: row.within, what: cmp.Or(row.only, coll.Other), name: f.name}
		if op := row.name.SubexpIndex("op"); op > 0 {
			k.what = operationOf(m[op])
		}
		return k
	}
	return known{name: f.name}
}

// operationOf returns the collective for a word in a kernel's name.
func operationOf(word string) coll.Collective {
	what, err := coll.ParseCollective(word)
	if err != nil {
		return coll.Other
	}
	return what
}
