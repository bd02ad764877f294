package nccllog

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

// findings are what the rules find in a log.
type findings struct {
	*Log
	all []*found
}

// found is a notice with what orders it and what distinguishes it from others.
type found struct {
	notice.Notice
	follows bool   // from another failure, behind which it is sorted
	shape   string // of a message whose cause is not known
}

// about adds a fact about processes or ranks; "" for all. The rule may change its severity.
func (l *findings) about(who string, f notice.Fact) *found {
	n := &found{Notice: notice.New(f)}
	n.At.Subject = who
	l.all = append(l.all, n)
	return n
}

// add adds a fact about all.
func (l *findings) add(f notice.Fact) *found { return l.about("", f) }

// Findings are what is wrong, or worth knowing, the most severe first. What a log does not have is not judged.
func (l *Log) Findings() (notices []notice.Notice) {
	for _, f := range l.findings() {
		notices = append(notices, f.Notice)
	}
	return notices
}

func (l *Log) findings() []*found {
	in := &findings{Log: l}
	for _, find := range []func(*findings){
		findDisagreement, findVersions, findDefects, findFirstHung, findTimedOut, findMessages, findRAS,
		findStopped, findUnfinished, findEndAfterInit, findAborted,
		findNetwork, findNetworksDiffer, findDirect, findCards, findProvider, findInterface,
		findShared, findWithinHost, findPaths, findChannels, findChoices,
		findPlugins, findSettings, findDiffering, findInit,
	} {
		find(in)
	}
	slices.SortStableFunc(in.all, func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(ones(a.follows), ones(b.follows)))
	})
	return in.all
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
