package units

import (
	"math"
	"testing"

	"github.com/shoenig/test"
)

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "launch"): "1 launch", Count(2, "launch"): "2 launches", Count(0, "run"): "0 runs",
		Count(3, "process"): "3 processes",
		Duration(0):         "-", SignedDuration(0): "0", SignedDuration(-1.5e-3): "-1.500 ms",
		Duration(12.5e-6): "12.50 us",
		Duration(0.9996):  "999.6 ms", Duration(0.99996): "1.000 s",
		Duration(999.96e-6): "1.000 ms", Gigabytes(0.0031e9): "0.0031", Gigabytes(0): "0.000",
		Gigabytes(1.14e3): "1.1e-06", Gigabytes(0.00996e9): "0.010", Gigabytes(1234e9): "1234.0",
		Bandwidth(338.8e9).String(): "338.8 GB/s",
		Times(0.5):                  "0.500", Times(1.5): "1.50", Times(15): "15.0", Times(150): "150",
		Some([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}): "1, 2, 3, 4, 5, 6, 7, 8 and 2 more",
		Share(0.334).String(): "33 %", Share(0.031).String(): "3.1 %", Bytes(1 << 20).String(): "1 MiB",
		RoughBytes(12595).String(): "12.3 KiB", RoughBytes(3.14159).String(): "3.14 B",
		RoughBytes(999).String():    "999 B",
		RoughBytes(1023.7).String(): "1.00 KiB", RoughBytes(2e6).String(): "1.91 MiB",
		RoughBytes(5e15).String(): "4547 TiB", LinkRate(31.5e9).String(): "31.5 GB/s",
		LinkRate(1800e9).String(): "1800 GB/s",
		Capital("élan"):           "Élan", Capital(""): "", Capital("\xffx"): "\xffx",
		Nanoseconds(25e-9).String():   "25 ns",
		RoughBytes(25 << 20).String(): "25 MiB",
		Probability(0.0001).String():  "less than 1 in 1000", Probability(0.012).String(): "1.2 %",
	} {
		test.EqOp(t, want, got)
	}
}

func TestBinary(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 32 << 20: "32 MiB",
		1 << 40: "1 TiB", 1023 << 20: "0.999 GiB", 1048261427: "0.976 GiB", math.MaxInt64: "8 EiB"} {
		test.EqOp(t, want, Binary(n), test.Sprint(n))
	}
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"too \"large\" by far":   `too "large" by far`,
		"NCCL_ALGO=<unset>":      `NCCL_ALGO=\<unset>`,
		`a|b`:                    `a\|b`,
		`a\|b`:                   `a\\\|b`,
		"two\r\nlines\nor three": "two lines or three",
		"\x1b[31mred\u202e":      "\uFFFD[31mred\uFFFD",
		"节点 é":                   "节点 é",
		"[x](http://x)":          `[x]\(http://x)`,
	} {
		test.EqOp(t, want, Markdown(text), test.Sprint(text))
	}
}
