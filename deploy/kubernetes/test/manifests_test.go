// Package test decodes the manifests with the Go types of Kubernetes and Kubeflow. It is a module of its own, so that
// these types are no dependencies of busbar.
package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpivalidation "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	training "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	pytorch "github.com/kubeflow/training-operator/pkg/webhooks/pytorch"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// newObject returns the type of a kind.
func newObject(apiVersion, kind string) (any, error) {
	switch apiVersion + " " + kind {
	case "v1 Service":
		return &core.Service{}, nil
	case "v1 PersistentVolumeClaim":
		return &core.PersistentVolumeClaim{}, nil
	case "batch/v1 Job":
		return &batch.Job{}, nil
	case "batch/v1 CronJob":
		return &batch.CronJob{}, nil
	case "kubeflow.org/v2beta1 MPIJob":
		return &mpi.MPIJob{}, nil
	case "kubeflow.org/v1 PyTorchJob":
		return &training.PyTorchJob{}, nil
	}
	return nil, fmt.Errorf("unknown kind %s of %s", kind, apiVersion)
}

// decode decodes one document; unknown, repeated and differently capitalised fields are errors, and so is what the
// operators reject.
func decode(document []byte) (any, error) {
	var header struct{ APIVersion, Kind string }
	if err := json.Unmarshal(document, &header); err != nil {
		return nil, err
	}
	object, err := newObject(header.APIVersion, header.Kind)
	if err != nil {
		return nil, err
	}
	wrong, err := kjson.UnmarshalStrict(document, object)
	if err = errors.Join(append(wrong, err)...); err != nil {
		return nil, err
	}
	switch o := object.(type) {
	case *mpi.MPIJob:
		mpi.SetDefaults_MPIJob(o)
		err = mpivalidation.ValidateMPIJob(o).ToAggregate()
		for role := range o.Spec.MPIReplicaSpecs { // the validation ignores others
			if role != mpi.MPIReplicaTypeLauncher && role != mpi.MPIReplicaTypeWorker {
				err = errors.Join(err, fmt.Errorf("unknown role %s", role))
			}
		}
	case *training.PyTorchJob:
		_, err = (&pytorch.Webhook{}).ValidateCreate(context.Background(), o)
	}
	return object, err
}

// documents returns the documents of all manifests as JSON, by file and number.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("manifests: %q %v", files, err)
	}
	found := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(text), "\n---\n") {
			document, err := yaml.YAMLToJSONStrict([]byte(part))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			found[fmt.Sprintf("%s:%d", filepath.Base(file), i)] = document
		}
	}
	return found
}

// objects are the decoded documents.
func objects(t *testing.T) map[string]any {
	t.Helper()
	found := map[string]any{}
	for name, document := range documents(t) {
		object, err := decode(document)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found[name] = object
	}
	return found
}

func TestManifestsDecode(t *testing.T) {
	kinds := map[string]int{}
	for _, object := range objects(t) {
		kinds[fmt.Sprintf("%T", object)]++
	}
	want := map[string]int{"*v1.Service": 2, "*v1.PersistentVolumeClaim": 1, "*v1.Job": 1, "*v1.CronJob": 1,
		"*v2beta1.MPIJob": 1, "*v1.PyTorchJob": 1}
	if !maps.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

// free are fields whose keys the user chooses.
var free = []string{"labels", "matchLabels", "limits", "requests", "selector", "annotations"}

// misspell calls try with the document after each change of one key, and of the first letter of one key.
func misspell(value any, try func(key string)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			misspell(item, try)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := v[key]
			for _, other := range []string{key + "s", strings.ToUpper(key[:1]) + key[1:]} {
				if other == key { // MPIReplicaSpecs has capitals
					continue
				}
				delete(v, key)
				v[other] = inner
				try(other)
				delete(v, other)
				v[key] = inner
			}
			if !slices.Contains(free, key) {
				misspell(inner, try)
			}
		}
	}
}

func TestMisspelledFieldsFail(t *testing.T) {
	tried := 0
	for name, document := range documents(t) {
		var value any
		if err := json.Unmarshal(document, &value); err != nil {
			t.Fatal(err)
		}
		misspell(value, func(key string) {
			tried++
			changed, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decode(changed); err == nil {
				t.Errorf("%s: the field %q is accepted", name, key)
			}
		})
	}
	if tried < 500 {
		t.Errorf("only %d fields tried", tried)
	}
}

