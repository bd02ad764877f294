package gloo

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Thread is where and how a thread runs. What is not known is empty.
type Thread struct {
	ID     int
	CPUs   string // on which it may run: "0-3,8"
	Policy string // other, batch, idle, fifo, rr, deadline
}

// The kernel's numbers of its policies (sched.h).
var policies = map[int]string{0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}

// threadFacts reads what the kernel says of a thread of this process.
func threadFacts(tasks string, id int) Thread {
	t := Thread{ID: id}
	if id == 0 {
		return t
	}
	folder := filepath.Join(tasks, strconv.Itoa(id))
	if status, err := os.ReadFile(filepath.Join(folder, "status")); err == nil {
		for _, line := range strings.Split(string(status), "\n") {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				t.CPUs = strings.TrimSpace(list)
			}
		}
	}
	if stat, err := os.ReadFile(filepath.Join(folder, "stat")); err == nil {
		// The second field is a name in brackets that may hold anything; the policy is the 41st.
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 38 {
			if n, err := strconv.Atoi(fields[38]); err == nil {
				t.Policy = policies[n]
			}
		}
	}
	return t
}
