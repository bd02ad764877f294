package nccllogs

import (
	_ "embed" // for causes.txt
	"strings"

	"busbar/internal/notice"
)

// cause is a known cause of messages.
type cause struct {
	severity     notice.Severity
	text, source string
	advice, amd  string // amd: of causes for which AMD has other tools
}

//go:embed causes.txt
var causesFile string

// causesOfMessages are the known causes.
var causesOfMessages = readCauses(causesFile)

// possible begins a list of causes.
const possible = "possible causes, the most frequent first: "

// readCauses reads paragraphs of keys and texts, in which names in braces stand for other texts.
func readCauses(file string) map[notice.Code]*cause {
	names := []string{"{possible}", possible, "{meetCauses}", meetCauses, "{AMDPeermem}", AMD.peermem(),
		"{AdviceBalancing}", notice.AdviceBalancing, "{AdviceCable}", notice.AdviceCable,
		"{AdviceDevices}", notice.AdviceDevices, "{AdviceFiles}", notice.AdviceFiles,
		"{AdviceIOMMU}", notice.AdviceIOMMU, "{AdviceLocked}", notice.AdviceLocked,
		"{AdviceMemoryErrors}", notice.AdviceMemoryErrors, "{AdviceOneLibrary}", notice.AdviceOneLibrary,
		"{AdviceOwnGPU}", notice.AdviceOwnGPU, "{AdvicePeermem}", notice.AdvicePeermem,
		"{AdviceShared}", notice.AdviceShared, "{NetworkDoc}", notice.NetworkDoc, "{RuntimeDoc}", notice.RuntimeDoc}
	all := map[notice.Code]*cause{}
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(file, "\n\t", " "), "\n\n") {
		of := map[string]string{}
		replacer := strings.NewReplacer(names...)
		for line := range strings.Lines(paragraph) {
			key, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			of[key] = replacer.Replace(text)
		}
		c := &cause{text: of["text"], source: of["source"], advice: of["advice"], amd: of["amd"]}
		if name := of["name"]; name != "" {
			names = append(names, "{"+name+"}", c.text)
		} else if c.severity.UnmarshalText([]byte(of["severity"])) == nil { // else a comment
			all[notice.Code(of["code"])] = c
		}
	}
	return all
}
