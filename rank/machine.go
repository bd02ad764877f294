package main

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/result"
)

// machineFacts is what can be known of this host from files below root; what is unknown stays empty.
func machineFacts(root string) result.Machine {
	host, _ := os.Hostname()
	_, cores := affinity(root)
	memory, _ := kilobytes(field(readText(root, "proc/meminfo"), "MemTotal"))
	return result.Machine{
		Host:      host,
		OS:        osName(root),
		Kernel:    kernel(root),
		CPU:       cpuModel(root),
		Cores:     cores,
		Governor:  governor(root),
		MemoryB:   memory,
		Load1:     load1(root),
		Container: container(root),
	}
}

// load1 is the load average of the last minute: how many tasks ran or wanted to.
func load1(root string) float64 {
	first, _, _ := strings.Cut(readText(root, "proc/loadavg"), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

func osName(root string) string {
	text := cmp.Or(readText(root, "etc/os-release"), readText(root, "usr/lib/os-release"))
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}

func kernel(root string) string {
	return strings.TrimSpace(readText(root, "proc/sys/kernel/osrelease") + " " + runtime.GOARCH)
}

// armImplementers are the makers of ARM cores that stand in servers, by the number in /proc/cpuinfo; parts are named
// for those in use, since Linux itself does not name them.
var (
	armImplementers = map[string]string{"0x41": "Arm", "0x46": "Fujitsu", "0x48": "HiSilicon", "0x4e": "NVIDIA", "0x61": "Apple", "0xc0": "Ampere"}
	armParts        = map[string]string{
		"0x41/0xd08": "Cortex-A72", "0x41/0xd0c": "Neoverse N1", "0x41/0xd40": "Neoverse V1", "0x41/0xd49": "Neoverse N2",
		"0x41/0xd4f": "Neoverse V2", "0x41/0xd83": "Neoverse V3", "0x41/0xd84": "Neoverse V3", "0x41/0xd8e": "Neoverse N3",
		"0x46/0x001": "A64FX", "0x48/0xd01": "Kunpeng 920", "0x4e/0x004": "Carmel", "0xc0/0xac3": "Ampere-1", "0xc0/0xac4": "Ampere-1A",
	}
)

// cpuModel is the name of the CPU: x86's and POWER's own words, or what the numbers of an ARM core mean.
func cpuModel(root string) string {
	info := readText(root, "proc/cpuinfo")
	if name := cmp.Or(field(info, "model name"), field(info, "cpu")); name != "" {
		return strings.Join(strings.Fields(name), " ")
	}
	maker, part := field(info, "CPU implementer"), field(info, "CPU part")
	if maker == "" {
		return field(info, "Hardware")
	}
	return strings.TrimSpace(cmp.Or(armImplementers[maker], "implementer "+maker) + " " + cmp.Or(armParts[maker+"/"+part], "part "+part))
}

// governor is how the kernel sets the frequency of the CPUs that this process may use ("performance", "powersave");
// all that are found, "unknown" where a virtual machine or the firmware hides it.
func governor(root string) string {
	list, _ := affinity(root)
	cpus, _ := parseCPUs(list)
	var found []string
	for _, cpu := range cpus {
		g := readText(root, "sys/devices/system/cpu/cpu"+strconv.Itoa(cpu), "cpufreq/scaling_governor")
		if g != "" && !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	return cmp.Or(strings.Join(found, ", "), "unknown")
}

// container names what lies between the program and the hardware: a container, a virtual machine, both, or "".
func container(root string) string {
	var layers []string
	if c := containerKind(root); c != "" {
		layers = append(layers, c)
	}
	if v := virtualMachine(root); v != "" {
		layers = append(layers, v)
	}
	return strings.Join(layers, " in ")
}

func containerKind(root string) string {
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err == nil
	}
	cgroup := readText(root, "proc/self/cgroup")
	switch {
	case exists(".singularity.d") || exists("singularity"):
		return "apptainer"
	case exists("run/.containerenv"):
		return "podman"
	case strings.Contains(cgroup, "kubepods"):
		return "kubernetes"
	case exists(".dockerenv") || strings.Contains(cgroup, "/docker"):
		return "docker"
	case strings.Contains(cgroup, "/lxc"):
		return "lxc"
	case exists("run/systemd/container"):
		return cmp.Or(readText(root, "run/systemd/container"), "container")
	}
	return ""
}

func virtualMachine(root string) string {
	if strings.Contains(strings.ToLower(readText(root, "proc/sys/kernel/osrelease")), "microsoft-standard") {
		return "WSL2"
	}
	// The product name tells an EC2 metal instance from a virtual one: both are Amazon's.
	maker, product := readText(root, "sys/class/dmi/id/sys_vendor"), readText(root, "sys/class/dmi/id/product_name")
	guest := strings.Contains(" "+field(readText(root, "proc/cpuinfo"), "flags")+" ", " hypervisor ")
	kind := cmp.Or(readText(root, "sys/hypervisor/type"))
	for _, known := range []string{"KVM", "VMware", "VirtualBox", "Virtual Machine", "Google Compute Engine", "QEMU", "OpenStack"} {
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
