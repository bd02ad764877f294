package machine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// GrantedCPUs are those on which the system lets a thread of this process run, whatever its launcher has bound it to;
// nil if unknown.
func GrantedCPUs() []int {
	found := make(chan []int)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and nothing else runs where it may
		var all, granted unix.CPUSet
		const most = 8 * int(unsafe.Sizeof(all))
		for i := range most {
			all.Set(i)
		}
		var cpus []int
		if unix.SchedSetaffinity(0, &all) == nil && unix.SchedGetaffinity(0, &granted) == nil {
			for i := range most {
				if granted.IsSet(i) {
					cpus = append(cpus, i)
				}
			}
		}
		found <- cpus
	}()
	return <-found
}
