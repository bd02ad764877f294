package evidence

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
)

// Interned keeps calls and stacks once for all dumps: ranks call the same thousands of times.
type Interned struct {
	mu     sync.Mutex
	calls  map[string]*Call
	stacks map[string]*Stack
	texts  map[string]string
	lists  map[string][]int
}

// NewInterned is an empty one.
func NewInterned() *Interned {
	return &Interned{calls: map[string]*Call{}, stacks: map[string]*Stack{}, texts: map[string]string{},
		lists: map[string][]int{}}
}

// Local is one reader's view of an Interned: what it has seen is found without a lock.
type Local struct {
	of     *Interned
	calls  map[string]*Call
	stacks map[string]*Stack
	key    []byte
}

// Local returns a view for one reader.
func (i *Interned) Local() *Local {
	return &Local{of: i, calls: map[string]*Call{}, stacks: map[string]*Stack{}}
}

func (l *Local) text(s string) {
	l.key = binary.AppendUvarint(l.key, uint64(len(s)))
	l.key = append(l.key, s...)
}

func (l *Local) numbers(all []int64) {
	l.key = binary.AppendUvarint(l.key, uint64(len(all)))
	for _, n := range all {
		l.key = binary.AppendVarint(l.key, n)
	}
}

// Call returns the one value that is equal to c, whose lists may be reused.
func (l *Local) Call(name string, in, out []int64, types []string) *Call {
	l.key = l.key[:0]
	l.text(name)
	l.numbers(in)
	l.numbers(out)
	for _, t := range types {
		l.text(t)
	}
	if c := l.calls[string(l.key)]; c != nil {
		return c
	}
	i, key := l.of, string(l.key)
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.calls[key]
	if c == nil {
		c = newCall(name)
		c.In, c.Out = slices.Clone(in), slices.Clone(out)
		for _, t := range types {
			c.Types = append(c.Types, i.shared(t))
		}
		i.calls[key] = c
	}
	l.calls[key] = c
	return c
}

// Stack returns the one value with these frames, whose list may be reused.
func (l *Local) Stack(frames []Frame) *Stack {
	if len(frames) == 0 {
		return nil
	}
	l.key = l.key[:0]
	for _, f := range frames {
		l.text(f.Function)
		l.text(f.File)
		l.key = binary.AppendVarint(l.key, int64(f.Line))
	}
	if s := l.stacks[string(l.key)]; s != nil {
		return s
	}
	i, key := l.of, string(l.key)
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.stacks[key]
	if s == nil {
		s = &Stack{}
		for _, f := range frames {
			s.Frames = append(s.Frames, Frame{i.shared(f.Function), i.shared(f.File), f.Line})
		}
		i.stacks[key] = s
	}
	l.stacks[key] = s
	return s
}

// Members reads the ranks of a group, "[0, 1, 2, 3]", once for equal texts.
func (l *Local) Members(text string) []int {
	i := l.of
	i.mu.Lock()
	defer i.mu.Unlock()
	all, known := i.lists[text]
	if known {
		return all
	}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
		if n := number(word); n >= 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	i.lists[strings.Clone(text)] = all
	return all
}

// shared is a text that does not keep the file alive in which it was read.
func (i *Interned) shared(s string) string {
	kept, known := i.texts[s]
	if !known {
		kept = strings.Clone(s)
		i.texts[kept] = kept
	}
	return kept
}

// newCall splits a profiling name: "nccl:all_reduce", "nccl:send 1->2", "gloo:recv 3<-?".
func newCall(name string) *Call {
	c := &Call{From: -1, To: -1, Op: strings.Clone(name)}
	if i := strings.LastIndexByte(c.Op, ':'); i >= 0 {
		c.Backend, c.Op = c.Op[:i], c.Op[i+1:]
	}
	op, peers, found := strings.Cut(c.Op, " ")
	if !found {
		return c
	}
	c.Op = op
	if own, to, sent := strings.Cut(peers, "->"); sent {
		c.From, c.To = number(own), number(to)
	} else if own, from, received := strings.Cut(peers, "<-"); received {
		c.From, c.To = number(from), number(own)
	}
	return c
}

func number(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1<<24 {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	if s == "" {
		return -1
	}
	return n
}
