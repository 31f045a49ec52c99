package attack

import (
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/cli/base"
	"tercet/internal/lists"
)

// profiles are the words of --profile.
func profiles() []string {
	return append([]string{"auto"}, lists.Map(attack.Profiles(), func(p attack.Profile) string { return p.Name })...)
}

// savable refuses folders to which images are not saved, before the work.
func (o *options) savable() error {
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
				return base.Usagef("--%s cannot be used with %s: %s", option, name, a.Refuses[option])
			}
		}
	}
	return nil
}

// atMost refuses counts above the number of images.
func (o *options) atMost(images int) error {
	for _, c := range []struct {
		flag  string
		value int
	}{{"ca-queries", o.ask.W}, {"qa-candidates", o.ask.M}} {
		if c.value > images {
			return base.Usagef("--%s is %d, but the gallery has %d images; give at most as many", c.flag, c.value, images)
		}
	}
	return nil
}
