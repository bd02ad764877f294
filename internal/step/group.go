package step

// Groups are the points by their groups, each as its index, in the order of the list.
func Groups(points []Point) (groups [][]int) {
	number := map[Point]int{}
	for i, p := range points {
		n, there := number[p.Group()]
		if !there {
			n = len(groups)
			number[p.Group()] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}
