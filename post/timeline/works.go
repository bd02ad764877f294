package timeline

// works reports whether something computed or communicated on a device. What only copied, as a process that touched
// another's GPU leaves it, is in the JSON, and in no median, answer or picture.
func (d *Device) works() bool { return d.Kernels > 0 || d.Compute > 0 || len(d.seen) > 0 }

// Working are the indexes of the devices that work; of all, where none does.
func (t *Timeline) Working() []int {
	return indexesOrAll(len(t.Devices), func(i int) bool { return t.Devices[i].works() })
}

// indexesOrAll are the indexes below n for which something holds; all, where it holds for none.
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
