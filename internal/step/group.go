package step

import "fmt"

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

// GroupString is what the points of the group share: "ddp, float32, powersgd-4, progress poll".
func (p Point) GroupString() string {
	s := fmt.Sprintf("%v, %v", p.Strategy, p.Type)
	if p.Compression != (Compression{}) {
		s += fmt.Sprintf(", %v", p.Compression)
	}
	if p.Progress != 0 {
		s += fmt.Sprintf(", progress %v", p.Progress)
	}
	return s
}
