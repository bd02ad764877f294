//go:build cgo

package cudart

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func fakeNVML(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	must.NoError(t, compile(filepath.Join(dir, "libnvidia-ml.so.1"), append(args, "testdata/fake/nvml.c")...))
	return dir
}

func TestNVML(t *testing.T) {
	n, err := LoadNVML([]string{"/nowhere", fakeNVML(t)})
	must.NoError(t, err)
	unknown := Health{-1, -1, nil, "", "", -1, -1, -1}
	for _, c := range []struct {
		pci  string
		want Health
		fail string
	}{
		{"0000:1b:00.0", Health{1755, 2619,
			[]string{"gpu_idle", "sw_power_cap", "sw_thermal_slowdown", "hw_thermal_slowdown", "other"},
			"on", "off", 5, 61, 512.25}, ""},
		{"0000:1c:00.0", unknown, ""},
		{"0000:1d:00.0", unknown, "GPU 0000:1d:00.0: nvmlDeviceGetClockInfo: GPU is lost (NVML code 15)"},
		{"0000:1e:00.0", unknown, "GPU 0000:1e:00.0: nvmlDeviceGetHandleByPciBusId_v2: Not Found (NVML code 6)"},
	} {
		got, err := n.Device(c.pci)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.fail == "") || err != nil && err.Error() != c.fail {
			t.Errorf("%s: %+v, error %v; want %+v, %q", c.pci, got, err, c.want, c.fail)
		}
	}
	t.Setenv("FAKE_NVML_FAIL", "9")
	for want, dir := range map[string]string{"/nowhere/libnvidia-ml.so.1": "/nowhere",
		"libnvidia-ml.so.1 lacks nvmlErrorString:":     fakeNVML(t, "-DnvmlErrorString=x"),
		"nvmlInit_v2: Driver Not Loaded (NVML code 9)": fakeNVML(t)} {
		_, err = LoadNVML([]string{dir})
		test.ErrorContains(t, err, want)
	}
}

func TestThrottled(t *testing.T) {
	for _, c := range []struct {
		bits int64
		all  []string
		slow []string
	}{
		{-1, nil, nil}, {0, []string{}, []string{}}, {1, []string{"gpu_idle"}, []string{}},
		{1<<1 | 1<<7 | 1<<8, []string{"applications_clocks_setting", "hw_power_brake_slowdown",
			"display_clock_setting"}, []string{"hw_power_brake_slowdown"}},
	} {
		h := Health{Throttle: throttle(c.bits)}
		if !reflect.DeepEqual(h.Throttle, c.all) || !reflect.DeepEqual(h.Throttled(), c.slow) {
			t.Errorf("%#x: %q, %q", c.bits, h.Throttle, h.Throttled())
		}
	}
}
