package result

// set is a set of small numbers: of lines, records, runs.
type set []uint64

func (s *set) add(n int) {
	for len(*s) <= n/64 {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s set) has(n int) bool { return n/64 < len(s) && s[n/64]&(1<<(n%64)) != 0 }

func (s set) remove(n int) {
	if n/64 < len(s) {
		s[n/64] &^= 1 << (n % 64)
	}
}

// join adds all that t has.
func (s *set) join(t set) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, word := range t {
		(*s)[i] |= word
	}
}
