package launch

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Broadcast gives rank 0's value to every rank of a group. The value is of fixed size: a number, a truth value, or a
// struct or array of them. Collective.
func Broadcast[T any](c Comm, value *T) error {
	b, err := binary.Append(nil, binary.LittleEndian, value)
	if err != nil {
		return err
	}
	if err := c.Bcast(b, 0); err != nil {
		return err
	}
	_, err = binary.Decode(b, binary.LittleEndian, value)
	return err
}

// BroadcastJSON is Broadcast for any value that JSON can hold. Collective.
func BroadcastJSON[T any](c Comm, value *T) error {
	var text []byte
	var failed error
	var length int64
	if c.Rank() == 0 {
		if text, failed = json.Marshal(value); failed != nil {
			length = -1
		} else {
			length = int64(len(text))
		}
	}
	if err := Broadcast(c, &length); err != nil {
		return err
	}
	if length < 0 {
		return cmp.Or(failed, errors.New("rank 0 cannot encode what it sends"))
	}
	if c.Rank() != 0 {
		text = make([]byte, length)
	}
	if err := c.Bcast(text, 0); err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// GatherJSON returns the values of all ranks of a group, by rank, on rank 0, and nil elsewhere. Collective.
func GatherJSON[T any](c Comm, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := c.Gatherv(text, 0)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	all := make([]T, len(parts))
	for i, p := range parts {
		if err := json.Unmarshal(p, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// AllGatherJSON returns the values of all ranks of a group, by rank, on every rank. Collective.
func AllGatherJSON[T any](c Comm, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := c.Gatherv(text, 0)
	if err != nil {
		return nil, err
	}
	raw := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		raw[i] = p
	}
	if err := BroadcastJSON(c, &raw); err != nil {
		return nil, err
	}
	all := make([]T, len(raw)) // decoded on every rank, so that what is wrong fails everywhere
	for i, p := range raw {
		if err := json.Unmarshal(p, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
