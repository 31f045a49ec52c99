// Package mpi connects ranks by an MPI library that it opens when it is asked to, so that
// nothing of MPI is needed to build the program, and one program works with all. It
// needs the build tag native, which makes the program a dynamic executable; without it
// all calls return ErrStatic.
//
// The package moves bytes only. Of an MPI library's binary interface it needs ten
// functions and two handles, those of the world and of the byte: Open MPI has addresses
// of exported objects, the MPICH family and the standard interface of MPI 5 have numbers.
package mpi

import "errors"

// EnvLibrary in the environment names the MPI library to open.
const EnvLibrary = "TERCET_MPI"

// ErrStatic says that this program was built without MPI.
var ErrStatic = errors.New("this is the static build of tercet, which cannot open an MPI library; take tercet-native, which `make native` builds")

// ErrNone is wrapped where no MPI library can be opened.
var ErrNone = errors.New("no MPI library can be opened")
