package timeline

// works reports whether a device computed or communicated. Devices that only copied, such as another process's GPU,
// are only in the JSON, not in medians, notices or charts.
func (d *Device) works() bool { return d.Kernels > 0 || d.Compute > 0 || len(d.seen) > 0 }

// Working returns the indexes of the working devices; of all, if there are none.
func (t *Timeline) Working() []int {
	return indexesOrAll(len(t.Devices), func(i int) bool { return t.Devices[i].works() })
}

// indexesOrAll returns the indexes below n that satisfy a condition; all, if none does.
func indexesOrAll(n int, holds func(int) bool) (some []int) {
	all := make([]int, n)
	for i := range all {
		all[i] = i
		if holds(i) {
			some = append(some, i)
		}
	}
	if some == nil {
		return all
	}
	return some
}
