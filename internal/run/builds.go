package run

import (
	"bufio"
	"os"
	"runtime"
	"slices"
	"strings"

	"tercet/internal/engine/kernel"
	"tercet/internal/record"
)

// buildsOf are those that have trained the run, in order. Manifests of older versions
// know the first alone.
func buildsOf(m *record.Manifest) []record.Build {
	if m.Builds == nil {
		return []record.Build{{Step: 0, Version: m.Version, Kernel: m.Kernel, CPU: m.CPU}}
	}
	return m.Builds
}

// latestBuild is the build that has trained the run last.
func latestBuild(m *record.Manifest) record.Build {
	list := buildsOf(m)
	return list[len(list)-1]
}

// buildOn records that this program trains the run from a step on; what others have
// trained behind it is not part of the run any more.
func buildOn(m *record.Manifest, step int) record.Build {
	now := record.Build{Step: step, Version: Version, Kernel: kernel.Setting(), CPU: CPUName()}
	list := slices.DeleteFunc(slices.Clone(buildsOf(m)), func(b record.Build) bool { return b.Step >= step })
	if n := len(list); n == 0 || list[n-1] != (record.Build{Step: list[n-1].Step, Version: now.Version, Kernel: now.Kernel, CPU: now.CPU}) {
		list = append(list, now)
	}
	m.Builds = list
	m.Version, m.Kernel, m.CPU = list[0].Version, list[0].Kernel, list[0].CPU
	return now
}

// CPUName is the processor's name where the system tells it (Linux), otherwise
// the architecture.
func CPUName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
