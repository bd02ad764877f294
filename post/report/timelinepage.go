package report

// maxListedRows is how many rows a table about timelines has on the page.
const maxListedRows = 300

// timelinePage is what the page's template takes from timelines.
type timelinePage struct{ *Timelines }

// Notes are what figures are to be read with.
func (t *timelinePage) Notes() []noted { return t.notes() }

// Listings are the tables as they stand on the page.
func (t *timelinePage) Listings() (all []listing) {
	for _, l := range t.listings() {
		all = append(all, l.upTo(maxListedRows))
	}
	return all
}

// section is what the page's head links to.
type section struct{ ID, Name string }

// Sections are the parts that a page about timelines alone links to.
func (t *timelinePage) Sections() (all []section) {
	if len(t.Found.Answers) > 0 {
		all = append(all, section{"timeline-answers", "Answers"})
	}
	if len(t.Found.Advice) > 0 {
		all = append(all, section{"timeline-advice", "What to do"})
	}
	for _, l := range t.listings() {
		if l.Open {
			all = append(all, section{l.ID, l.Name})
		}
	}
	return all
}
