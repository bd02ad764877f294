package coll

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseSize reads a size in bytes as nccl-tests reads it: a whole number, and K, M, G or T as powers of 1024;
// what may follow the letter (KB, KiB) changes nothing. The error names the text and the form wanted.
func ParseSize(s string) (int64, error) {
	text := strings.TrimSpace(s)
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, fmt.Errorf("size %q: expected an integer with K, M or G (powers of 1024), such as 8, 64K or 1G", s)
	}
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q is out of range", s)
	}
	shift := 0
	switch strings.ToUpper(strings.TrimSpace(text[digits:])) {
	case "", "B":
	case "K", "KB", "KIB":
		shift = 10
	case "M", "MB", "MIB":
		shift = 20
	case "G", "GB", "GIB":
		shift = 30
	case "T", "TB", "TIB":
		shift = 40
	default:
		return 0, fmt.Errorf("size %q: %q is no unit (K, M, G and T are powers of 1024)", s,
			strings.TrimSpace(text[digits:]))
	}
	if n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("size %q is out of range", s)
	}
	return n << shift, nil
}

// FormatSize writes a size in bytes in the shortest exact binary unit: 8, 64K, 1M; with ` B`, ` KiB`, … when long. A
// size below 0 is none.
func FormatSize(n int64, long bool) string {
	if n < 0 {
		return "-"
	}
	units := []string{"", "K", "M", "G", "T"}
	names := []string{" B", " KiB", " MiB", " GiB", " TiB"}
	u := 0
	for u < len(units)-1 && n != 0 && n%1024 == 0 {
		n, u = n/1024, u+1
	}
	if long {
		return strconv.FormatInt(n, 10) + names[u]
	}
	return strconv.FormatInt(n, 10) + units[u]
}
