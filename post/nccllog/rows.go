package nccllog

import (
	"strconv"
	"strings"
)

// rowState is a row of an nccl-tests table that has begun: what there is of it, which messages may have torn apart.
type rowState struct {
	row    Row
	values []string
	pieces int
}

// maxRows is how many rows are kept, and maxLabels of how many printing processes.
const (
	maxRows   = 1 << 14
	maxLabels = 1 << 10
)

// rowValues are the numbers behind a row's head: time, algbw, busbw and wrong results, twice.
const rowValues = 8

// fragment takes text that is no message. A row of nccl-tests may be in several, with messages between.
func (r *Reader) fragment(text string) {
	label := ""
	if b := prefix(text); b.label != "" {
		label = b.label
		if i := strings.Index(text, label); i >= 0 {
			text = text[i+len(label):]
		}
	}
	if strings.ContainsAny(text, "#") {
		delete(r.rows, label)
		return
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return
	}
	if s, ok := rowHead(words); ok {
		if len(r.rows) < maxLabels || r.rows[label] != nil {
			r.rows[label] = s
		}
	} else if s := r.rows[label]; s != nil {
		s.values = append(s.values, words...)
		s.pieces++
	}
	r.finishRow(label)
}

// rowHead reads size, count, type, operation and, since 2.12, root.
func rowHead(words []string) (*rowState, bool) {
	if len(words) < 4 {
		return nil, false
	}
	size, err := strconv.ParseInt(words[0], 10, 64)
	count, err2 := strconv.ParseInt(words[1], 10, 64)
	if err != nil || err2 != nil || size < 0 || count < 0 || count > size || !letters(words[2]) || words[2][0] <= '9' ||
		!letters(words[3]) {
		return nil, false
	}
	s := &rowState{row: Row{Bytes: size, Type: kept(words[2])}, pieces: 1}
	rest := words[4:]
	if len(rest) > 0 {
		if _, err := strconv.Atoi(rest[0]); err == nil && len(rest) != rowValues {
			rest = rest[1:]
		}
	}
	s.values = append(s.values, rest...)
	return s, true
}

// finishRow keeps a row that has all its numbers, if they fit each other: what the times say must be what the
// bandwidths say.
func (r *Reader) finishRow(label string) {
	s := r.rows[label]
	if s == nil || len(s.values) < rowValues {
		return
	}
	delete(r.rows, label)
	if len(s.values) > rowValues || len(r.log.Rows) >= maxRows {
		return
	}
	var v [rowValues]float64
	for i, w := range s.values {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil && i%4 != 3 || x != x || x < 0 || x > 1e15 {
			return
		}
		v[i] = x
	}
	if !fits(s.row.Bytes, v[0], v[1]) || !fits(s.row.Bytes, v[4], v[5]) {
		return
	}
	s.row.OutTime, s.row.OutBusbw, s.row.InTime, s.row.InBusbw = v[0], v[2], v[4], v[6]
	s.row.Assembled = s.pieces > 1
	r.log.Rows = append(r.log.Rows, s.row)
}

// fits says whether bytes in so many microseconds are so many GB/s, as rounded to print.
func fits(bytes int64, us, algbw float64) bool {
	if us <= 0 {
		return false
	}
	is := float64(bytes) / us / 1e3
	return is-algbw < 0.01*is+0.011 && algbw-is < 0.01*is+0.011
}
