package machine

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
)

func TestEnvironment(t *testing.T) {
	keep := []string{
		"NCCL_DEBUG=INFO", "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1", "NCCL_IB_PKEY=0x7fff", "TORCH_NCCL_BLOCKING_WAIT=1",
		"CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,GPU-0932f937-d72c-4106-c12f-20bd9faed9f6",
		"UCX_TLS=rc,sm", "OMPI_MCA_btl=^openib", "OMPI_MCA_btl_tcp_if_include=10.0.0.0/8", "PMIX_MCA_gds=hash",
		"MPICH_OFI_NIC_POLICY=NUMA",
		"MPIR_CVAR_CH4_NETMOD=ofi", "I_MPI_ROOT=/opt/intel/oneapi/mpi/2021/and/a/path/that/is/long/enough",
		"FI_PROVIDER=efa", "GLOO_SOCKET_IFNAME=eth0",
		"MALLOC_ARENA_MAX=1", "OMP_NUM_THREADS=8", "HSA_FORCE_FINE_GRAIN_PCIE=1",
		"ROCR_VISIBLE_DEVICES=GPU-0123456789abcdef", "BUSBAR_MPI=openmpi",
		"GOMAXPROCS=2", "FI_EMPTY=",
	}
	keepSlurm := []string{"SLURM_JOB_ID=42", "SLURM_STEP_ID=0", "SLURM_JOB_NODELIST=node[01-16,18]", "SLURM_NTASKS=128",
		"SLURM_CPUS_PER_TASK=8", "SLURM_JOB_PARTITION=gpu"}
	drop := []string{
		"HOME=/home/user", "PATH=/bin", "AWS_SECRET_ACCESS_KEY=abc", "LD_PRELOAD=x.so", "SSH_AUTH_SOCK=/x",
		"CUDA_HOME=/usr",
		"XNCCL_DEBUG=1", "nccl_debug=1", "=C:=strange", "noequals", "HF_TOKEN=hf_abc",
		"PMIX_SERVER_URI41=tcp://10.0.0.1:33", "PMI_FD=7",
		"NCCL_TOKEN=x", "NCCL_API_KEY=x", "UCX_PASSWORD=x", "FI_PASSWD=x", "I_MPI_HYDRA_SECRET=x",
		"BUSBAR_CREDENTIALS=x", "OMP_private_thing=x", "GLOO_Auth=x",
		"OMPI_MCA_orte_precondition_transports=0123456789abcdef-0123456789abcdef",
		"OMPI_MCA_orte_hnp_uri=1;tcp://10.0.0.1:44",
		"NCCL_COMM_ID=https://user:pass@host/x", "NCCL_A=AKIAIOSFODNN7EXAMPLE", "NCCL_B=-----BEGIN RSA PRIVATE",
		"NCCL_C=eyJhbGciOiJIUzI1NiJ9.eyJzdWIi",
		"NCCL_D=ghp_0123456789abcdefghijABCDEFGHIJ012345", "NCCL_E=0123456789abcdef0123456789ABCDEF",
		"NCCL_F=Bearer abc", "NCCL_G=password=hunter2",
		"NCCL_H=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1",
		"SLURM_JWT=eyJ", "SLURM_JOB_USER=me", "SLURM_JOB_ACCOUNT=x", "SLURM_CONF=/etc/slurm",
		"SLURM_SUBMIT_DIR=/home/me", "SLURM_SRUN_COMM_HOST=10.0.0.1",
		"SLURM_STEP_RESV_PORTS=1", "SLURMD_NODENAME=n", "SLURM_=x",
	}
	allowed, slurm := Environment(slices.Concat(drop, keep, keepSlurm))
	expect := func(what string, got map[string]string, want []string) {
		t.Helper()
		wanted := map[string]string{}
		for _, entry := range want {
			name, value, _ := strings.Cut(entry, "=")
			wanted[name] = value
			if v, ok := got[name]; !ok || v != value {
				t.Errorf("%s: %s is %q, want %q", what, name, v, value)
			}
		}
		for name := range maps.Keys(got) {
			if _, ok := wanted[name]; !ok {
				t.Errorf("%s: %s must not be there (%q)", what, name, got[name])
			}
		}
	}
	expect("environment", allowed, keep)
	expect("slurm", slurm, keepSlurm)
}

func TestEnvironmentValues(t *testing.T) {
	allowed, _ := Environment([]string{"UCX_LONG=" + strings.Repeat("a b ", 5000), "UCX_BYTES=a\xffb"})
	if n := len(allowed["UCX_LONG"]); n > 2100 || !strings.HasSuffix(allowed["UCX_LONG"], "…") {
		t.Errorf("a long value has %d bytes", n)
	}
	test.EqOp(t, "a\uFFFDb", allowed["UCX_BYTES"])
}
