package emit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/scheduler"
)

// maxLabel leaves room in the 63 characters of a pod's name for what controllers add.
const maxLabel = 40

// label is a name of a Kubernetes object.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	name = "tercet-" + name
	return strings.TrimRight(name[:min(len(name), maxLabel)], "-")
}

// yamlList is a list of texts; JSON is YAML. Kubernetes replaces $(NAME), and $$( by $(.
func yamlList(words []string) string {
	var out []string
	for _, w := range words {
		b, _ := json.Marshal(strings.ReplaceAll(w, "$(", "$$(")) // a string always encodes
		out = append(out, string(b))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

const clusterNote = `# Set image to one with tercet on its PATH, and claimName to a volume that all nodes can
# write (ReadWriteMany) with locks. Relative paths are below /work.
`

// kubernetes is an Indexed Job.
func kubernetes(s Script) string {
	return s.about("#") + clusterNote + fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  labels: {app.kubernetes.io/name: tercet}
spec:
%s`, label(s.Name), indent(indexed(s), 2))
}

// jobSet is a JobSet of one Indexed Job, for queues and other jobs at its side.
func jobSet(s Script) string {
	return s.about("#") + clusterNote + fmt.Sprintf(`apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: %s
  labels: {app.kubernetes.io/name: tercet}
spec:
  failurePolicy: {maxRestarts: 0}
  replicatedJobs:
    - name: train
      replicas: 1
      template:
        spec:
%s`, label(s.Name), indent(indexed(s), 10))
}

// indexed is the spec of an Indexed Job. Its failure policy is Tercet's exit codes; the
// first rule that matches counts.
func indexed(s Script) string {
	words := slices.Concat(s.Command, s.task(scheduler.Auto), []string{"--threads", strconv.Itoa(s.Threads)})
	return fmt.Sprintf(`completions: %[1]d
parallelism: %[1]d
completionMode: Indexed
backoffLimitPerIndex: 6
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
    # A node that is drained is no failure.
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
    # A wrong flag or config is wrong in every task.
    - {action: FailJob, onExitCodes: {containerName: tercet, operator: In, values: [2]}}
    # Missing data and a run that diverged stay as they are.
    - {action: FailIndex, onExitCodes: {containerName: tercet, operator: In, values: [3, 5]}}
    # Failed, or interrupted with a checkpoint: again.
    - {action: Count, onExitCodes: {containerName: tercet, operator: In, values: [1, 130]}}
template:
  metadata:
    labels: {app.kubernetes.io/name: tercet}
  spec:
    restartPolicy: Never
    activeDeadlineSeconds: %[2]d
    terminationGracePeriodSeconds: %[3]d
    containers:
      - name: tercet
        image: registry.example/tercet:latest
        workingDir: /work
        command: %[4]s
        resources:
          requests: {cpu: "%[5]d", memory: %[6]dGi}
          limits: {memory: %[6]dGi}
        volumeMounts: [{name: work, mountPath: /work}]
    volumes:
      - name: work
        persistentVolumeClaim: {claimName: tercet-work}
`, s.Tasks, 60*s.minutes(), s.grace(), yamlList(words), s.Threads, s.gib())
}

// indent moves every line right.
func indent(lines string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(strings.Repeat(" ", by) + line)
	}
	return b.String()
}
