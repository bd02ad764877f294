package notice

// Fields are the fields that the texts of an entry use.
func (e *Entry) Fields() (names []string) {
	for _, t := range append([]template{e.text, e.advice, e.how}, e.details...) {
		names = append(names, t.fields()...)
	}
	return names
}

// OptionalFields are those within brackets.
func (e *Entry) OptionalFields() (names []string) {
	for _, t := range append([]template{e.text, e.advice, e.how}, e.details...) {
		for _, p := range t {
			names = append(names, p.optional.fields()...)
		}
	}
	return names
}
