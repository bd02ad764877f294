package machine

import (
	"testing"

	"busbar/rank/machine/machinetest"
)

func TestField(t *testing.T) {
	text := "model\t\t: 17\nmodel name\t: AMD EPYC: 7763\nMax data size             unlimited  unlimited  bytes\n  " +
		"inactive_file 4096\nempty:\n"
	for key, want := range map[string]string{
		"model": "17", "model name": "AMD EPYC: 7763", "Max data size": "unlimited  unlimited  bytes",
		"inactive_file": "4096",
		"empty":         "", "inactive": "", "missing": "", "Max data": "size             unlimited  unlimited  bytes",
	} {
		if got := Field(text, key); got != want {
			t.Errorf("field %q is %q, want %q", key, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	root := machinetest.Root(t, map[string]string{"a": "42\n", "b": "max\n"})
	if n, ok := ReadNumber(root, "a"); n != 42 || !ok {
		t.Errorf("a: %d, %v", n, ok)
	}
	for _, name := range []string{"b", "none"} {
		if n, ok := ReadNumber(root, name); ok {
			t.Errorf("%s is %d", name, n)
		}
	}
	if n, ok := kilobytes("24684084 kB"); n != 24684084*1024 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if n, ok := kilobytes(""); ok {
		t.Errorf("nothing is %d bytes", n)
	}
}
