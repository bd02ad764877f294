package evidence

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Interned keeps calls, stacks and members of groups once for all dumps: ranks call the same thousands of times. Its
// zero value is empty.
type Interned struct {
	calls  table[Call]
	stacks table[Stack]
	lists  table[[]int]
}

// table is the one value of each key.
type table[T any] struct {
	mu sync.RWMutex
	of map[string]*T
}

// get returns the value of a key, which build makes where it is new. Another reader may add it first.
func (t *table[T]) get(key []byte, build func() *T) *T {
	t.mu.RLock()
	v := t.of[string(key)]
	t.mu.RUnlock()
	if v != nil {
		return v
	}
	made := build()
	t.mu.Lock()
	defer t.mu.Unlock()
	if v = t.of[string(key)]; v != nil {
		return v
	}
	if t.of == nil {
		t.of = map[string]*T{}
	}
	t.of[string(key)] = made
	return made
}

// usualKey is how many bytes of a key need no memory.
const usualKey = 512

func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}

// Call returns the one value that is equal to these, whose lists may be reused.
func (i *Interned) Call(name string, in, out []int64, types []string) *Call {
	key := appendText(make([]byte, 0, usualKey), name)
	for _, list := range [][]int64{in, out} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, n := range list {
			key = binary.AppendVarint(key, n)
		}
	}
	for _, t := range types {
		key = appendText(key, t)
	}
	return i.calls.get(key, func() *Call {
		c := newCall(name)
		c.In, c.Out = slices.Clone(in), slices.Clone(out)
		for _, t := range types {
			c.Types = append(c.Types, strings.Clone(t))
		}
		return c
	})
}

// Stack returns the one value with these frames, whose list may be reused.
func (i *Interned) Stack(frames []Frame) *Stack {
	if len(frames) == 0 {
		return nil
	}
	key := make([]byte, 0, usualKey)
	for _, f := range frames {
		key = binary.AppendVarint(appendText(appendText(key, f.Function), f.File), int64(f.Line))
	}
	return i.stacks.get(key, func() *Stack {
		s := &Stack{}
		for _, f := range frames {
			s.Frames = append(s.Frames, Frame{strings.Clone(f.Function), strings.Clone(f.File), f.Line})
		}
		return s
	})
}

// Members reads the ranks of a group, "[0, 1, 2, 3]", once for equal texts.
func (i *Interned) Members(text string) []int {
	return *i.lists.get([]byte(text), func() *[]int {
		var all []int
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
			if n := number(word); n >= 0 {
				all = append(all, n)
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		return &all
	})
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
	n, err := strconv.ParseUint(s, 10, 25)
	if err != nil {
		return -1
	}
	return int(n)
}
