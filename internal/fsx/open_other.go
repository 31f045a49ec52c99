//go:build !unix

package fsx

import "os"

const openFlags = os.O_RDONLY
