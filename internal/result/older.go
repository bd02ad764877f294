package result

import "busbar/internal/notice"

// adopt turns the warnings of older files, which are sentences, into notices.
func adopt(older *[]string, warnings *notice.List) {
	for _, text := range *older {
		warnings.Add(notice.FromText(text))
	}
	*older = nil
}
