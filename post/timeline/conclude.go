package timeline

// conclude finds what only all devices together tell, and says what it means.
func conclude(t *Timeline) {
	for i := range t.Devices {
		d := &t.Devices[i]
		d.overlaps()
		for s := range d.Steps {
			d.Steps[s].overlaps()
		}
	}
	compareRanks(t)
	t.review()
}
