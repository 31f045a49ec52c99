package base

import (
	"runtime"
	"runtime/debug"
	"strings"

	"tercet/internal/engine/kernel"
	"tercet/internal/record/printed"
)

// Version and commit are set by the linker (-X): make build takes them from git.
var Version, Commit = "", ""

// Program is the version of the program, for files that another one must not continue.
func Program() string {
	b := BuildInfo()
	return strings.TrimSpace(b.Version + " " + b.Commit)
}

// BuildInfo describes the running binary.
func BuildInfo() printed.Binary {
	b := printed.Binary{Version: Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel.Setting()}
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
