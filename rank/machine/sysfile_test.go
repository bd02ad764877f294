package machine

import "testing"

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
