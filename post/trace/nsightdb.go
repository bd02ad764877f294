package trace

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// database is a SQLite file that is read table by table, each in one pass. After the first error, which err keeps,
// nothing more is read.
type database struct {
	ctx     context.Context
	conn    driver.Conn
	columns map[string]map[string]bool // of each table
	strings map[int64]string           // those looked up, by their number
	err     error
}

// openDatabase opens a file that nobody writes to, so that nothing is made beside it and it may lie where nothing can
// be written.
func openDatabase(ctx context.Context, path string) (*database, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: "mode=ro&immutable=1"}
	db := &database{ctx: ctx, columns: map[string]map[string]bool{}, strings: map[int64]string{}}
	if db.conn, err = (&sqlite.Driver{}).Open(name.String()); err != nil {
		return nil, err
	}
	db.query("SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'",
		func(r row) {
			table := r.text(0)
			if db.columns[table] == nil {
				db.columns[table] = map[string]bool{}
			}
			db.columns[table][r.text(1)] = true
		})
	if db.err == nil && db.columns["StringIds"] == nil {
		db.err = fmt.Errorf("%w (a SQLite database without the tables of an export)", ErrNotTrace)
	}
	return db, nil
}

// close ends reading; nothing was written that closing could fail to keep.
func (db *database) close() { _ = db.conn.Close() }

// query hands each row on; a row is valid until the next.
func (db *database) query(text string, each func(row)) {
	if db.err != nil {
		return
	}
	rows, err := db.conn.(driver.QueryerContext).QueryContext(db.ctx, text, nil)
	if db.err = err; err != nil {
		return
	}
	defer rows.Close()
	values := make(row, len(rows.Columns()))
	for n := 1; ; n++ {
		if err := rows.Next(values); err != nil {
			if !errors.Is(err, io.EOF) {
				db.err = err
			}
			return
		}
		if n%4096 == 0 && db.ctx.Err() != nil {
			db.err = db.ctx.Err()
			return
		}
		each(values)
	}
}

// scan hands on the rows of a table, with the columns asked for: one that this file does not have is null.
func (db *database) scan(table string, columns []string, each func(row)) {
	if db.columns[table] == nil {
		return
	}
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "NULL"
		if db.columns[table][column] {
			list[i] = `"` + column + `"`
		}
	}
	db.query(fmt.Sprintf("SELECT %s FROM %s", strings.Join(list, ", "), table), each)
}

// string is the text that a column refers to by its number in the table StringIds; "" for NULL.
func (db *database) string(r row, i int) string {
	id, ok := r.int(i)
	if !ok || db.err != nil {
		return ""
	}
	s, known := db.strings[id]
	if !known {
		db.query(fmt.Sprintf("SELECT value FROM StringIds WHERE id = %d", id), func(r row) { s = r.text(0) })
		db.strings[id] = s
	}
	return s
}

// row is one row: a column is null where the file has nothing.
type row []driver.Value

// int is a number; ok is false for NULL.
func (r row) int(i int) (n int64, ok bool) {
	n, ok = r[i].(int64)
	return n, ok
}

// or is a number, or a default for NULL.
func (r row) or(i int, other int64) int64 {
	if n, ok := r.int(i); ok {
		return n
	}
	return other
}

// text is a string; "" for NULL.
func (r row) text(i int) string {
	s, _ := r[i].(string)
	return s
}

// longest is what a time may be at most, in nanoseconds: differences of two times do not overflow then.
const longest = math.MaxInt64 / 4

// span is that of the first two columns; ok is false where it has no beginning or an invalid one.
func (r row) span() (s Span, ok bool) {
	from, ok := r.int(0)
	if !ok || from > longest || from < -longest {
		return s, false
	}
	to := r.or(1, from)
	if to < from || to > longest {
		to = from
	}
	return Span{from, to}, true
}
