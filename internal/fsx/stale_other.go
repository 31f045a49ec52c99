//go:build !unix

package fsx

import "os"

// Elsewhere nothing says whether the process that made a temporary file still runs.
func hold(*os.File) {}

func removeStale(string) {}
