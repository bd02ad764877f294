//go:build cgo

package cudart

/*
#include "call.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"
)

// CUdevice_attribute, as far as it is asked for.
const (
	attributeProcessors = 16
	attributeMajor      = 75
	attributeMinor      = 76
	attributeHostNUMA   = 134 // CUDA 12.2
)

// Devices lists the GPUs that this process may use, in CUDA's order. The list may be empty.
func (d *Driver) Devices() ([]Device, error) {
	var n C.int
	if err := d.check("cuDeviceGetCount", C.call_device_count(d.t, &n)); err != nil {
		return nil, err
	}
	devices := make([]Device, n)
	for i := range devices {
		var err error
		if devices[i], err = d.device(i); err != nil {
			return nil, fmt.Errorf("GPU %d: %w", i, err)
		}
	}
	return devices, nil
}

func (d *Driver) device(ordinal int) (Device, error) {
	var handle C.cuda_device
	if err := d.check("cuDeviceGet", C.call_device_get(d.t, &handle, C.int(ordinal))); err != nil {
		return Device{}, err
	}
	var out Device
	var text [256]C.char
	if err := d.check("cuDeviceGetName", C.call_device_name(d.t, &text[0], C.int(len(text)), handle)); err != nil {
		return Device{}, err
	}
	out.Name = C.GoString(&text[0])
	if err := d.check("cuDeviceGetPCIBusId", C.call_device_pci(d.t, &text[0], C.int(len(text)), handle)); err != nil {
		return Device{}, err
	}
	out.PCI = strings.ToLower(C.GoString(&text[0]))
	var err error
	if out.UUID, err = d.uuid(handle); err != nil {
		return Device{}, err
	}
	var bytes C.size_t
	if err := d.check("cuDeviceTotalMem_v2", C.call_device_memory(d.t, &bytes, handle)); err != nil {
		return Device{}, err
	}
	out.Bytes = int64(bytes)
	if out.Major, err = d.attribute(attributeMajor, handle); err == nil {
		out.Minor, err = d.attribute(attributeMinor, handle)
	}
	if err != nil {
		return Device{}, err
	}
	// Older drivers do not know the attribute; -1 is one without NUMA.
	if out.NUMA, err = d.attribute(attributeHostNUMA, handle); err != nil || out.NUMA < 0 {
		out.NUMA = nodeOf("/sys", out.PCI)
	}
	return out, nil
}

func (d *Driver) attribute(number C.int, handle C.cuda_device) (int, error) {
	var value C.int
	err := d.check(fmt.Sprintf("cuDeviceGetAttribute of %d", int(number)),
		C.call_device_attribute(d.t, &value, number, handle))
	return int(value), err
}

// uuid is the identity of the device: a slice of a GPU has one of its own, which only the newer function returns.
func (d *Driver) uuid(handle C.cuda_device) (string, error) {
	var whole, own C.cuda_uuid
	if d.t.device_uuid == nil && d.t.device_uuid_whole == nil {
		return "", d.unsupported("cuDeviceGetUuid")
	}
	if d.t.device_uuid_whole != nil {
		if err := d.check("cuDeviceGetUuid", C.call_device_uuid_whole(d.t, &whole, handle)); err != nil {
			return "", err
		}
		own = whole
	}
	if d.t.device_uuid != nil {
		if err := d.check("cuDeviceGetUuid_v2", C.call_device_uuid(d.t, &own, handle)); err != nil {
			return "", err
		}
	}
	if d.t.device_uuid_whole == nil { // a driver without the older function
		whole = own
	}
	kind := "GPU"
	if own != whole {
		kind = "MIG"
	}
	u := unsafe.Slice((*byte)(unsafe.Pointer(&own)), 16)
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", kind, u[:4], u[4:6], u[6:8], u[8:10], u[10:]), nil
}

// nodeOf is the NUMA node of a PCI device as Linux knows it; -1 if it does not.
func nodeOf(sys, pci string) int {
	text, err := os.ReadFile(filepath.Join(sys, "bus/pci/devices", pci, "numa_node"))
	if err != nil {
		return -1
	}
	node, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return node
}

// CanAccessPeer reports whether GPU a can reach the memory of GPU b directly, by NVLink or PCI Express.
func (d *Driver) CanAccessPeer(a, b int) (bool, error) {
	if d.t.can_access_peer == nil {
		return false, d.unsupported("cuDeviceCanAccessPeer")
	}
	var handles [2]C.cuda_device
	for i, ordinal := range []int{a, b} {
		if err := d.check("cuDeviceGet", C.call_device_get(d.t, &handles[i], C.int(ordinal))); err != nil {
			return false, fmt.Errorf("GPU %d: %w", ordinal, err)
		}
	}
	var can C.int
	err := d.check("cuDeviceCanAccessPeer", C.call_can_access_peer(d.t, &can, handles[0], handles[1]))
	return can != 0, err
}
