package cli

import (
	"slices"
	"strings"

	"tercet/internal/attack"
)

// choices refuses words that a flag does not know.
func (o *attackOptions) choices() error {
	profiles := []string{"auto"}
	for _, p := range attack.Profiles() {
		profiles = append(profiles, p.Name)
	}
	for _, c := range []struct {
		flag, value string
		valid       []string
	}{
		{"variant", o.variant, []string{"published", "fixed", "both"}},
		{"profile", o.profile, profiles},
		{"norm", o.norm, []string{"linf", "l2"}},
		{"direction", o.direction, []string{"sign", "normalized"}},
		{"rule", o.rule, []string{"fixed", "auto"}},
		{"start", o.start, []string{"clean", "random"}},
		{"keep", o.keep, []string{"last", "best"}},
	} {
		if !slices.Contains(c.valid, c.value) {
			last := len(c.valid) - 1
			return usagef("--%s is %q; give %s or %s", c.flag, c.value, strings.Join(c.valid[:last], ", "), c.valid[last])
		}
	}
	return nil
}

// flagAttacks are the attacks on which a flag has an effect.
var flagAttacks = []struct {
	flag    string
	attacks []string
}{
	{"w", []string{"CA+", "CA-"}},
	{"m", []string{"QA+", "QA-", "SPQA+", "SPQA-"}},
	{"near", []string{"CA+", "QA+"}},
	{"pure", []string{"CA+", "CA-", "QA+", "QA-"}},
	{"xi", []string{"SPQA+", "SPQA-"}},
	{"xi-scale", []string{"SPQA+", "SPQA-"}},
	{"draws", []string{"CA+", "CA-", "QA+", "QA-", "SPQA+", "SPQA-", "TMA"}},
}

// effects refuses flags that none of the attacks heeds.
func (o *attackOptions) effects() error {
	for _, f := range flagAttacks {
		heeds := func(a string) bool { return slices.Contains(f.attacks, a) }
		if o.changed(f.flag) && !slices.ContainsFunc(o.attacks, heeds) {
			return usagef("--%s has no effect on %s; it is for %s", f.flag, strings.Join(o.attacks, ", "), strings.Join(f.attacks, ", "))
		}
	}
	return nil
}

// atMost refuses the first count that is above the number of images.
func atMost(images int, list ...flagCount) error {
	for _, c := range list {
		if c.value > images {
			return usagef("--%s is %d, but the gallery has %d images; give at most as many", c.flag, c.value, images)
		}
	}
	return nil
}
