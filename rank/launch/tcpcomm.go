package launch

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"busbar/internal/loop"
)

// tcpComm is a group of ranks that TCP connects. Every collective is built of messages to and from its first member.
type tcpComm struct {
	launch  *TCP
	id      uint32 // of the group; 0 is the world
	rank    int    // in the group
	members []int  // ranks of the launch
}

// Rank implements Comm.
func (c tcpComm) Rank() int { return c.rank }

// Size implements Comm.
func (c tcpComm) Size() int { return len(c.members) }

func (c tcpComm) send(to int, o tcpOperation, data []byte) error {
	return c.launch.send(c.members[to], c.id, o, data)
}

func (c tcpComm) receive(from int, o tcpOperation) ([]byte, error) {
	return c.launch.receive(c.members[from], c.id, o)
}

// Bcast implements Comm.
func (c tcpComm) Bcast(data []byte, root int) error {
	if root != 0 && c.rank == root {
		if err := c.send(0, tcpBroadcast, data); err != nil {
			return err
		}
	}
	if root != 0 && c.rank == 0 {
		if err := c.receiveInto(data, root, tcpBroadcast); err != nil {
			return err
		}
	}
	return c.spread(tcpBroadcast, data)
}

// Gather implements Comm.
func (c tcpComm) Gather(data []byte, root int) ([][]byte, error) { return c.Gatherv(data, root) }

// Gatherv implements Comm.
func (c tcpComm) Gatherv(data []byte, root int) ([][]byte, error) {
	all, err := c.collect(tcpGather, slices.Clone(data))
	if err != nil || root == 0 {
		return all, err
	}
	switch c.rank {
	case 0:
		return nil, c.send(root, tcpGather, joinParts(all))
	case root:
		message, err := c.receive(0, tcpGather)
		if err != nil {
			return nil, err
		}
		return appendParts(nil, message)
	}
	return nil, nil
}

// Sum implements Comm. It adds in the order of the ranks.
func (c tcpComm) Sum(x []float64) error {
	return c.fold(x, func(a, b float64) float64 { return a + b })
}

// Max implements Comm.
func (c tcpComm) Max(x []float64) error { return c.fold(x, math.Max) }

// fold replaces x by the combination of all ranks' x, element by element.
func (c tcpComm) fold(x []float64, combine func(a, b float64) float64) error {
	data, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		return err
	}
	all, err := c.Gatherv(data, 0)
	if err != nil {
		return err
	}
	for r, part := range all {
		theirs := make([]float64, len(x))
		if n, err := binary.Decode(part, binary.LittleEndian, theirs); err != nil || n != len(part) {
			return fmt.Errorf("rank %d sent %d bytes, rank %d expects %d values", c.members[r], len(part), c.members[0],
				len(x))
		}
		for i, v := range theirs {
			if r > 0 {
				v = combine(x[i], v)
			}
			x[i] = v
		}
	}
	if c.rank == 0 {
		if data, err = binary.Append(data[:0], binary.LittleEndian, x); err != nil {
			return err
		}
	}
	if err := c.Bcast(data, 0); err != nil {
		return err
	}
	_, err = binary.Decode(data, binary.LittleEndian, x)
	return err
}

// Barrier implements Comm.
func (c tcpComm) Barrier() error {
	if _, err := c.collect(tcpBarrier, nil); err != nil {
		return err
	}
	return c.spread(tcpBarrier, nil)
}

// BarrierSleeping implements Comm: a rank that waits for a frame always sleeps.
func (c tcpComm) BarrierSleeping(time.Duration) error { return c.Barrier() }

// tcpMember is what Split gathers of a rank.
type tcpMember struct{ Color, Key, Member int }

// Split implements Comm.
func (c tcpComm) Split(color, key int) (Comm, error) {
	all, err := AllGatherJSON(c, tcpMember{color, key, c.rank})
	if err != nil {
		return nil, err
	}
	var mine []tcpMember
	for _, m := range all {
		if m.Color == color {
			mine = append(mine, m)
		}
	}
	// The first member of the whole group numbers the new ones: its rank is part of the number.
	c.launch.mu.Lock()
	c.launch.groups++
	id := uint32(c.members[0])<<16 | c.launch.groups&0xffff
	c.launch.mu.Unlock()
	if err := Broadcast(c, &id); err != nil {
		return nil, err
	}
	if color < 0 {
		return nil, nil
	}
	sort.SliceStable(mine, func(i, j int) bool { return mine[i].Key < mine[j].Key })
	sub := tcpComm{launch: c.launch, id: id}
	for i, m := range mine {
		if m.Member == c.rank {
			sub.rank = i
		}
		sub.members = append(sub.members, c.members[m.Member])
	}
	return sub, nil
}

// Free implements Comm.
func (c tcpComm) Free() error { return nil }

// ClockOffset implements Comm as package mpi does: the lower rank asks, the other replies with its clock, and the round
// with the shortest round trip counts.
func (c tcpComm) ClockOffset(peer, rounds int) (offset, uncertainty float64, err error) {
	var best struct{ Offset, Trip int64 } // nanoseconds
	best.Trip = math.MaxInt64
	for range rounds {
		if c.rank > peer {
			if _, err := c.receive(peer, tcpClock); err != nil {
				return 0, 0, err
			}
			if err := sendClock(c, peer, loop.Now()); err != nil {
				return 0, 0, err
			}
			continue
		}
		asked := loop.Now()
		if err := sendClock(c, peer, asked); err != nil {
			return 0, 0, err
		}
		var theirs int64
		if err := receiveClock(c, peer, &theirs); err != nil {
			return 0, 0, err
		}
		if trip := loop.Now() - asked; trip < best.Trip {
			best.Offset, best.Trip = theirs-(asked+trip/2), trip
		}
	}
	sign := 1e-9
	if c.rank < peer {
		err = sendClock(c, peer, best)
	} else {
		sign, err = -1e-9, receiveClock(c, peer, &best)
	}
	return sign * float64(best.Offset), 0.5e-9 * float64(best.Trip), err
}

func sendClock(c tcpComm, peer int, value any) error {
	data, err := binary.Append(nil, binary.LittleEndian, value)
	if err != nil {
		return err
	}
	return c.send(peer, tcpClock, data)
}

func receiveClock(c tcpComm, peer int, value any) error {
	data, err := c.receive(peer, tcpClock)
	if err == nil {
		_, err = binary.Decode(data, binary.LittleEndian, value)
	}
	return err
}
