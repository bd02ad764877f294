//go:build cgo

package cudart

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func newMover(t *testing.T, c *Context, chunk int64) *Mover {
	t.Helper()
	m, err := c.NewMover(chunk)
	must.NoError(t, err)
	atEnd(t, m.Close)
	return m
}

func alloc(t *testing.T, c *Context, bytes int64) Pointer {
	t.Helper()
	p, err := c.Alloc(bytes)
	must.NoError(t, err)
	atEnd(t, func() error { return c.Free(p) })
	return p
}

func randomTable(r *rand.Rand, n int) []byte {
	table := make([]byte, n)
	for i := range table {
		table[i] = byte(r.Uint32())
	}
	return table
}

// repeated is what Fill must write.
func repeated(n int64, table []byte, first int64) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = table[(first+int64(i))%int64(len(table))]
	}
	return out
}

// Every size, alignment and table, by chunks and by kernels: the filled bytes, those around them, and the reported
// difference.
func TestMover(t *testing.T) {
	for _, mode := range []struct {
		kernels string
		chunk   int64
		used    bool
	}{{"", 4096, false}, {"", 1 << 20, false}, {"run", 1 << 20, true}, {"run", 1000, true}} {
		t.Run(fmt.Sprintf("kernels %v chunk %d", mode.used, mode.chunk), func(t *testing.T) {
			if mode.kernels != "" {
				t.Setenv("FAKE_CUDA_KERNELS", mode.kernels)
			}
			c := open(t)
			m := newMover(t, c, mode.chunk)
			if used, why := m.Kernels(); used != mode.used || used != (why == "") {
				t.Fatalf("kernels used %v (%s), want %v", used, why, mode.used)
			}
			r := rand.New(rand.NewPCG(1, uint64(mode.chunk)))
			const room = 100_000
			area := alloc(t, c, room)
			for range 40 {
				offset, n := r.Int64N(40), r.Int64N([]int64{20, 5000, 90_000}[r.IntN(3)])
				table := randomTable(r, 1+r.IntN(int(min(mode.chunk, 5000))))
				first := r.Int64N(3 * int64(len(table)))
				check(t, m, area, room, offset, n, table, first, r)
				if t.Failed() {
					t.Fatalf("%d bytes at %d, a table of %d from %d", n, offset, len(table), first)
				}
			}
		})
	}
}

func check(t *testing.T, m *Mover, area Pointer, room, offset, n int64, table []byte, first int64, r *rand.Rand) {
	t.Helper()
	p := area + Pointer(offset)
	before := r.IntN(256)
	must.NoError(t, errors.Join(m.Set(area, room, byte(before)), m.Fill(p, n, table, first)))
	want := bytes.Repeat([]byte{byte(before)}, int(room))
	copy(want[offset:], repeated(n, table, first))
	got := make([]byte, room)
	if err := m.Read(area, 0, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("filled wrongly (error %v)", err)
	}
	if at, err := m.Differs(p, n, table, first, Near{}); at != -1 || err != nil {
		t.Errorf("a difference at %d, error %v", at, err)
	}
	for wrong := n - 1; wrong >= 0; wrong = wrong/2 - 1 {
		must.NoError(t, m.Set(p+Pointer(wrong), 1, ^want[offset+wrong]))
		if at, err := m.Differs(p, n, table, first, Near{}); at != wrong || err != nil {
			t.Errorf("a difference at %d (error %v), want %d", at, err, wrong)
		}
	}
}

