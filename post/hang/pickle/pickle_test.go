package pickle_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"busbar/post/hang/pickle"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestReadValues(t *testing.T) {
	var d pickle.Document
	// {"a": [1, 256, -2, 2**40, -2**40, 1.5, None, True], "b": ("x", "x")}, as Python and PyTorch write it.
	data := "\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01M\x00\x01J\xfe\xff\xff\xff" +
		"\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xffG\x3f\xf8\x00\x00\x00\x00\x00\x00N\x88" +
		"eX\x01\x00\x00\x00bq\x03X\x01\x00\x00\x00xq\x04h\x04\x86u."
	must.NoError(t, d.Read([]byte(data)))
	pairs := d.Pairs(d.Top())
	if len(pairs) != 4 || d.Text(pairs[0]) != "a" || d.Text(pairs[2]) != "b" {
		t.Fatalf("%v", pairs)
	}
	list := d.Items(pairs[1])
	for i, want := range []int64{1, 256, -2, 1 << 40, -(1 << 40), 0, 0, 1} { // 1.5 is not read
		test.EqOp(t, want, list[i].Int, test.Sprint(i))
	}
	if both := d.Items(pairs[3]); len(both) != 2 || d.Text(both[0]) != "x" || d.Text(both[1]) != "x" {
		t.Errorf("%v", both)
	}
}

// What names code, builds objects, nests without end or claims more than the file has is refused, with the operation
// and its place.
func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data      string
		op        byte
		offset    int64
		truncated bool
	}{
		"GLOBAL":          {"\x80\x02cos\nsystem\n.", 'c', 2, false},
		"STACK_GLOBAL":    {"\x80\x04\x8c\x02os\x8c\x06system\x93.", 0x93, 14, false},
		"REDUCE":          {"\x80\x02)R.", 'R', 3, false},
		"BUILD":           {"\x80\x02}}b.", 'b', 4, false},
		"PERSID":          {"\x80\x02Px\n.", 'P', 2, false},
		"huge text":       {"\x80\x02X\xff\xff\xff\xff.", 'X', 2, true},
		"huge text of 8":  {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", 0x8d, 2, true},
		"long number":     {"\x80\x02\x8a\x09123456789.", 0x8a, 2, false},
		"deep marks":      {"\x80\x02" + strings.Repeat("(", 100), '(', 66, false},
		"deep tuples":     {"\x80\x02)" + strings.Repeat("\x85", 100), 0x85, 66, false},
		"no STOP":         {"\x80\x02]", ']', 3, true},
		"no mark":         {"\x80\x02]e.", 'e', 3, false},
		"odd dictionary":  {"\x80\x02}(K\x01u.", 'u', 6, false},
		"unknown memo":    {"\x80\x02h\x07.", 'h', 2, false},
		"sparse memo":     {"\x80\x02]r\xff\xff\xff\x7f.", 'r', 3, false},
		"two values":      {"\x80\x02NN.", '.', 4, false},
		"stack below":     {"\x80\x02]a.", 'a', 3, false},
		"newer protocol":  {"\x80\x09N.", 0x80, 0, false},
		"nothing":         {"", 0, 0, true},
		"a text as list":  {"\x80\x02X\x01\x00\x00\x00aK\x01a.", 'a', 10, false},
		"values of marks": {"\x80\x02](a.", 'a', 4, false},
	} {
		var d pickle.Document
		err := d.Read([]byte(c.data))
		var refused *pickle.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if refused.Truncated != c.truncated || !c.truncated && (refused.Op != c.op || refused.Offset != c.offset) {
			t.Errorf("%s: %v, truncated: %v", name, refused, refused.Truncated)
		}
	}
}

// A list may hold itself: it is read, and nothing recurses.
func TestReadListThatHoldsItself(t *testing.T) {
	var d pickle.Document
	must.NoError(t, d.Read([]byte("\x80\x02]q\x00h\x00a.")))
	if inner := d.Items(d.Top()); len(inner) != 1 || len(d.Items(inner[0])) != 1 {
		t.Error(inner)
	}
}

// example is a dump of PyTorch.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../../examples/gpu-h200/hang/nccl_trace_rank_1")
	must.NoError(t, err)
	return data
}

// Every beginning of a dump is refused as truncated.
func TestReadTruncated(t *testing.T) {
	whole := example(t)
	var d pickle.Document
	must.NoError(t, d.Read(whole))
	for n := range whole {
		var refused *pickle.Error
		if err := d.Read(whole[:n]); !errors.As(err, &refused) || !refused.Truncated {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// walk visits every value, so that a wrong index panics.
func walk(d *pickle.Document, v pickle.Value, depth int) int {
	n := len(d.Text(v))
	if depth == 0 {
		return n
	}
	for _, e := range append(d.Items(v), d.Pairs(v)...)[:min(16, len(d.Items(v))+len(d.Pairs(v)))] {
		n += walk(d, e, depth-1)
	}
	return n
}

func FuzzRead(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte("\x80\x04\x95\x0a\x00\x00\x00\x00\x00\x00\x00" +
		"]\x94(K\x01\x8c\x01a\x94h\x01G\x3f\xf8\x00\x00\x00\x00\x00\x00\x87\x94e."))
	f.Add([]byte("\x80\x02]q\x00h\x00a."))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d, again pickle.Document
		if err := d.Read(data); err != nil {
			var refused *pickle.Error
			if !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > int64(len(data)) {
				t.Fatal(err)
			}
			return
		}
		if again.Read(bytes.Clone(data)) != nil || walk(&d, d.Top(), 3) != walk(&again, again.Top(), 3) {
			t.Fatal("a second reading differs")
		}
	})
}
