// Package machine reads what the system shows of the machine that a rank runs on: CPUs, memory, control groups, network
// counters and links. All functions take the root folder of the files, "/" outside tests. What cannot be read is
// unknown, never an error: a benchmark must run where /sys is hidden.
package machine

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/result"
)

// Facts is what can be known of this host from files below root; what is unknown stays empty.
func Facts(root string) result.Machine {
	host, _ := os.Hostname()
	_, cores := Affinity(root)
	memory, _ := kilobytes(Field(ReadText(root, "proc/meminfo"), "MemTotal"))
	return result.Machine{
		Host:      host,
		OS:        osName(root),
		Kernel:    kernel(root),
		CPU:       cpuModel(root),
		Cores:     cores,
		Governor:  governor(root),
		MemoryB:   memory,
		Load1:     Load(root),
		Container: container(root),
	}
}

// OnlineCPUs is the number of CPUs of the host, of which this process may be bound to fewer.
func OnlineCPUs(root string) int {
	online, _ := ParseCPUs(ReadText(root, "sys/devices/system/cpu/online"))
	_, usable := Affinity(root)
	return max(len(online), usable)
}

// busyShare is the load average per CPU from which other work disturbs results.
const busyShare = 0.25

// Busy reports whether a load average shows other work on a host with that many CPUs.
func Busy(load float64, cpus int) bool { return load > busyShare*float64(cpus) }

// Load is the load average of the last minute: how many tasks ran or were ready to run.
func Load(root string) float64 {
	first, _, _ := strings.Cut(ReadText(root, "proc/loadavg"), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

func osName(root string) string {
	text := cmp.Or(ReadText(root, "etc/os-release"), ReadText(root, "usr/lib/os-release"))
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}

func kernel(root string) string {
	return strings.TrimSpace(ReadText(root, "proc/sys/kernel/osrelease") + " " + runtime.GOARCH)
}

// armImplementers are the makers of ARM cores in servers, by the number in /proc/cpuinfo; parts are named
// for those in use, since Linux itself does not name them.
var (
	armImplementers = map[string]string{"0x41": "Arm", "0x46": "Fujitsu", "0x4e": "NVIDIA", "0xc0": "Ampere"}
	armParts        = map[string]string{
		"0x41/0xd0c": "Neoverse N1", "0x41/0xd40": "Neoverse V1", "0x41/0xd49": "Neoverse N2",
		"0x41/0xd4f": "Neoverse V2", "0x41/0xd83": "Neoverse V3", "0x41/0xd84": "Neoverse V3", "0x46/0x001": "A64FX",
		"0xc0/0xac3": "Ampere-1", "0xc0/0xac4": "Ampere-1A",
	}
)

// cpuModel is the name of the CPU: x86's and POWER's own words, or what the numbers of an ARM core mean.
func cpuModel(root string) string {
	info := ReadText(root, "proc/cpuinfo")
	if name := cmp.Or(Field(info, "model name"), Field(info, "cpu")); name != "" {
		return strings.Join(strings.Fields(name), " ")
	}
	maker, part := Field(info, "CPU implementer"), Field(info, "CPU part")
	if maker == "" {
		return ""
	}
	return strings.TrimSpace(cmp.Or(armImplementers[maker], "implementer "+maker) + " " +
		cmp.Or(armParts[maker+"/"+part], "part "+part))
}

// governor is how the kernel sets the frequency of the CPUs that this process may use ("performance", "powersave");
// all that are found, "unknown" where a virtual machine or the firmware hides it.
func governor(root string) string {
	list, _ := Affinity(root)
	cpus, _ := ParseCPUs(list)
	var found []string
	for _, cpu := range cpus {
		g := ReadText(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu), "cpufreq/scaling_governor")
		if g != "" && !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	return cmp.Or(strings.Join(found, ", "), "unknown")
}

// container names what lies between the program and the hardware: a container, a virtual machine, both, or "".
func container(root string) string {
	layers := []string{containerKind(root), VirtualMachine(root)}
	return strings.Join(slices.DeleteFunc(layers, func(s string) bool { return s == "" }), " in ")
}

func containerKind(root string) string {
	cgroup := ReadText(root, "proc/self/cgroup")
	for _, k := range []struct{ kind, file, group string }{
		{"apptainer", ".singularity.d", ""}, {"podman", "run/.containerenv", ""}, {"kubernetes", "", "kubepods"},
		{"docker", ".dockerenv", "/docker"}, {"lxc", "", "/lxc"},
	} {
		if k.file != "" && Exists(root, k.file) || k.group != "" && strings.Contains(cgroup, k.group) {
			return k.kind
		}
	}
	return ReadText(root, "run/systemd/container")
}

// VirtualMachine names the virtual machine that this host is; "" if it is none.
func VirtualMachine(root string) string {
	if strings.Contains(strings.ToLower(ReadText(root, "proc/sys/kernel/osrelease")), "microsoft-standard") {
		return "WSL2"
	}
	// The product name distinguishes an EC2 metal instance from a virtual one: both are Amazon's.
	maker, product := ReadText(root, "sys/class/dmi/id/sys_vendor"), ReadText(root, "sys/class/dmi/id/product_name")
	guest := strings.Contains(" "+Field(ReadText(root, "proc/cpuinfo"), "flags")+" ", " hypervisor ")
	kind := ReadText(root, "sys/hypervisor/type")
	for _, known := range []string{"KVM", "VMware", "VirtualBox", "Virtual Machine", "Google Compute Engine", "QEMU",
		"OpenStack"} {
		if strings.Contains(maker+" "+product, known) {
			guest, kind = true, cmp.Or(kind, known)
		}
	}
	if !guest && kind == "" {
		return ""
	}
	if maker == "Amazon EC2" || maker == "Google" || maker == "Microsoft Corporation" {
		return "virtual machine (" + maker + " " + product + ")"
	}
	if kind == "" {
		return "virtual machine"
	}
	return "virtual machine (" + kind + ")"
}
