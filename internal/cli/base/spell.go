package base

import "tercet/internal/option"

// The library knows options by their bare names; on a command line they are flags.
func init() { option.Spell(func(name string) string { return "--" + name }) }
