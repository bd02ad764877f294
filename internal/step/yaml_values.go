package step

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// shape reads the sides of a tensor: its elements, and the matrix that PowerSGD takes it for, the first side by all
// others.
func (p *modelReader) shape(v *yaml.Node) (params int64, matrix [2]int64) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		p.Errorf(v, "shape: want a list of sides such as [1000, 2048], found %s", strictyaml.KindOf(v))
		return 0, matrix
	}
	params = 1
	for _, n := range v.Content {
		side := strictyaml.One(p.Reader, strictyaml.Resolve(n), positive)
		if side == 0 { // a problem, which is noted
			return 0, matrix
		}
		if side > maxParams/params {
			p.Errorf(v, "shape: more than %s elements", coll.FormatSize(maxParams, false))
			return 0, matrix
		}
		if params *= side; matrix[0] == 0 {
			matrix[0] = side
		}
	}
	if matrix[1] = params / matrix[0]; len(v.Content) == 1 {
		matrix = [2]int64{}
	}
	return params, matrix
}

// line reads a text that is one line of what people see.
func line(s string) (string, error) {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return "", fmt.Errorf("%q: want letters that can be printed, in one line", s)
		}
	}
	if s == "" {
		return "", errors.New("want a text, not nothing")
	}
	return s, nil
}

// elements reads a number of elements.
func elements(s string) (int64, error) {
	n, err := coll.ParseSize(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q: want a whole number, with K, M or G as powers of 1024", s)
	case n > maxParams:
		return 0, fmt.Errorf("%q: more than %s elements", s, coll.FormatSize(maxParams, false))
	}
	return n, nil
}

func positive(s string) (int64, error) {
	n, err := elements(s)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q: want a side of 1 or more", s)
	}
	return n, err
}

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxLayers {
		return 0, fmt.Errorf("repeat %q: want a whole number from 1 to %d", s, maxLayers)
	}
	return n, nil
}

func number(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n < math.MaxInt64) {
		return 0, fmt.Errorf("weight %q: want a number of 0 or more", s)
	}
	return n, nil
}
