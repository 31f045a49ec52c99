package base

import (
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/cpu"

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

// CPUFeatures lists the vector extensions that kernels may use.
func CPUFeatures() []string {
	out := []string{}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vl", cpu.X86.HasAVX512VL}, {"avx512vnni", cpu.X86.HasAVX512VNNI}, {"avx512bf16", cpu.X86.HasAVX512BF16},
		{"amxtile", cpu.X86.HasAMXTile}, {"amxbf16", cpu.X86.HasAMXBF16}, {"amxint8", cpu.X86.HasAMXInt8},
		{"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}
