package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// A log may hold more tests than files may be open: one that has ended is closed, and holds no buffer.
func TestImportedTestsAreClosed(t *testing.T) {
	s := &importSink{ctx: context.Background(), dir: t.TempDir(), hash: "0123456789abcdef"}
	const tests = 3
	for i := range tests {
		run := &result.Run{ID: fmt.Sprint(i), World: 2, Imported: &result.Source{Tool: "some tool"}}
		table, err := s.Begin(run, nil)
		if err != nil {
			t.Fatal(err)
		}
		record := &result.Record{Case: coll.Case{Collective: coll.AllReduce, World: 2}, Status: result.OK,
			Imported: &result.Origin{}}
		if err := errors.Join(table.Append(record), table.End(result.End{Outcome: result.Complete})); err != nil {
			t.Fatal(err)
		}
		last := s.tables[i]
		if _, err := last.draft.File.Write(nil); !errors.Is(err, os.ErrClosed) || last.Bulk != nil {
			t.Errorf("test %d is still open: %v, %v", i, err, last.Bulk)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(s.dir, "imported*")); len(names) != 0 {
		t.Errorf("%q have their names before the whole log was read", names)
	}
	if err := s.keep(); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(s.dir, "imported_*.jsonl")); len(names) != tests {
		t.Errorf("%d files of %d tests", len(names), tests)
	}
}
