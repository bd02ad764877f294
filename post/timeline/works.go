package timeline

// works reports whether something computed or communicated on a device. What only copied, as a process that touched
// another's GPU leaves it, is in the JSON, and in no median, answer or picture.
func (d *Device) works() bool { return d.Kernels > 0 || d.Compute > 0 || len(d.seen) > 0 }

// Working are the indexes of the devices that work; of all, where none does.
func (t *Timeline) Working() (working []int) {
	all := make([]int, len(t.Devices))
	for i := range t.Devices {
		all[i] = i
		if t.Devices[i].works() {
			working = append(working, i)
		}
	}
	if working == nil {
		return all
	}
	return working
}
