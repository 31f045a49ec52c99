//go:build !(native && linux && (amd64 || arm64))

package mpi

import "tercet/internal/ranks"

// Native says whether this program can open an MPI library.
const Native = false

// Open returns ErrStatic.
func Open() (ranks.Comm, error) { return nil, ErrStatic }

// Look returns ErrStatic.
func Look() (string, error) { return "", ErrStatic }
