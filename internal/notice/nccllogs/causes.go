package nccllogs

import (
	_ "embed" // for causes.txt
	"fmt"

	"busbar/internal/notice"
)

//go:embed causes.txt
var causesFile string

// registerCauses adds the causes to the catalogue.
func registerCauses() {
	for c := range notice.Paragraphs(causesFile) {
		c["detail"], c["doc"] = "{Messages...}", notice.Phrase("causeDoc")
		c["example"] = fmt.Sprintf(`{"cause": %q, %s}`, c["code"], notice.Phrase("exampleMessages"))
		notice.Add(c, LibraryMessage{})
	}
}
