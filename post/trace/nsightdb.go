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

// database is a SQLite file, read table by table in one pass each. err keeps the first error, after which nothing more
// is read.
type database struct {
	ctx     context.Context
	conn    driver.Conn
	columns map[string]map[string]bool // of each table
	strings map[int64]string           // texts looked up, by number
	err     error
}

// openDatabase opens a file read-only and immutable, so that SQLite creates no files beside it and read-only folders
// work.
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

// close closes the file. Its error is ignored: nothing was written.
func (db *database) close() { _ = db.conn.Close() }

// query calls a function for each row; a row is valid until the next.
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

// scan calls a function for each row of a table with the given columns; a column missing in this file is NULL.
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

// string returns the text of a column that holds an index into StringIds; "" for NULL.
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

// row is one row; missing columns are NULL.
type row []driver.Value

// int returns a number; ok is false for NULL.
func (r row) int(i int) (n int64, ok bool) {
	n, ok = r[i].(int64)
	return n, ok
}

// or returns a number, or a default for NULL.
func (r row) or(i int, other int64) int64 {
	if n, ok := r.int(i); ok {
		return n
	}
	return other
}

// text returns a string; "" for NULL.
func (r row) text(i int) string {
	s, _ := r[i].(string)
	return s
}

// longest bounds times in nanoseconds, so that differences do not overflow.
const longest = math.MaxInt64 / 4

// span returns the span of the first two columns; ok is false if its start is missing or invalid.
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
