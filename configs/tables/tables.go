// Package tables holds the descriptions of the papers' tables, so that the binary
// knows them wherever it stands. The folders beside it hold the configs of the runs
// that fill them.
package tables

import (
	"embed"

	"tercet/internal/fsx"
)

//go:embed *.yaml
var files embed.FS

// All are the tables.
var All = fsx.Embedded{Files: files, Folder: "configs/tables"}
