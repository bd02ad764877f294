package machine

import (
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
)

func TestMachineFacts(t *testing.T) {
	root := machinetest.Root(t, map[string]string{
		"etc/os-release":            "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
		"proc/cpuinfo": "processor\t: 0\nmodel\t: 17\nmodel name\t: AMD  EPYC 7763\nflags\t: fpu " +
			"hypervisor\n",
		"proc/self/status": "Name:\trank\nCpus_allowed_list:\t0-1,8\n",
		"proc/meminfo":     "MemTotal:       1024 kB\nMemAvailable:    512 kB\n",
		"proc/loadavg":     "1.25 0.5 0.1 2/300 4242\n",
		"proc/self/cgroup": "0::/docker/abc\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "ondemand\n", // not ours
		"sys/devices/system/cpu/cpu8/cpufreq/scaling_governor": "performance\n",
	})
	got := Facts(root)
	if got.Host == "" || !strings.HasPrefix(got.Kernel, "6.1.0-18-amd64 ") {
		t.Errorf("host %q, kernel %q", got.Host, got.Kernel)
	}
	got.Host, got.Kernel = "", ""
	want := result.Machine{OS: "Debian GNU/Linux 12 (bookworm)", CPU: "AMD EPYC 7763", Cores: 3,
		Governor: "performance, powersave",
		MemoryB:  1 << 20, Load1: 1.25, Container: "docker in virtual machine"}
	test.EqOp(t, want, got)
}

func TestUnknownMachine(t *testing.T) {
	got := Facts(t.TempDir())
	got.Host, got.Kernel = "", ""
	test.EqOp(t, (result.Machine{Governor: "unknown"}), got)
}

func TestCPUModel(t *testing.T) {
	for info, want := range map[string]string{
		"CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd4f\n": "Arm Neoverse V2",
		"CPU implementer\t: 0x41\nCPU part\t: 0xfff\n":                      "Arm part 0xfff",
		"CPU implementer\t: 0x99\nCPU part\t: 0x001\n":                      "implementer 0x99 part 0x001",
		"cpu\t\t: POWER9, altivec supported\nmodel\t: 8335\n":               "POWER9, altivec supported",
		"": "",
	} {
		test.EqOp(t, want, cpuModel(machinetest.Root(t, map[string]string{"proc/cpuinfo": info})), test.Sprint(info))
	}
}

func TestContainer(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"metal":      {map[string]string{"proc/cpuinfo": "flags : fpu\n", "proc/self/cgroup": "0::/user.slice\n"}, ""},
		"podman":     {map[string]string{"run/.containerenv": "", ".dockerenv": ""}, "podman"},
		"docker":     {map[string]string{".dockerenv": ""}, "docker"},
		"kubernetes": {map[string]string{".dockerenv": "", "proc/self/cgroup": "0::/kubepods/pod1\n"}, "kubernetes"},
		"apptainer":  {map[string]string{".singularity.d/": ""}, "apptainer"},
		"nspawn":     {map[string]string{"run/systemd/container": "systemd-nspawn\n"}, "systemd-nspawn"},
		"WSL2": {map[string]string{"proc/sys/kernel/osrelease": "5.15.1-microsoft-standard-WSL2\n",
			"proc/cpuinfo": "flags : hypervisor\n"}, "WSL2"},
		"KVM": {map[string]string{"proc/cpuinfo": "flags : fpu hypervisor\n", "sys/class/dmi/id/sys_vendor": "QEMU\n",
			"sys/class/dmi/id/product_name": "KVM\n"}, "virtual machine (KVM)"},
		"EC2": {map[string]string{"proc/cpuinfo": "flags : hypervisor\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
			"sys/class/dmi/id/product_name": "p5.48xlarge\n"}, "virtual machine (Amazon EC2 p5.48xlarge)"},
		"EC2 metal": {map[string]string{"proc/cpuinfo": "flags : fpu\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
			"sys/class/dmi/id/product_name": "c5.metal\n"}, ""},
		"Xen": {map[string]string{"sys/hypervisor/type": "xen\n"}, "virtual machine (xen)"},
	} {
		test.EqOp(t, c.want, container(machinetest.Root(t, c.files)), test.Sprint(name))
	}
}

func TestField(t *testing.T) {
	text := "model\t\t: 17\nmodel name\t: AMD EPYC: 7763\nMax data size             unlimited  unlimited  bytes\n  " +
		"inactive_file 4096\nempty:\n"
	for key, want := range map[string]string{
		"model": "17", "model name": "AMD EPYC: 7763", "Max data size": "unlimited  unlimited  bytes",
		"inactive_file": "4096",
		"empty":         "", "inactive": "", "missing": "", "Max data": "size             unlimited  unlimited  bytes",
	} {
		test.EqOp(t, want, Field(text, key), test.Sprint(key))
	}
}