func TestMoverRefuses(t *testing.T) {
	c := open(t)
	m := newMover(t, c, 64)
	p := alloc(t, c, 1000)
	test.NoError(t, m.Fill(p, 1000, []byte{1}, 0))
	differs := func(bytes int64, table []byte, near Near) error {
		_, err := m.Differs(p, bytes, table, 0, near)
		return err
	}
	long := make([]byte, 65)
	for what, err := range map[string]error{
		"no table":                   m.Fill(p, 1, nil, 0),
		"a table of 65 bytes":        m.Fill(p, 1, long, 0),
		"compare: no table":          differs(1, nil, Near{}),
		"compare: a long table":      differs(1, long, Near{}),
		"a negative first byte":      m.Fill(p, 1, []byte{1}, -1),
		"elements of 3 bytes":        differs(12, long[:12], Near{3, 1, 0}),
		"part of an element":         differs(12, long[:12], Near{8, 1, 0}),
		"more than there is":         m.Fill(p, 1001, []byte{1}, 0),
		"compare more than there is": differs(1001, []byte{1}, Near{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// Faulty kernels are not used; the chunks do the work.
func TestKernelTrial(t *testing.T) {
	for _, c := range []struct{ mode, fail, want string }{
		{"", "", "cuModuleLoadDataEx: CUDA_ERROR_NOT_SUPPORTED (801)"},
		{"wrong-fill", "", "the fill kernel left a wrong byte at offset 4095"},
		{"beyond-fill", "", "the fill kernel left a wrong byte at offset 4096"},
		{"wrong-compare", "", "the first wrong byte is at offset 2048 (-1: no byte), the compare kernel reports 2049"},
		{"wrong-near", "", "in a trial with floats of 1 bytes: the first element outside the tolerance is at offset"},
		{"run", "cuModuleGetFunction=500", "cuModuleGetFunction"},
		{"run", "cuLaunchKernel=1", "cuLaunchKernel of busbar_fill: CUDA_ERROR_INVALID_VALUE"},
		{"run", "cuMemAlloc_v2=2", "out of memory"},
		{"run", "cuDeviceGetAttribute=1", "cuDeviceGetAttribute of 16"},
	} {
		t.Run(c.mode+c.fail, func(t *testing.T) {
			context := open(t)
			p := alloc(t, context, 5000)
			if c.mode != "" {
				t.Setenv("FAKE_CUDA_KERNELS", c.mode)
			}
			t.Setenv("FAKE_CUDA_FAIL", c.fail)
			m := newMover(t, context, 1<<20)
			t.Setenv("FAKE_CUDA_FAIL", "")
			if used, why := m.Kernels(); used || !strings.Contains(why, c.want) {
				t.Errorf("used %v, why %q, want %q", used, why, c.want)
			}
			check(t, m, p, 5000, 1, 4500, []byte{1, 2, 3}, 1, rand.New(rand.NewPCG(1, 1)))
		})
	}
}

// When any function fails, the error names it and everything is released.
func TestMoverErrors(t *testing.T) {
	c := open(t)
	for _, symbol := range []string{"cuStreamCreate", "cuEventCreate", "cuMemHostAlloc"} {
		t.Setenv("FAKE_CUDA_FAIL", symbol+"=2")
		var e *Error
		if _, err := c.NewMover(64); !errors.As(err, &e) || e.Op != symbol || !e.IsOutOfMemory() {
			t.Errorf("%s fails: error %v", symbol, err)
		}
	}
	t.Setenv("FAKE_CUDA_FAIL", "")
	p := alloc(t, c, 1000)
	const both = "cuMemsetD8Async cuStreamSynchronize cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 "
	for _, symbols := range []string{both + "cuMemcpyDtoDAsync_v2 cuEventRecord cuEventSynchronize",
		both + "cuLaunchKernel"} {
		m := newMover(t, c, 512)
		for _, symbol := range strings.Fields(symbols) {
			t.Setenv("FAKE_CUDA_FAIL", symbol+"=700")
			_, err := m.Differs(p, 1000, []byte{1}, 0, Near{})
			err = errors.Join(err, m.Set(p, 10, 1), m.Fill(p, 1000, []byte{1}, 0))
			test.ErrorContains(t, err, symbol)
			t.Setenv("FAKE_CUDA_FAIL", "")
		}
		t.Setenv("FAKE_CUDA_KERNELS", "run")
	}
}

// floats returns n random floats of a width: some small, some close to each other across zero, some NaN.
func floats(r *rand.Rand, n, width int, greatest uint64) []uint64 {
	bits := make([]uint64, n)
	for i := range bits {
		bits[i] = r.Uint64N(greatest + 1)
		if r.IntN(4) == 0 {
			bits[i] = r.Uint64N(3)
		}
		bits[i] |= r.Uint64N(2) << (8*width - 1)
	}
	return bits
}

func bytesOf(bits []uint64, width int) []byte {
	b := make([]byte, len(bits)*width)
	for i := range b {
		b[i] = byte(bits[i/width] >> (8 * (i % width)))
	}
	return b
}

// far reports whether a float is NaN or outside the tolerance of another, by the order of floats.
func far(bits, other uint64, near Near) bool {
	sign := uint64(1) << (8*near.Bytes - 1)
	value := func(bits uint64) int64 {
		if bits&sign != 0 {
			return -int64(bits &^ sign)
		}
		return int64(bits)
	}
	apart := value(bits) - value(other)
	return bits&^sign > near.Greatest || max(apart, -apart) > int64(near.ULPs)
}

// The host, its threads, the chunks and the kernel accept floats within the tolerance and find the first outside.
func TestNear(t *testing.T) {
	t.Run("chunks", near)
	t.Run("kernels", func(t *testing.T) {
		t.Setenv("FAKE_CUDA_KERNELS", "run")
		near(t)
	})
}

func near(t *testing.T) {
	c := open(t)
	m := newMover(t, c, 1<<15)
	area := alloc(t, c, 1<<18)
	r := rand.New(rand.NewPCG(3, 3))
	for _, near := range []Near{{1, 2, 0x7E}, {1, 3, 0x7C}, {2, 2, 0x7C00}, {2, 5, 0x7F80}, {4, 4, 0x7F800000},
		{8, 1 << 40, 0x7FF << 52}} {
		for range 200 {
			width := int(near.Bytes)
			table := floats(r, 1+r.IntN(600), width, near.Greatest)
			n, first, offset := 1+r.IntN(20000/width), r.IntN(len(table)), int64(r.IntN(20)*width)
			got := make([]uint64, n)
			for i := range got {
				got[i] = table[(first+i)%len(table)]
			}
			for range r.IntN(4) {
				switch at := &got[r.IntN(n)]; r.IntN(5) {
				case 0:
					*at = near.Greatest + 1
				case 1:
					*at = floats(r, 1, width, near.Greatest)[0]
				default:
					*at += r.Uint64N(near.ULPs + 2)
				}
			}
			want := int64(-1)
			for i := n - 1; i >= 0; i-- {
				if far(got[i], table[(first+i)%len(table)], near) {
					want = int64(i * width)
				}
			}
			b, p, from := bytesOf(got, width), area+Pointer(offset), int64(first*width)
			must.NoError(t, m.Fill(p, int64(len(b)), b, 0))
			at, err := m.Differs(p, int64(len(b)), bytesOf(table, width), from, near)
			host := differs(unsafe.Pointer(&b[0]), int64(len(b)), bytesOf(table, width), from, near)
			if err != nil || at != want || host != want {
				t.Fatalf("%+v: found offset %d, on the host %d, want %d, error %v", near, at, host, want, err)
			}
		}
	}
}

// Every thread finds differences, and the first one counts; threads share whole floats.
func TestDiffersByThreads(t *testing.T) {
	near := Near{4, 2, 0x7F800000}
	table := bytesOf(floats(rand.New(rand.NewPCG(4, 4)), 4093, 4, 1<<20), 4)
	const n = 9*comparePart + 76
	buffer := repeated(n, table, 8)
	for wrong := int64(n - 4); wrong >= 0; wrong -= n / 17 &^ 3 {
		if at := differs(unsafe.Pointer(&buffer[0]), n, table, 8, near); at >= 0 && at <= wrong {
			t.Errorf("found %d before %d was wrong", at, wrong)
		}
		buffer[wrong+2] ^= 0x40
		test.EqOp(t, wrong, differs(unsafe.Pointer(&buffer[0]), n, table, 8, near))
		test.EqOp(t, wrong+2, differs(unsafe.Pointer(&buffer[0]), n, table, 8, Near{}))
	}
}
