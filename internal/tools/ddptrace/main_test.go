package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"testing"
)

// The files of the example are what this program writes now.
func TestExampleIsUpToDate(t *testing.T) {
	for rank := range world {
		var want bytes.Buffer
		if err := writeTrace(&want, rank); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(fmt.Sprintf("../../../examples/ddp-timeline/rank%d.json.gz", rank))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("rank %d: go run ./internal/tools/ddptrace -o examples/ddp-timeline writes another file", rank)
		}
	}
}
