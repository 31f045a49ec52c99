package base

import (
	"runtime"
	"runtime/debug"
	"strings"

	"tercet/internal/engine/kernel"
)

// Version and commit are set by the linker (-X): make build takes them from git.
var Version, Commit = "", ""

// Build says what this binary is.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a tree with changes
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Kernel  string `json:"kernel"` // level in use
}

// BuildInfo describes the running binary.
func BuildInfo() Build {
	b := Build{Version: Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel.Setting()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Dirty = s.Value == "true"
			}
		}
	}
	if b.Commit == "" { // Go stamps no commit in a linked work tree, for one
		b.Commit, b.Dirty = Commit, strings.HasSuffix(Version, "-dirty")
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "unreleased"
	}
	return b
}