// pods are the pod templates, by the file and role.
func pods(t *testing.T) map[string]core.PodTemplateSpec {
	t.Helper()
	found := map[string]core.PodTemplateSpec{}
	for name, object := range objects(t) {
		switch o := object.(type) {
		case *batch.Job:
			found[name] = o.Spec.Template
		case *batch.CronJob:
			found[name] = o.Spec.JobTemplate.Spec.Template
		case *mpi.MPIJob:
			found[name] = o.Spec.MPIReplicaSpecs[mpi.MPIReplicaTypeWorker].Template
		case *training.PyTorchJob:
			for role, replica := range o.Spec.PyTorchReplicaSpecs {
				found[name+" "+string(role)] = replica.Template
			}
		}
	}
	return found
}

// TestPodsHaveWhatRanksNeed: GPUs, RDMA, memory at /dev/shm, and the volume of results.
func TestPodsHaveWhatRanksNeed(t *testing.T) {
	all := pods(t)
	if len(all) != 5 {
		t.Fatalf("%d pods", len(all))
	}
	for name, pod := range all {
		c, volumes := pod.Spec.Containers[0], map[string]core.Volume{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = v
		}
		mounts := map[string]core.Volume{}
		for _, m := range c.VolumeMounts {
			mounts[m.MountPath] = volumes[m.Name]
		}
		shm, results := mounts["/dev/shm"].EmptyDir, mounts["/results"].PersistentVolumeClaim
		if shm == nil || shm.Medium != core.StorageMediumMemory || shm.SizeLimit.Value() < 8<<30 {
			t.Errorf("%s: /dev/shm is %v", name, shm)
		}
		if results == nil || results.ClaimName != "busbar-results" {
			t.Errorf("%s: /results is %v", name, results)
		}
		if gpus := c.Resources.Limits["nvidia.com/gpu"]; gpus.Value() != 8 {
			t.Errorf("%s: %v GPUs", name, gpus)
		}
		rdma := 0
		for resource := range c.Resources.Limits {
			if problems := validation.IsQualifiedName(string(resource)); len(problems) > 0 {
				t.Errorf("%s: %s: %v", name, resource, problems)
			}
			if strings.HasPrefix(string(resource), "rdma/") {
				rdma++
			}
		}
		if rdma != 1 {
			t.Errorf("%s: %d RDMA resources", name, rdma)
		}
		if !slices.Contains(c.SecurityContext.Capabilities.Add, "IPC_LOCK") {
			t.Errorf("%s: no IPC_LOCK", name)
		}
	}
}

// TestIndexedJobsMeet: the variables describe the Job, and MASTER_ADDR is a name that the headless Service gives.
func TestIndexedJobsMeet(t *testing.T) {
	all := objects(t)
	check := func(file, job string, spec batch.JobSpec, service *core.Service) {
		pod := spec.Template
		env := map[string]string{}
		for _, v := range pod.Spec.Containers[0].Env {
			env[v.Name] = v.Value
			if v.ValueFrom != nil {
				env[v.Name] = v.ValueFrom.FieldRef.FieldPath
			}
		}
		if *spec.CompletionMode != batch.IndexedCompletion || *spec.Completions != *spec.Parallelism ||
			env["PODS"] != fmt.Sprint(*spec.Completions) {
			t.Errorf("%s: mode %v, %d completions, %d parallel, PODS %s", file, *spec.CompletionMode,
				*spec.Completions, *spec.Parallelism, env["PODS"])
		}
		gpus := pod.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]
		if env["RANKS"] != gpus.String() {
			t.Errorf("%s: RANKS %s, %s GPUs", file, env["RANKS"], gpus.String())
		}
		if want := job + "-0." + service.Name; env["MASTER_ADDR"] != want || pod.Spec.Subdomain != service.Name {
			t.Errorf("%s: MASTER_ADDR %s, want %s; subdomain %s", file, env["MASTER_ADDR"], want, pod.Spec.Subdomain)
		}
		if service.Spec.ClusterIP != core.ClusterIPNone || !maps.Equal(service.Spec.Selector, pod.Labels) {
			t.Errorf("%s: the Service is %v", file, service.Spec)
		}
		if pod.Spec.RestartPolicy != core.RestartPolicyNever || *spec.BackoffLimit != 0 {
			t.Errorf("%s: pods start again", file)
		}
	}
	job := all["indexed-job.yaml:1"].(*batch.Job)
	check("indexed-job.yaml", job.Name, job.Spec, all["indexed-job.yaml:0"].(*core.Service))
	night := all["nightly-cronjob.yaml:1"].(*batch.CronJob)
	check("nightly-cronjob.yaml", "$(JOB)", night.Spec.JobTemplate.Spec,
		all["nightly-cronjob.yaml:0"].(*core.Service))
	env := night.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Env
	names := make([]string, len(env))
	for i, v := range env {
		names[i] = v.Name
	}
	// $(JOB) is replaced only if JOB is above it. NIGHT is the same in all pods.
	named, at := slices.Index(names, "JOB"), slices.Index(names, "NIGHT")
	if named < 0 || named > slices.Index(names, "MASTER_ADDR") || named > at || env[at].Value != "$(JOB)" {
		t.Errorf("variables %v", names)
	}
}

