package data

import "context"

// Starting is implemented by sources that look at data before a first config is written.
// Without it the config has their root and the split of the source.
type Starting interface {
	// Start looks at root, the folder of the data or a file in it.
	Start(ctx context.Context, root string) (*Start, error)
}

// Start begins the section data of a config.
type Start struct {
	Seen  string   // what was found, for people
	Root  string   // "" for sources without one
	Lines []string // other keys than root and split, as YAML
	Split string   // file, class or fraction
	About string   // of the split, where it is not the usual comment
}
