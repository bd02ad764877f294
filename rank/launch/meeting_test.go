package launch

import (
	"fmt"
	"maps"
	"net"
	"strings"
	"testing"

	"busbar/rank/exit"

	"github.com/shoenig/test"
)

// set are variables, written as in a shell.
func set(words string) map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		m[name] = value
	}
	return m
}

func choose(b Bootstrap, variables string) (*Meeting, error) {
	vars := set(variables)
	return b.Choose(func(name string) string { return vars[name] })
}

const (
	torchrun = "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT=29400 " +
		"TORCHELASTIC_RUN_ID=job7 TORCHELASTIC_RESTART_COUNT=2 GROUP_RANK=1"
	srun = "SLURM_JOB_ID=42 SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=1 " +
		"SLURM_STEP_TASKS_PER_NODE=4(x2) SLURM_STEP_NODELIST=n[07-08]"
	openmpi = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=4"
)

func TestChoose(t *testing.T) {
	for name, c := range map[string]struct {
		bootstrap Bootstrap
		variables string
		want      string // rank/size local/local size address identity; "" is MPI
	}{
		"torchrun": {BootstrapAuto, torchrun, "3/8 1/2 node1:29400 (MASTER_ADDR) job7/2"},
		"torchrun's own store": {BootstrapAuto, torchrun + " TORCHELASTIC_USE_AGENT_STORE=True",
			"3/8 1/2 node1:29401 (MASTER_ADDR) job7/2"},
		"port beside the store": {BootstrapAuto, torchrun + " TORCHELASTIC_USE_AGENT_STORE=True BUSBAR_PORT=4000",
			"3/8 1/2 node1:4000 (MASTER_ADDR) job7/2"},
		"RANK alone":       {BootstrapAuto, "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a", "0/2 -1/-1 a:29500 (MASTER_ADDR) "},
		"torchrun in srun": {BootstrapAuto, torchrun + " " + srun, "3/8 1/2 node1:29400 (MASTER_ADDR) job7/2"},
		"srun":             {BootstrapAuto, srun, "5/8 1/4 n07:10294 (the first node of SLURM_STEP_NODELIST) 42.0."},
		"reserved port": {BootstrapAuto, srun + " SLURM_STEP_RESV_PORTS=12000-12003",
			"5/8 1/4 n07:12000 (the first node of SLURM_STEP_NODELIST) 42.0."},
		"one node of srun": {BootstrapAuto, srun + " SLURM_STEP_TASKS_PER_NODE=8",
			"5/8 1/8 127.0.0.1:10294 (one host) 42.0."},
		"srun with PMI":    {BootstrapAuto, srun + " PMI_RANK=5 PMI_SIZE=8", ""},
		"srun with PMIx":   {BootstrapAuto, srun + " PMIX_RANK=5", ""},
		"batch script":     {BootstrapAuto, "SLURM_JOB_ID=42 SLURM_PROCID=0 SLURM_STEP_ID=4294967291", ""},
		"mpirun":           {BootstrapAuto, openmpi, ""},
		"mpirun, torchrun": {BootstrapAuto, openmpi + " " + torchrun, ""},
		"mpirun by TCP":    {BootstrapTCP, openmpi, "1/4 1/4 127.0.0.1:29500 (one host) "},
		"Indexed Job": {BootstrapAuto, "JOB_COMPLETION_INDEX=1 WORLD_SIZE=2 MASTER_ADDR=job-0.svc",
			"1/2 -1/-1 job-0.svc:29500 (MASTER_ADDR) "},
		"port in a step of srun": {BootstrapAuto, srun + " MASTER_PORT=31000",
			"5/8 1/4 n07:31000 (the first node of SLURM_STEP_NODELIST) 42.0."},
		"port on one host": {BootstrapTCP, openmpi + " MASTER_PORT=31000", "1/4 1/4 127.0.0.1:31000 (one host) "},
		"PyTorchJob of one process per pod": {BootstrapAuto,
			"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a PET_NPROC_PER_NODE=auto", "0/2 -1/-1 a:29500 (MASTER_ADDR) "},
		"alone":        {BootstrapAuto, "", ""},
		"alone by TCP": {BootstrapTCP, "", "0/1 0/1 :0 () "},
		"MPI by flag":  {BootstrapMPI, torchrun, ""},
	} {
		m, err := choose(c.bootstrap, c.variables)
		got := ""
		if m != nil {
			got = fmt.Sprintf("%d/%d %d/%d %v %s", m.Rank, m.Size, m.LocalRank, m.LocalSize, m, m.Identity)
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestChooseIncomplete(t *testing.T) {
	without := func(variables, name string) string {
		vars := set(variables)
		delete(vars, name)
		text := ""
		for n, v := range maps.All(vars) {
			text += n + "=" + v + " "
		}
		return text
	}
	for variables, word := range map[string]string{
		without(torchrun, "RANK"):                                 "RANK is not set",
		without(torchrun, "WORLD_SIZE"):                           "WORLD_SIZE is not set",
		without(torchrun, "MASTER_ADDR"):                          "MASTER_ADDR is not set",
		torchrun + " RANK=8":                                      "below the world size 8",
		torchrun + " RANK=x":                                      "RANK=x",
		torchrun + " MASTER_PORT=70000":                           "70000",
		torchrun + " WORLD_SIZE=100000":                           "100000",
		"JOB_COMPLETION_INDEX=0":                                  "WORLD_SIZE",
		"PET_NNODES=2 PET_NPROC_PER_NODE=8":                       "torchrun",
		srun + " SLURM_DISTRIBUTION=arbitrary":                    "MASTER_ADDR",
		"RANK=1 WORLD_SIZE=16 MASTER_ADDR=a PET_NPROC_PER_NODE=8": "nprocPerNode",
	} {
		if m, err := choose(BootstrapAuto, variables); err == nil || exit.CodeOf(err) != exit.Environment ||
			!strings.Contains(err.Error(), word) {
			t.Errorf("%s: %+v, %v", variables, m, err)
		}
	}
}

func TestFirstNode(t *testing.T) {
	for list, want := range map[string]string{
		"n1": "n1", "n1,n2": "n1", "n[01-03,7],m1": "n01", "n[3,5]-ib,m": "n3-ib", "a[1-2]b[4-5]": "a1b4", "": "",
	} {
		test.EqOp(t, want, firstNode(list), test.Sprint(list))
	}
}

func FuzzFirstNode(f *testing.F) {
	f.Add("n[01-03,7],m1")
	f.Fuzz(func(t *testing.T, list string) {
		if got := firstNode(list); len(got) > len(list) {
			t.Errorf("%q: %q", list, got)
		}
	})
}

func TestOrderOfAddresses(t *testing.T) {
	_, lan, _ := net.ParseCIDR("10.1.0.0/16")
	lan.IP = net.ParseIP("10.1.0.7")
	_, bridge, _ := net.ParseCIDR("172.17.0.0/16")
	bridge.IP = net.ParseIP("172.17.0.1")
	c := contact{Host: "head", Addresses: []string{"172.17.0.1", "192.168.3.4", "10.1.0.9"}}
	for host, want := range map[string]string{
		"node1": "[10.1.0.9 192.168.3.4 head 172.17.0.1]",
		"head":  "[127.0.0.1 ::1 10.1.0.9 192.168.3.4 head 172.17.0.1]",
	} {
		test.EqOp(t, want, fmt.Sprint(order(c, host, []*net.IPNet{bridge, lan})), test.Sprint(host))
	}
}
