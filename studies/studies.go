// Package studies holds the descriptions of the studies, so that the binary knows them
// wherever it is run.
package studies

import (
	"embed"

	"tercet/internal/fsx"
)

//go:embed *.yaml
var files embed.FS

// All are the studies.
var All = fsx.Embedded{Files: files, Folder: "studies"}
