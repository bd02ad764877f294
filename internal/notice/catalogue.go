package notice

import (
	"cmp"
	_ "embed" // for catalogue.txt
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Entry is what the catalogue holds of a code. Text, Details and Advice are templates over the fields of the fact.
type Entry struct {
	Severity Severity // unless the rule that finds it grades it
	Text     string   // one sentence without full stop
	Details  []string // further sentences
	Advice   string   // what to do, without full stop
	How      string   // how to do it, in whole sentences
	Source   string   // where the rule or the advice comes from
	Doc      string   // what it means and when it is reported

	code    Code
	kind    reflect.Type // of all facts of the code
	example string       // the JSON of one

	text, advice, how template
	details           []template
}

// Code identifies the entry.
func (e *Entry) Code() Code { return e.code }

// Example is a fact of the code, for the documentation and tests.
func (e *Entry) Example() Fact {
	f := reflect.New(e.kind)
	if e.example != "" {
		d := json.NewDecoder(strings.NewReader(e.example))
		d.DisallowUnknownFields()
		if err := d.Decode(f.Interface()); err != nil {
			panic(fmt.Sprintf("notice: the example of %s: %v", e.code, err))
		}
	}
	return f.Elem().Interface()
}

// decode reads the parameters of a fact; without any it is the zero value.
func (e *Entry) decode(parameters []byte) (Fact, error) {
	f := reflect.New(e.kind)
	if len(parameters) > 0 {
		if err := json.Unmarshal(parameters, f.Interface()); err != nil {
			return nil, err
		}
	}
	return f.Elem().Interface(), nil
}

//go:embed catalogue.txt
var catalogue string

func init() {
	Register(catalogue,
		RankCPUs{}, TooFewSamples{}, Autocorrelated{}, Drift{}, Bimodal{}, SamplesNotFinite{}, ValueNotFinite{},
		TimerCost{}, TimerResolution{}, EventResolution{}, NoCommonClock{}, ClockUncertainty{}, PathDiffers{},
		LinkErrors{}, LocalRetransmissions{}, ComputePace{}, TraceNotWritten{}, Oversubscribed{}, OversubscribedHosts{},
		SharedThreads{}, SharedGPU{}, HostLoad{}, CollectiveUnknown{}, DevicesPartlyListed{}, ConcurrentGroups{},
		SeparateWorlds{}, WrongValuesCounted{}, Deduced{}, ScriptHabits{}, Recorded{}, Unknown{}, Drop{}, Spike{},
		Switch{}, Decline{}, PlacementGap{}, ImbalanceCost{}, GroupInterference{}, DimensionInterference{},
		PoorScaling{}, LateRank{},
		SlowRank{}, BimodalPoints{}, DriftingPoints{}, LaunchVariation{}, BelowPeak{}, ImportedCurve{}, MoreAlike{},
		PeakGiven{}, PeakNVLink{}, PeakPCIe{}, PeakNetwork{}, PeakExceeded{}, PeakUnknown{}, NoPeak{}, PointsFailed{},
		RunUnfinished{}, WrongValue{}, MemoryNeeded{}, WrongData{}, SimulatedRuns{}, OversubscribedRuns{},
		ImportedRuns{}, RecordsCombined{}, EndNotRecorded{}, PointsOpen{}, ImportedUnfinished{}, PlanUnknown{},
		NoValues{}, OneRankRun{}, BestBandwidth{}, SmallMessage{}, FasterContender{}, SameSpeed{}, TimeModel{},
		NoModel{}, SlowNode{}, SlowTogether{}, SlowOnce{}, SlowPath{}, RailsShare{}, UnevenPairs{}, UnclearHalves{},
		NoSlowNode{},
		NothingToCompare{}, OnePair{}, GroupsMissing{}, Regression{}, Speedup{}, InconclusivePoints{},
		LaunchesMissing{}, VerdictBasis{}, LimitExceeded{}, LimitChecked{}, OutcomeDiffers{}, MissingPoints{},
		SidesDiffer{}, LaunchOrder{}, NotComparable{}, NoPair{}, SameRuns{}, SimulatedSides{}, VariantAdded{},
		LaunchRefused{}, LaunchCutOff{}, LaunchStopped{}, LaunchPointsFailed{}, CampaignJobs{}, CampaignQueued{},
		CampaignDone{}, TunerRows{}, ChoiceUnknown{},
		FileUnreadable{}, NotAFile{}, NotResults{}, NewerFormat{}, FileEmpty{}, HeaderTorn{},
		TornLine{}, ZeroBytes{}, BrokenLine{}, BrokenLines{}, UnknownLine{}, SecondRun{}, NoPoints{}, PartOfRun{},
		ResumedRunMissing{}, RecordsCopied{}, RecordsReplaced{}, LaunchesDiffer{}, StepsSkipped{}, PointsSkipped{},
		NotInNCCLTests{}, NotAnonymized{}, NothingOfNCCL{}, TooSmall{}, TakesTooLong{}, TimeOver{},
		MemoryInsufficient{}, MemoryRefused{}, NotSupported{}, AverageUnderflows{}, ProgressUnsupported{},
		LibraryLacks{}, RankFailed{}, PointAborted{}, DataWrong{}, CutOff{}, SourceCountsWrong{}, SourceErrorLarge{},
		SourceReports{}, RanksContradicted{}, RowTorn{}, LineNotImported{}, RunSignalled{}, RunHung{}, RankGone{},
		Published{}, NoPublished{}, RankCrashed{}, SourceIncomplete{}, NoBucketValues{}, BestBucket{},
		StepComputation{}, StepPointsMissing{},
		FleetNodes{}, FleetSlower{}, FleetBasis{},
		ExposedCommunication{}, NoExposedCommunication{}, CommunicationNegligible{}, CommunicationLocal{},
		StepInterference{}, ReportLeftOut{}, MoreStepRuns{})
}

// byCode finds entries, and codes those of facts.
var (
	byCode = map[Code]*Entry{}
	codes  = map[reflect.Type]Code{}
)

// phrases are texts that entries share, by name.
var phrases = map[string]string{}

// Phrase is a text that entries share: catalogue.txt defines it.
func Phrase(name string) string { return phrases[name] }

// texts are those of words, by their type and the word.
var texts = map[string]string{}

// TextOf is the text that a catalogue has for a word: a constant that is a parameter of facts. "" where it has none.
func TextOf[T ~string](word T) string { return texts[reflect.TypeFor[T]().Name()+" "+string(word)] }

// phrase is where a text has one.
var phrase = regexp.MustCompile(`\{\w+\}`)

// Paragraphs yields the paragraphs of a catalogue file: texts by key. A line that begins with a tab continues the one
// before, and the texts of a repeated key are lines. A paragraph with a name defines a phrase; later texts have it as
// {name}. A paragraph of words has the texts of the words of a type (TextOf). Lines that begin with # are comments.
func Paragraphs(file string) iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		for paragraph := range strings.SplitSeq(strings.ReplaceAll(file, "\n\t", " "), "\n\n") {
			p := map[string]string{}
			for line := range strings.Lines(paragraph) {
				key, text, is := strings.Cut(strings.TrimSpace(line), ": ")
				if !is || strings.HasPrefix(key, "#") {
					continue
				}
				text = phrase.ReplaceAllStringFunc(text, func(name string) string {
					if known, is := phrases[strings.Trim(name, "{}")]; is {
						return known
					}
					return name // a field
				})
				if before, is := p[key]; is {
					text = before + "\n" + text
				}
				p[key] = text
			}
			switch name, kind := p["name"], p["words"]; {
			case name != "":
				phrases[name] = p["text"]
			case kind != "":
				for word, text := range p {
					texts[kind+" "+word] = text
				}
			case len(p) > 0 && !yield(p):
				return
			}
		}
	}
}

