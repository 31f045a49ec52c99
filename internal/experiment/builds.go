package experiment

import (
	"slices"

	"tercet/internal/engine/kernel"
)

// Build is what has trained a run from a step on. Another version or kernel may give
// other last bits.
type Build struct {
	Step    int    `json:"step"` // steps done before
	Version string `json:"version"`
	Kernel  string `json:"kernel"`
	CPU     string `json:"cpu"`
}

// builds are those that have trained the run, in order. Manifests of older versions
// know the first alone.
func (m *Manifest) builds() []Build {
	if m.Builds == nil {
		return []Build{{0, m.Version, m.Kernel, m.CPU}}
	}
	return m.Builds
}

// latest is the build that has trained the run last.
func (m *Manifest) latest() Build {
	list := m.builds()
	return list[len(list)-1]
}

// buildOn records that this program trains the run from a step on; what others have
// trained behind it is not part of the run any more.
func (m *Manifest) buildOn(step int) Build {
	now := Build{step, Version, kernel.Setting(), CPUName()}
	list := slices.DeleteFunc(slices.Clone(m.builds()), func(b Build) bool { return b.Step >= step })
	if n := len(list); n == 0 || list[n-1] != (Build{list[n-1].Step, now.Version, now.Kernel, now.CPU}) {
		list = append(list, now)
	}
	m.Builds = list
	m.Version, m.Kernel, m.CPU = list[0].Version, list[0].Kernel, list[0].CPU
	return now
}
