package emit

import (
	"fmt"
	"slices"
	"strconv"
)

const mpiNote = `# Set image to one with tercet-native, Open MPI and sshd, as the MPI operator needs them, and
# claimName to a volume that all nodes can write (ReadWriteMany) with locks. Relative paths are
# below /work. A launcher that failed is started again and resumes, also after exit codes 2, 3
# and 5, which end the same way each time.
`

// mpiJob is an MPIJob of Kubeflow: one rank in each worker, as many as a batch has shards. The
// runs follow each other.
func mpiJob(s Script) string {
	words := slices.Concat([]string{"mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", strconv.Itoa(s.Ranks), "tercet-native"},
		s.Command[1:], []string{"--ranks", "mpi"}, s.threads())
	pod := func(command, resources string) string {
		return fmt.Sprintf(`template:
  metadata:
    labels: {app.kubernetes.io/name: tercet}
  spec:
    terminationGracePeriodSeconds: %d
    containers:
      - name: tercet
        image: registry.example/tercet-native:latest
        workingDir: /work
%s        resources:
%s        volumeMounts: [{name: work, mountPath: /work}]
    volumes:
      - name: work
        persistentVolumeClaim: {claimName: tercet-work}
`, s.grace(), command, resources)
	}
	worker := fmt.Sprintf("          requests: {cpu: \"%d\", memory: %dGi}\n          limits: {memory: %dGi}\n", s.Threads, s.gib(), s.gib())
	return s.about("#") + mpiNote + fmt.Sprintf(`apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: %s
  labels: {app.kubernetes.io/name: tercet}
spec:
  slotsPerWorker: 1
  mpiImplementation: OpenMPI
  runPolicy: {cleanPodPolicy: Running, backoffLimit: 6, activeDeadlineSeconds: %d}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      restartPolicy: Never
%s    Worker:
      replicas: %d
      restartPolicy: Never
%s`, label(s.Name), 60*s.minutes(), indent(pod("        command: "+yamlList(words)+"\n", "          requests: {cpu: 100m, memory: 256Mi}\n"), 6),
		s.Ranks, indent(pod("", worker), 6))
}