// Register adds the entries of a catalogue file. facts has one value of each type of its codes, which the file names
// where that is not the code without hyphens. Each package of facts calls it once.
func Register(file string, facts ...Fact) {
	of := map[string]Fact{}
	for _, f := range facts {
		of[strings.ToLower(reflect.TypeOf(f).Name())] = f
	}
	for p := range Paragraphs(file) {
		Add(p, of[strings.ToLower(cmp.Or(p["type"], strings.ReplaceAll(p["code"], "-", "")))])
	}
}

// keys are those of an entry.
var keys = strings.Fields("code type severity text detail advice how source doc example")

// Add adds the entry of a paragraph, for facts of the type of f.
func Add(p map[string]string, f Fact) {
	for key := range p {
		if !slices.Contains(keys, key) {
			panic("notice: unknown key " + key + " of " + p["code"])
		}
	}
	e := &Entry{Text: p["text"], Advice: p["advice"], How: p["how"], Source: p["source"], Doc: p["doc"],
		code: Code(p["code"]), kind: reflect.TypeOf(f), example: p["example"]}
	if s := p["severity"]; s != "" && e.Severity.UnmarshalText([]byte(s)) != nil || f == nil || byCode[e.code] != nil {
		panic(fmt.Sprintf("notice: severity %q, no type, or two entries of %q", s, e.code))
	}
	e.text, e.advice, e.how = parse(e.Text), parse(e.Advice), parse(e.How)
	if p["detail"] != "" {
		e.Details = strings.Split(p["detail"], "\n")
	}
	for _, sentence := range e.Details {
		e.details = append(e.details, parse(sentence))
	}
	byCode[e.code], codes[e.kind] = e, e.code
}

// Entries returns the catalogue, ordered by code.
func Entries() []*Entry {
	var all []*Entry
	for _, e := range byCode {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *Entry) int { return strings.Compare(string(a.Code()), string(b.Code())) })
	return all
}

// Find returns the entry of a code, or nil.
func Find(code Code) *Entry { return byCode[code] }
