package trace

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// database is a SQLite file that is read table by table, each in one pass, and beyond what is damaged in it as far as
// that goes.
type database struct {
	conn    driver.Conn
	columns map[string]map[string]bool // of each table
	// rows that a table of a file of this size can have: a damaged one may lead in circles
	most    int
	short   string // how much of the file is missing; "" where it is whole
	damaged []damage
}

// damage is a table that could not be read to its end.
type damage struct {
	table       string
	before, end int // rows that were read from its beginning and from its end
	err         error
}

// openDatabase opens a file that nobody writes to, so that nothing is made beside it and it may lie where nothing can
// be written. A file that is shorter than it says, or whose list of tables is damaged, is opened all the same.
func openDatabase(ctx context.Context, path string) (*database, error) {
	name, err := databaseURI(path)
	if err != nil {
		return nil, err
	}
	conn, err := (&sqlite.Driver{}).Open(name)
	if err != nil {
		return nil, err
	}
	db := &database{conn: conn, columns: map[string]map[string]bool{}}
	if err := db.prepare(ctx, path); err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

// close ends reading; nothing was written that closing could fail to keep.
func (db *database) close() { _ = db.conn.Close() }

// databaseURI names a file to SQLite; what has a meaning in such a name is escaped.
func databaseURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(slashed)
	return "file:" + escaped + "?mode=ro&immutable=1", nil
}

// prepare reads which tables there are. writable_schema lets SQLite pass over entries of that list that make no sense
// and open a file that is shorter than its header says; nothing is written all the same.
func (db *database) prepare(ctx context.Context, path string) error {
	short, size, err := endsEarly(path)
	if err != nil {
		return err
	}
	db.most = int(size/4) + 1000
	db.short = short
	for _, pragma := range []string{"writable_schema=1", "trusted_schema=0", "cell_size_check=1", "mmap_size=0",
		"cache_size=-8000"} {
		if err := db.query(ctx, "PRAGMA "+pragma, func([]driver.Value) error { return nil }); err != nil {
			return err
		}
	}
	var tables []string
	err = db.query(ctx, "SELECT name, sql FROM sqlite_master WHERE type = 'table'", func(row []driver.Value) error {
		name, _ := row[0].(string)
		made, _ := row[1].(string)
		if name != "" && !strings.HasPrefix(strings.ToUpper(made), "CREATE VIRTUAL") {
			tables = append(tables, name)
		}
		return nil
	})
	if err != nil && (ctx.Err() != nil || len(tables) == 0) {
		return err
	}
	if err != nil {
		db.damaged = append(db.damaged, damage{table: "sqlite_master", before: len(tables), err: err})
	}
	for _, table := range tables {
		columns := map[string]bool{}
		err := db.query(ctx, "PRAGMA table_info("+quoted(table)+")", func(row []driver.Value) error {
			if name, ok := row[1].(string); ok {
				columns[name] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		db.columns[table] = columns
	}
	return nil
}

// endsEarly compares how long a file is with how long its header says it is.
func endsEarly(path string) (short string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	head := make([]byte, 32)
	if _, err := io.ReadFull(file, head); err != nil {
		return "", 0, errors.New("it ends within its header")
	}
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	whole := page * int64(binary.BigEndian.Uint32(head[28:]))
	if info.Size() < whole {
		short = fmt.Sprintf("it ends after %d of %d bytes", info.Size(), whole)
	}
	return short, info.Size(), nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// has says whether there is such a table.
func (db *database) has(table string) bool { return db.columns[table] != nil }

// query hands each row on; a row is valid until the next.
func (db *database) query(ctx context.Context, text string, each func([]driver.Value) error) error {
	rows, err := db.conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// errTooMany ends the reading of a table that leads in circles.
var errTooMany = errors.New("more rows than fit in the file")

// scan hands on the rows of a table in the order in which they lie there, with the columns asked for: one that this
// file does not have is null. Where the table is damaged, what lies before the damage and what lies after it is handed
// on. The error is that of the context alone.
func (db *database) scan(ctx context.Context, table, where string, columns []string, each func(row)) error {
	if !db.has(table) {
		return nil
	}
	var list strings.Builder
	for _, column := range columns {
		if db.columns[table][column] {
			list.WriteString(", " + quoted(column))
		} else {
			list.WriteString(", NULL")
		}
	}
	if where != "" {
		where = " AND " + where
	}
	n, last := 0, int64(math.MinInt64)
	read := func(from int64, order string) error {
		text := fmt.Sprintf("SELECT rowid%s FROM %s WHERE rowid > %d%s ORDER BY rowid %s", list.String(), quoted(table), from,
			where, order)
		return db.query(ctx, text, func(values []driver.Value) error {
			if n++; n > db.most {
				return errTooMany
			}
			if n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if id, ok := values[0].(int64); ok {
				last = max(last, id)
			}
			each(row(values[1:]))
			return nil
		})
	}
	err := read(math.MinInt64, "ASC")
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	before := n
	if !errors.Is(err, errTooMany) {
		_ = read(last, "DESC") // how far it comes from the end is all that can be had
	}
	db.damaged = append(db.damaged, damage{table, before, n - before, err})
	return ctx.Err()
}

func (db *database) isDamaged() bool { return db.short != "" || len(db.damaged) > 0 }

// cut says what could not be read; "" where everything was.
func (db *database) cut() string {
	var says []string
	if db.short != "" {
		says = append(says, db.short)
	}
	none := 0
	for _, d := range db.damaged {
		switch {
		case d.before+d.end == 0:
			none++
		case d.end == 0:
			says = append(says, fmt.Sprintf("of table %s the first %d rows were read (%v)", d.table, d.before, d.err))
		default:
			says = append(says, fmt.Sprintf("of table %s the first %d rows were read and the last %d (%v)", d.table, d.before,
				d.end, d.err))
		}
	}
	if none > 0 {
		says = append(says, fmt.Sprintf("%d tables could not be read at all", none))
	}
	return strings.Join(says, "; ")
}

// row is one row: a column is null where the file has nothing.
type row []driver.Value

// int is a number; ok is false where there is none.
func (r row) int(i int) (n int64, ok bool) {
	switch v := r[i].(type) {
	case int64:
		return v, true
	case float64:
		if v > -1e18 && v < 1e18 {
			return int64(v), true
		}
	}
	return 0, false
}

// or is a number, or another where there is none.
func (r row) or(i int, other int64) int64 {
	if n, ok := r.int(i); ok {
		return n
	}
	return other
}

// text is a string; "" where there is none.
func (r row) text(i int) string {
	switch v := r[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// bytes are a blob, whatever its column is declared as; nil where there is none.
func (r row) bytes(i int) []byte {
	switch v := r[i].(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

// longest is what a time may be at most, in nanoseconds: differences of two times do not overflow then.
const longest = math.MaxInt64 / 4

// span is that of two columns; ok is false where it has no beginning or a senseless one.
func (r row) span(start, end int) (s Span, ok bool) {
	from, ok := r.int(start)
	if !ok || from > longest || from < -longest {
		return s, false
	}
	to := r.or(end, from)
	if to < from || to > longest {
		to = from
	}
	return Span{from, to}, true
}
