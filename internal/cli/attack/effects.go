package attack

import (
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/cli/base"
)

// choices refuses words that a flag does not know.
func (o *options) choices() error {
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
		{"norm", o.ask.Norm, []string{"linf", "l2"}},
		{"direction", o.ask.Direction, []string{"sign", "normalized"}},
		{"rule", o.ask.Rule, []string{"fixed", "auto"}},
		{"start", o.ask.Start, []string{"clean", "random"}},
		{"iterate", o.ask.Keep, []string{"last", "best"}},
	} {
		if !slices.Contains(c.valid, c.value) {
			last := len(c.valid) - 1
			return base.Usagef("--%s is %q; give %s or %s", c.flag, c.value, strings.Join(c.valid[:last], ", "), c.valid[last])
		}
	}
	if o.save == "" {
		return nil
	}
	if err := base.Placeable(filepath.Join(o.save, "queries.npy")); err != nil {
		return err
	}
	return base.NotInput("--save-images", o.save, o.Run, o.verify)
}

// effects refuses flags that none of the attacks uses, and those that one refuses.
func (o *options) effects() error {
	for _, option := range attack.MethodOptionNames() {
		if !o.changed(string(option)) {
			continue
		}
		users := attack.Users(option)
		if !slices.ContainsFunc(o.ask.Attacks, func(a string) bool { return slices.Contains(users, a) }) {
			return base.Usagef("--%s has no effect on %s; it is for %s", option, strings.Join(o.ask.Attacks, ", "), strings.Join(users, ", "))
		}
		for _, name := range o.ask.Attacks {
			if a, _ := attack.Named(name); a.Refuses[option] != "" {
				return base.Usagef("--%s does not go with %s: %s", option, name, a.Refuses[option])
			}
		}
	}
	return nil
}

// atMost refuses the first count that is above the number of images.
func atMost(images int, list ...base.FlagCount) error {
	for _, c := range list {
		if c.Value > images {
			return base.Usagef("--%s is %d, but the gallery has %d images; give at most as many", c.Flag, c.Value, images)
		}
	}
	return nil
}
