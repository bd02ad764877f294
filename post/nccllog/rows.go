package nccllog

import (
	"strconv"
	"strings"
)

// rowValues are the numbers behind a row's head: time, algbw, busbw and wrong results, twice.
const rowValues = 8

// fragment reads text that is no message. A row of nccl-tests may be in several, with messages between: its head is
// size, count, type, operation and, since 2.12, root.
func (r *Reader) fragment(text string) {
	if rest, _ := unprefixed(text); rest != "" {
		text = rest
	}
	words := strings.Fields(text)
	switch {
	case strings.Contains(text, "#"):
		r.row = nil
	case isRowHead(words):
		r.row = words
		if _, err := strconv.Atoi(strings.Join(words[4:min(5, len(words))], "")); err == nil &&
			len(words) != 4+rowValues {
			r.row = append(words[:4:4], words[5:]...)
		}
	case r.row != nil:
		r.row = append(r.row, words...)
	}
	if len(r.row) >= 4+rowValues {
		r.finishRow()
		r.row = nil
	}
}

func isRowHead(words []string) bool {
	if len(words) < 4 || !letters(words[2]) || words[2][0] <= '9' || !letters(words[3]) {
		return false
	}
	size, err := strconv.ParseInt(words[0], 10, 64)
	count, err2 := strconv.ParseInt(words[1], 10, 64)
	return err == nil && err2 == nil && count >= 0 && count <= size
}

// finishRow keeps a row that has all its numbers, if the times and the bandwidths fit each other.
func (r *Reader) finishRow() {
	var v [rowValues]float64
	for i, w := range r.row[4:] {
		x, err := strconv.ParseFloat(w, 64)
		if i >= rowValues || err != nil && i%4 != 3 || x != x || x < 0 || x > 1e15 {
			return
		}
		v[i] = x
	}
	size, _ := strconv.ParseInt(r.row[0], 10, 64)
	if fits(size, v[0], v[1]) && fits(size, v[4], v[5]) && len(r.log.Rows) < mostRows {
		r.log.Rows = append(r.log.Rows, Row{Bytes: size, Type: r.row[2], OutTime: v[0], OutBusbw: v[2]})
	}
}

// fits reports whether bytes in so many microseconds are so many GB/s, as rounded to print.
func fits(bytes int64, us, algbw float64) bool {
	if us <= 0 {
		return false
	}
	is := float64(bytes) / us / 1e3
	return is-algbw < 0.01*is+0.011 && algbw-is < 0.01*is+0.011
}
