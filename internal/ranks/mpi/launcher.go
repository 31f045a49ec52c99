//go:build native && linux && (amd64 || arm64)

package mpi

import "os"

// candidates are the libraries to try, in order. A launcher of MPICH or Intel MPI sets
// PMI_RANK, one of Open MPI variables of its own; Slurm sets those of the kind of PMI that
// it was asked for.
func candidates() []string {
	if name := os.Getenv(EnvLibrary); name != "" {
		return []string{name}
	}
	mpich := []string{"libmpi.so.12", "libmpich.so.12"}
	if os.Getenv("PMI_RANK") != "" && os.Getenv("OMPI_COMM_WORLD_SIZE") == "" && os.Getenv("PMIX_RANK") == "" {
		return append(append([]string{"libmpi_abi.so.0"}, mpich...), "libmpi.so.40")
	}
	return append([]string{"libmpi_abi.so.0", "libmpi.so.40"}, mpich...)
}

// launched returns how many ranks the launcher says that it has started, 0 where it says
// nothing.
func launched() string {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"} {
		if n := os.Getenv(name); n != "" {
			return n
		}
	}
	return ""
}
