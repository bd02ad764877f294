package nccllog

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

// found is a notice with what orders it and what distinguishes it from others.
type found struct {
	notice.Notice
	follows bool   // from another failure, behind which it is sorted
	shape   string // of a message whose cause is not known
}

// about is a fact about processes or ranks; "" for all.
func about(who string, f notice.Fact) found {
	n := notice.New(f)
	n.At.Subject = who
	return found{Notice: n}
}

// one is one finding about all.
func one(f notice.Fact) []found { return []found{about("", f)} }

// as is a finding with another severity than the catalogue's.
func (f found) as(s notice.Severity) found {
	f.Severity = s
	return f
}

// Findings are what is wrong, or worth knowing, the most severe first. What a log does not have is not judged.
func (l *Log) Findings() []notice.Notice {
	notices := []notice.Notice{}
	for _, f := range l.findings() {
		notices = append(notices, f.Notice)
	}
	return notices
}

func (l *Log) findings() (all []found) {
	for _, find := range []func(*Log) []found{
		findDisagreement, findVersions, findDefects, findFirstHung, findTimedOut, findMessages, findRAS,
		findStopped, findUnfinished, findEndAfterInit, findAborted,
		findNetwork, findNetworksDiffer, findDirect, findCards, findProvider, findInterface,
		findShared, findWithinHost, findPaths, findChannels, findChoices,
		findPlugins, findSettings, findDiffering, findInit,
	} {
		all = append(all, find(l)...)
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(ones(a.follows), ones(b.follows)))
	})
	return all
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}

// assigned are the variables of names that were set, with their values.
func (l *Log) assigned(names ...string) (all []nccllogs.Assigned) {
	for _, name := range names {
		if v := l.setting(name); v != "" {
			all = append(all, nccllogs.Assigned{Name: name, Value: v})
		}
	}
	return all
}

// vendor is whose GPUs the log is of, which RCCL shows.
func (l *Log) vendor() nccllogs.Vendor {
	amd := len(l.Versions) > 0 && !slices.ContainsFunc(l.Versions, func(v Version) bool { return v.Library != RCCL })
	return nccllogs.Vendor(amd)
}

// communicator names a communicator.
func (l *Log) communicator(i int) nccllogs.Communicator {
	if i < 0 || i >= len(l.Communicators) {
		return nccllogs.Communicator{}
	}
	return nccllogs.Communicator{Name: l.Communicators[i].Name, Ranks: max(0, l.Communicators[i].Ranks)}
}
