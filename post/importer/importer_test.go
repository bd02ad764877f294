package importer

import (
	"errors"
	"os"
	"testing"

	"busbar/internal/result"
)

// A log may have more tests than the limit of open files: finished ones are closed and free their buffers.
func TestImportClosesTests(t *testing.T) {
	s := &importSink{ctx: t.Context(), dir: t.TempDir(), hash: "0123456789abcdef"}
	table, err := s.Begin(&result.Run{ID: "1", Imported: &result.Source{Tool: "some tool"}}, nil)
	if err = errors.Join(err, table.End(result.End{Outcome: result.Complete})); err != nil {
		t.Fatal(err)
	}
	last := s.tables[0]
	if _, err := last.draft.File.Write(nil); !errors.Is(err, os.ErrClosed) || last.Bulk != nil {
		t.Errorf("still open: %v, %v", err, last.Bulk)
	}
}
