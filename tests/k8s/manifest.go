// Package k8s says what a Kubernetes API server, the operator of JobSets and that of
// MPIJobs answer to a manifest. It asks their own code, without a cluster.
package k8s

import (
	"context"
	"fmt"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpivalidation "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/yaml"
)

// Check returns what is wrong with a manifest; nothing where it is accepted. Warnings that
// kubectl would print count as wrong. The kind of the manifest decides who is asked.
func Check(manifest []byte) []error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(manifest, &kind); err != nil {
		return []error{err}
	}
	check := checks[kind.APIVersion+" "+kind.Kind]
	if check == nil {
		return []error{fmt.Errorf("apiVersion %q and kind %q: no such kind is known here", kind.APIVersion, kind.Kind)}
	}
	return check(manifest)
}

var checks = map[string]func(manifest []byte) []error{
	"batch/v1 Job":                    checkJob,
	"jobset.x-k8s.io/v1alpha2 JobSet": checkJobSet,
	"kubeflow.org/v2beta1 MPIJob":     checkMPIJob,
}

func checkJob(manifest []byte) []error {
	var j batchv1.Job
	if err := yaml.UnmarshalStrict(manifest, &j); err != nil {
		return []error{err}
	}
	return createJob("", &j)
}

// createJob is what the API server does with a new Job: defaults, conversion, validation.
// at is put before each error.
func createJob(at string, v1 *batchv1.Job) []error {
	v1.Namespace, v1.UID = "default", types.UID("0")
	legacyscheme.Scheme.Default(v1)
	var j batch.Job
	if err := legacyscheme.Scheme.Convert(v1, &j, nil); err != nil {
		return []error{err}
	}
	ctx := genericrequest.WithNamespace(context.Background(), "default")
	job.Strategy.PrepareForCreate(ctx, &j)
	var errs []error
	for _, e := range job.Strategy.Validate(ctx, &j) {
		errs = append(errs, fmt.Errorf("%s%w", at, e))
	}
	for _, w := range job.Strategy.WarningsOnCreate(ctx, &j) {
		errs = append(errs, fmt.Errorf("%swarning: %s", at, w))
	}
	return errs
}

// checkJobSet asks the operator's definition and webhook, and the API server about the Jobs
// that the operator would make.
func checkJobSet(manifest []byte) []error {
	var s jobset.JobSet
	if err := yaml.UnmarshalStrict(manifest, &s); err != nil {
		return []error{err}
	}
	errs := checkDefinition("sigs.k8s.io/jobset", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml", manifest)
	hook, err := webhooks.NewJobSetWebhook(nil) // it asks no cluster about new JobSets
	if err != nil {
		return []error{err}
	}
	if err := hook.Default(context.Background(), &s); err != nil {
		return []error{err}
	}
	// The definition's defaults, which the webhook relies on.
	for i := range s.Spec.ReplicatedJobs {
		r := &s.Spec.ReplicatedJobs[i]
		if r.GroupName == "" {
			r.GroupName = "default"
		}
		if r.Replicas == 0 {
			r.Replicas = 1
		}
	}
	if _, err := hook.ValidateCreate(context.Background(), &s); err != nil {
		errs = append(errs, err)
	}
	for i, r := range s.Spec.ReplicatedJobs {
		j := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: s.Name + "-" + r.Name + "-0"}, Spec: r.Template.Spec}
		errs = append(errs, createJob(fmt.Sprintf("spec.replicatedJobs[%d].template.", i), &j)...)
	}
	return errs
}

// checkMPIJob asks the operator's definition and validation, and the API server about pods
// of each template.
func checkMPIJob(manifest []byte) []error {
	var m kubeflow.MPIJob
	if err := yaml.UnmarshalStrict(manifest, &m); err != nil {
		return []error{err}
	}
	errs := checkDefinition("github.com/kubeflow/mpi-operator", "manifests/base/kubeflow.org_mpijobs.yaml", manifest)
	kubeflow.SetDefaults_MPIJob(&m)
	for _, e := range mpivalidation.ValidateMPIJob(&m) {
		errs = append(errs, e)
	}
	for role, r := range m.Spec.MPIReplicaSpecs {
		if r == nil {
			continue
		}
		t := r.Template.DeepCopy()
		if t.Spec.RestartPolicy == "" {
			t.Spec.RestartPolicy = corev1.RestartPolicy(r.RestartPolicy) // as the operator does
		}
		j := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: m.Name + "-launcher"}, Spec: batchv1.JobSpec{Template: *t}}
		errs = append(errs, createJob(fmt.Sprintf("spec.mpiReplicaSpecs[%s].", role), &j)...)
	}
	return errs
}
