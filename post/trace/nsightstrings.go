package trace

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
)

// keptStrings is how many strings are kept at once. An export may have millions, of which kernels have some hundred.
const keptStrings = 1 << 16

// stringTable looks up the table StringIds: most texts of an export are numbers into it.
type stringTable struct {
	lookup driver.Stmt
	kept   map[int64]string
	whole  bool // the table has no index and was read once
}

func openStrings(ctx context.Context, db *database) (*stringTable, error) {
	t := &stringTable{kept: map[int64]string{}}
	if !db.columns["StringIds"]["id"] || !db.columns["StringIds"]["value"] {
		t.whole = true
		return t, nil
	}
	indexed := false
	err := db.query(ctx, `SELECT pk FROM pragma_table_info('StringIds') WHERE name = 'id'`,
		func(values []driver.Value) error {
			indexed = row(values).or(0, 0) == 1
			return nil
		})
	if err != nil {
		return nil, err
	}
	if !indexed {
		t.whole = true
		return t, db.scan(ctx, "StringIds", "", []string{"id", "value"}, func(r row) {
			if id, ok := r.int(0); ok {
				t.kept[id] = r.text(1)
			}
		})
	}
	t.lookup, err = db.conn.Prepare("SELECT value FROM StringIds WHERE id = ?")
	return t, err
}

func (t *stringTable) close() {
	if t.lookup != nil {
		_ = t.lookup.Close()
	}
}

// get is the string of a number; "" where the table has none, or where it lies is damaged.
func (t *stringTable) get(ctx context.Context, id int64) string {
	s, known := t.kept[id]
	if known || t.whole {
		return s
	}
	if len(t.kept) >= keptStrings {
		clear(t.kept)
	}
	s, err := t.read(ctx, id)
	if err != nil {
		s = ""
	}
	t.kept[id] = s
	return s
}

func (t *stringTable) read(ctx context.Context, id int64) (string, error) {
	rows, err := t.lookup.(driver.StmtQueryContext).QueryContext(ctx, []driver.NamedValue{{Ordinal: 1, Value: id}})
	if err != nil {
		return "", err
	}
	defer rows.Close()
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return "", err
	}
	return row(value).text(0), nil
}

// of is the text of a column that has either a number into the table or the text itself.
func (t *stringTable) of(ctx context.Context, r row, i int) string {
	if id, ok := r.int(i); ok {
		return t.get(ctx, id)
	}
	return r.text(i)
}
