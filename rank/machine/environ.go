package machine

import (
	"regexp"
	"slices"
	"strings"

	"busbar/internal/units"
)

// What of the environment may go into a file that people hand around: variables that change how communication runs, by
// prefix or name. Everything else stays out, and so does what looks like a secret even under an allowed name.
var (
	allowedPrefixes = strings.Fields(`
		NCCL_ NCCLX_ RCCL_ TORCH_NCCL_ CUDA_MPS_ UCX_ UCC_ HCOLL_ SHARP_ PSM2_ PSM3_ FI_ OMPI_MCA_ PMIX_MCA_
		PRTE_MCA_ MPICH_ MPIR_CVAR_ I_MPI_ MV2_ GLOO_ MALLOC_ OMP_ KMP_ GOMP_ HSA_ ROCR_ BUSBAR_`)
	allowedNames = strings.Fields(`
		CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_DEVICE_MAX_CONNECTIONS CUDA_LAUNCH_BLOCKING
		CUDA_MODULE_LOADING NVIDIA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL GOMAXPROCS GOGC
		GOMEMLIMIT GODEBUG`)
	allowedSlurm = strings.Fields(`
		ARRAY_JOB_ID ARRAY_TASK_ID CLUSTER_NAME CPUS_ON_NODE CPUS_PER_TASK CPU_BIND CPU_BIND_LIST CPU_BIND_TYPE
		DISTRIBUTION GPUS GPUS_ON_NODE GPUS_PER_NODE GPUS_PER_TASK GPU_BIND HINT JOBID JOB_CPUS_PER_NODE JOB_GPUS
		JOB_ID JOB_NODELIST JOB_NUM_NODES JOB_PARTITION JOB_QOS JOB_START_TIME JOB_END_TIME MEM_PER_CPU
		MEM_PER_NODE MPI_TYPE NNODES NODELIST NPROCS NTASKS NTASKS_PER_NODE PMIX_FENCE RESTART_COUNT STEP_GPUS
		STEP_ID STEP_NODELIST STEP_NUM_NODES STEP_NUM_TASKS STEP_TASKS_PER_NODE TASKS_PER_NODE THREADS_PER_CORE
		TOPOLOGY_ADDR TOPOLOGY_ADDR_PATTERN`)
	// Open MPI's parameters include its transport key and contact addresses of daemons.
	secretNames = strings.Fields(`
		TOKEN SECRET PASSW PASSPHRASE KEY CREDENTIAL JWT COOKIE AUTH PRIVATE SIGNATURE PRECONDITION_TRANSPORTS
		_URI _URL`)
	secretValues = regexp.MustCompile(`(?i)-----BEGIN|://[^/\s]*@|\b(eyJ[\w-]{10,}\.|gh[opsu]_\w{20,}|hf_\w{20,}|` +
		`sk-[\w-]{20,}|xox[abp]-|(AKIA|ASIA)[A-Z0-9]{12,})|` +
		`bearer |password=|token=`)
	opaqueValue = regexp.MustCompile(`^([0-9a-fA-F]{32,}|[0-9A-Za-z+/_-]{40,}={0,2})$`)
)

// Environment picks what may be recorded out of os.Environ's list: the allowed variables and, apart, Slurm's.
func Environment(env []string) (allowed, slurm map[string]string) {
	const most = 2000 // bytes of a value
	allowed, slurm = map[string]string{}, map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || looksSecret(name, value) {
			continue
		}
		value = units.Truncate(strings.ToValidUTF8(value, "\uFFFD"), most)
		if rest, isSlurm := strings.CutPrefix(name, "SLURM_"); isSlurm {
			if slices.Contains(allowedSlurm, rest) {
				slurm[name] = value
			}
			continue
		}
		prefixed := slices.ContainsFunc(allowedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if prefixed || slices.Contains(allowedNames, name) {
			allowed[name] = value
		}
	}
	return allowed, slurm
}

// looksSecret errs on the side of leaving out.
func looksSecret(name, value string) bool {
	// A partition key of InfiniBand is a number that everyone on the fabric knows.
	upper := strings.ReplaceAll(strings.ToUpper(name), "PKEY", "")
	if slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(upper, s) }) {
		return true
	}
	return secretValues.MatchString(value) ||
		opaqueValue.MatchString(value) && strings.ContainsAny(value, "0123456789") &&
			!strings.HasPrefix(value, "/")
}