// TestNamesDiffer: the MPI Operator makes a Service with the name of the MPIJob, and refuses it if another exists. The
// page names what has the log of each job.
func TestNamesDiffer(t *testing.T) {
	all := objects(t)
	mpiJob, torch := all["mpijob.yaml:0"].(*mpi.MPIJob).Name, all["pytorchjob.yaml:0"].(*training.PyTorchJob).Name
	indexed := all["indexed-job.yaml:1"].(*batch.Job).Name
	names := []string{mpiJob, torch, indexed, all["nightly-cronjob.yaml:1"].(*batch.CronJob).Name}
	slices.Sort(names)
	if len(slices.Compact(names)) != 4 {
		t.Errorf("jobs %q", names)
	}
	page, err := os.ReadFile("../../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{"job/" + indexed, "job/" + mpiJob + "-launcher", "pod/" + torch + "-master-0"} {
		if !strings.Contains(string(page), log) {
			t.Errorf("the page lacks kubectl logs %s", log)
		}
	}
}

// TestRunsOfAnMPIJobDoNotMix: --resume skips what the folder has, so that each MPIJob requires a folder of its own.
func TestRunsOfAnMPIJobDoNotMix(t *testing.T) {
	job := objects(t)["mpijob.yaml:0"].(*mpi.MPIJob).Spec
	launcher := job.MPIReplicaSpecs[mpi.MPIReplicaTypeLauncher].Template.Spec.Containers[0]
	at := slices.Index(launcher.Args, "--out")
	if at < 0 || launcher.Args[at+1] != "/results/$("+launcher.Env[0].Name+")" ||
		launcher.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.name" {
		t.Errorf("%q, %v", launcher.Args, launcher.Env)
	}
}

// TestOperatorsStartAllRanks: mpirun and torchrun start one rank per GPU.
func TestOperatorsStartAllRanks(t *testing.T) {
	all := objects(t)
	job := all["mpijob.yaml:0"].(*mpi.MPIJob).Spec
	launcher := job.MPIReplicaSpecs[mpi.MPIReplicaTypeLauncher].Template.Spec.Containers[0]
	ranks := *job.SlotsPerWorker * *job.MPIReplicaSpecs[mpi.MPIReplicaTypeWorker].Replicas
	if at := slices.Index(launcher.Command, "-np"); at < 0 || launcher.Command[at+1] != fmt.Sprint(ranks) {
		t.Errorf("%v, want %d ranks", launcher.Command, ranks)
	}
	torch := all["pytorchjob.yaml:0"].(*training.PyTorchJob).Spec
	for role, replica := range torch.PyTorchReplicaSpecs {
		gpus := replica.Template.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]
		if *torch.NprocPerNode != gpus.String() {
			t.Errorf("%s: %s processes, %s GPUs", role, *torch.NprocPerNode, gpus.String())
		}
	}
}
