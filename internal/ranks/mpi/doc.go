// Package mpi connects ranks by an MPI library that it opens when it is asked to, so that
// nothing of MPI is needed to build the program, and one program works with all. It
// needs the build tag native, which makes the program a dynamic executable; without it
// all calls return ErrStatic.
//
// The package moves bytes only. Of an MPI library's binary interface it needs ten
// functions and two handles, those of the world and of the byte: Open MPI has addresses
// of exported objects, the MPICH family and the standard interface of MPI 5 have numbers.
package mpi

import (
	"errors"
	"os"
)

// EnvLibrary in the environment names the MPI library to open.
const EnvLibrary = "TERCET_MPI"

// ErrStatic says that this program was built without MPI.
var ErrStatic = errors.New("this is the static build of tercet, which cannot open an MPI library; take tercet-native, which `make native` builds")

// ErrNone is wrapped where no MPI library can be opened.
var ErrNone = errors.New("no MPI library can be opened")

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
