package backend

import "busbar/internal/loop"

// HostArea is the host memory of a world's buffers: the input of the case in hand and, from a page of its own on, its
// output. The backends that measure on host memory have it in turn, as one case is in hand at a time: what they compare
// by are the same pages.
type HostArea struct{ buffer *loop.Buffer }

// Reserve makes the area that large at least. An error leaves it as it was.
func (a *HostArea) Reserve(bytes int64) error {
	had := int64(len(a.bytes()))
	if a.buffer != nil && had >= bytes {
		return nil
	}
	if err := a.Free(); err != nil {
		return err
	}
	grown, err := loop.AllocBuffer(bytes)
	if err != nil && had > 0 {
		if before, again := loop.AllocBuffer(had); again == nil {
			a.buffer = before
		}
		return err
	}
	a.buffer = grown
	return err
}

// bytes is the area as it is now; none before the first reserve.
func (a *HostArea) bytes() []byte {
	if a.buffer == nil {
		return nil
	}
	return a.buffer.Bytes()
}

// Free gives the memory back.
func (a *HostArea) Free() error {
	err := a.buffer.Free()
	a.buffer = nil
	return err
}
