package trace

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// argument is an argument of an event.
type argument int

// The arguments. torch.distributed records those after collectiveName for a collective, on its operator or on its
// kernel.
const (
	argDevice argument = iota
	argStream
	argCorrelation
	argExternal
	argBytes     // bytes
	argGraphNode // of a CUDA graph
	argCollectiveName
	argElementsIn
	argElementsOut
	argGroupSize
	argSequence
	argPeer   // of sends and receives: the peer's rank in the group
	argSource // of receives: world rank
	argTarget // of sends: world rank
	argFirstRank
	argRankStride // stride of the group's ranks, if constant
	argDataType
	argGroupName
	argGroupAbout
	argGroupRanks
	argSplitsIn
	argSplitsOut
	allArguments
)

// argumentKeys are the keys of the arguments.
var argumentKeys = map[string]argument{
	`"device"`: argDevice, `"stream"`: argStream, `"correlation"`: argCorrelation, `"External id"`: argExternal,
	`"external id"`: argExternal, `"bytes"`: argBytes, `"graph node id"`: argGraphNode,
	`"Collective name"`: argCollectiveName,
	`"In msg nelems"`:   argElementsIn, `"Out msg nelems"`: argElementsOut, `"Group size"`: argGroupSize,
	`"Seq"`:  argSequence,
	`"Rank"`: argPeer, `"Src Rank"`: argSource, `"Dst Rank"`: argTarget, `"Global rank start"`: argFirstRank,
	`"Global rank stride"`: argRankStride, `"dtype"`: argDataType, `"Process Group Name"`: argGroupName,
	`"Process Group Description"`: argGroupAbout, `"Process Group Ranks"`: argGroupRanks,
	`"In split size"`:  argSplitsIn,
	`"Out split size"`: argSplitsOut,
}

// arguments are the JSON values of one event; empty if missing.
type arguments [allArguments][]byte

// number is the value of an argument, Unknown if it is not a number.
func (a *arguments) number(of argument) int64 {
	n, ok := decimal(a[of], 0)
	if !ok {
		return Unknown
	}
	return n
}

func (a *arguments) reset() {
	for i := range a {
		a[i] = a[i][:0]
	}
}

// read reads the arguments of an event.
func (a *arguments) read(json *jsontext.Decoder) error {
	return members(json, func(key []byte) error {
		of, wanted := argumentKeys[string(key)]
		if !wanted {
			return json.SkipValue()
		}
		value, err := json.ReadValue()
		a[of] = append(a[of][:0], value...)
		return err
	})
}

// members calls a function for each key of an object. It skips other values.
func members(json *jsontext.Decoder, value func(key []byte) error) error {
	if json.PeekKind() != '{' {
		return json.SkipValue()
	}
	_, err := json.ReadToken()
	for err == nil && json.PeekKind() != '}' {
		var key []byte
		if key, err = json.ReadValue(); err == nil {
			err = value(key)
		}
	}
	if err == nil {
		_, err = json.ReadToken()
	}
	return err
}

// splitList reads the rows of each of n ranks; nil if the list has not n. A number that is negative, too large or
// truncated is Unknown: "[4, 4, ..., 2]" has the last ranks behind the ellipsis.
func splitList(list []byte, n int) []int64 {
	words := bytes.Split(bytes.Trim(list, `"[] `), []byte(","))
	rows, at := slices.Repeat([]int64{Unknown}, n), 0
	for i, word := range words {
		word = bytes.TrimSpace(word)
		if string(word) == "..." {
			at = max(at, n-len(words)+i+1)
			continue
		}
		if at >= n {
			return nil
		}
		if of, ok := decimal(word, 0); ok && of >= 0 && of <= mostBytes {
			rows[at] = of
		}
		at++
	}
	if at != n {
		return nil
	}
	return rows
}

// evenSplits reports whether split lists such as "[]" or "[4, 4]" have equal shares.
func evenSplits(lists ...[]byte) bool {
	for _, list := range lists {
		shares := bytes.Split(bytes.Trim(list, `"[] `), []byte(","))
		for _, share := range shares {
			if !bytes.Equal(bytes.TrimSpace(share), bytes.TrimSpace(shares[0])) {
				return false
			}
		}
	}
	return true
}
