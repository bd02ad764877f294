package notice

import "slices"

// ToDos are the advice of facts in whole sentences, each once.
func ToDos(facts ...Fact) (all []string) {
	for _, f := range facts {
		if text := ToDo(f); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
