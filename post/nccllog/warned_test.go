package nccllog

import (
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

const unable = "NCCL WARN NET/IB : Unable to open device mlx5_0"

// A warning counts with any text before it, and in any file.
func TestWarningsWithAnyPrefix(t *testing.T) {
	const info = "n1:10:20 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
	const header, place = "n1:10:20 [0] ", "transport/net_ib.cc:111 "
	for _, prefix := range []string{
		"", place, "[0] " + place, header, header + place, "n1:10:20 [0][20] " + place, "[2026-01-02 03:04:05] " +
			header + place, header + "[2026-01-02 03:04:05] " + place,
		"LOG1.0.txt:" + header + place, "LOG1.0.txt:77:" + header + place, "logs/rank0:" + header + place,
		"LOG1.0.txt:" +
			place, "./a.log:[0] " + place,
		"[1,0]<stdout>:" + header + place, "[1,0]<stderr>:" + place, " 3: " + header + place, "3: " + place,
		"[pod/x-1/main] " + header + place, "[pod/x-1/main] " + place,
		"Jan  2 03:04:05 n1 app[1234]: " + header + place, "Jan  2 03:04:05 n1 app[1234]: " + place,
		"2026-01-02T03:04:05+0000 n1 app[1234]: " + header + place,
		"2026-01-02T03:04:05.678Z " + place, "worker-0  | " + place, "(RayWorker pid=7, ip=10.0.0.1) " + header + place,
		"INFO 01-02 03:04:05 logger.py:12] " + place,
		"some text that was cut " + header + place,
	} {
		for _, before := range []string{"", info} {
			l := read(t, before+prefix+unable+"\n")
			cut := strings.Contains(prefix, "cut") // the host may begin with the end of other text
			if len(l.Messages) != 1 ||
				l.Messages[0].Text != "NET/IB : Unable to open device mlx5_0" ||
				l.Reading.Warnings != 1 ||
				l.Reading.Damaged != 0 {
				t.Errorf("%q: %+v, %+v", prefix, l.Messages, l.Reading)
				continue
			}
			if m := l.Messages[0]; strings.HasSuffix(prefix, place) && m.Place != strings.TrimSpace(place) {
				t.Errorf("%q: place %q", prefix, m.Place)
			}
			for _, p := range l.Processes {
				if p.Host != "" && p.Host != "n1" {
					t.Errorf("%q: made up host %q", prefix, p.Host)
				}
			}
			if named := strings.Contains(prefix, header) && !cut; named &&
				(len(l.Messages[0].Processes) != 1 || l.Processes[0].PID != 10) {
				t.Errorf("%q: by %+v of %+v", prefix, l.Messages[0].Processes, l.Processes)
			}
		}
	}
}

// grep's prefix and the truncated start of a header look alike.
func TestTruncatedHeaderNotGrepFile(t *testing.T) {
	l := read(t, "n1.example:101:1n1.example:102:102 [1] NCCL INFO Launch mode Parallel\n")
	for _, p := range l.Processes {
		test.EqOp(t, "n1.example", p.Host)
	}
}

// A file without headers has no devices.
func TestNoDeviceWithoutHeader(t *testing.T) {
	l := read(t, "NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\nNCCL WARN something\n")
	if len(l.Processes) != 1 || len(l.Messages) != 1 {
		t.Errorf("%+v %+v", l.Processes, l.Messages)
	}
}

func TestUnexplainedCounted(t *testing.T) {
	const header = "n1:10:20 [0] "
	for what, c := range map[string]struct {
		log                   string
		warnings, unexplained int64
		found                 []notice.Severity
	}{
		"none": {header + "NCCL INFO Launch mode Parallel\n", 0, 0, nil},
		"explained": {header + "NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000\n", 1,
			0, []notice.Severity{notice.Error}},
		"unexplained": {header + "NCCL WARN the moon is full\n" + header + "NCCL WARN the moon is full\n", 2, 2,
			[]notice.Severity{notice.Warning}},
		"both": {header + "NCCL WARN the moon is full\n" + header +
			"NCCL WARN Mismatched NCCL version detected\n", 2, 1, []notice.Severity{notice.Error}},
		"the way of one": {header + "NCCL INFO init.cc:12 -> 6\n", 0, 0, []notice.Severity{notice.Error}},
		"cut by another": {"n1:10:20 [0] NCCL WARN the moon is n1:10:21 [1] NCCL INFO Launch mode Parallel\n", 1, 1,
			[]notice.Severity{notice.Warning}},
		"of the program": {header +
			"NCCL INFO Launch mode Parallel\nn1: HIP failure common.cu:12 'the moon is full'\n", 1, 1,
			[]notice.Severity{notice.Warning}},
		"of a launcher": {header + "NCCL INFO Launch mode Parallel\nsrun: error: n1: task 0: Exited with exit code 1\n",
			1, 1, []notice.Severity{notice.Warning}},
		"columns and footer": {header +
			"NCCL INFO Launch mode Parallel\n#  size  count  type  redop  time  algbw  busbw  error\n# Errors with " +
			"asterisks indicate errors\n# Out of bounds values : 0 OK\n", 0, 0, nil},
	} {
		l := read(t, c.log)
		found := l.Findings()
		if l.Reading.Warnings != c.warnings || l.Reading.Unexplained != c.unexplained ||
			(len(found) > 0) != (c.found != nil) || len(found) > 0 && found[0].Severity != c.found[0] {
			t.Errorf("%s: %+v, found %+v", what, l.Reading, found)
		}
	}
}

// PyTorch quotes NCCL's last warning in its exception; this is enough to name a cause.
func TestLastErrorOfPyTorch(t *testing.T) {
	text := `[rank1]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, invalid usage, NCCL ` +
		`version 2.20.5
[rank1]: ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
[rank1]: Last error:

[rank1]: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10
[rank1]: frame #0: c10::Error
`
	all := read(t, text).Findings()
	if len(all) == 0 || all[0].Code() != "duplicate-gpu" {
		t.Errorf("%+v", all)
	}
	if err := NewReader().Add("a", strings.NewReader("ValueError: no such option\n")); err == nil {
		t.Error("an error of a program that is not about NCCL is taken for a log of it")
	}
}
