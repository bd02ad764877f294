//go:build cgo

package loop

import (
	"errors"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestBuffer(t *testing.T) {
	page := os.Getpagesize()
	for _, n := range []int64{0, 1, int64(page), int64(page) + 1, 1 << 20} {
		b, err := AllocBuffer(n)
		must.NoError(t, err)
		if b.Pointer() == nil || uintptr(b.Pointer())%uintptr(page) != 0 || int64(len(b.Bytes())) != n {
			t.Errorf("%d bytes: %v, %d bytes", n, b.Pointer(), len(b.Bytes()))
		}
		for i, v := range b.Bytes() {
			if v != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i, v)
			}
			b.Bytes()[i] = 1
		}
		if err := errors.Join(b.Free(), b.Free()); err != nil || b.Pointer() != nil || len(b.Bytes()) != 0 {
			t.Errorf("%d bytes: %v, %v", n, err, b.Pointer())
		}
	}
	var none *Buffer
	test.NoError(t, none.Free())
}

func TestBufferTooLarge(t *testing.T) {
	for _, n := range []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 1, 1 << 60} {
		b, err := AllocBuffer(n)
		if err == nil {
			t.Fatalf("%d bytes: %v", n, b)
		}
		if n == 1<<60 && (!errors.Is(err, syscall.ENOMEM) ||
			!strings.Contains(err.Error(), "1152921504606846976 bytes")) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
