package generalize

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/generalize"
	"tercet/internal/lists"
)

// addReplace declares the flags of measurements that replace training images.
func (o *options) addReplace(cmd *cobra.Command, to *generalize.ReplaceOptions, count, images, replace string) {
	fs := cmd.Flags()
	fs.IntVar(&o.repeats, "replacements", generalize.StabilityRepeats, count)
	fs.IntSliceVar(&to.Images, "images", nil, images)
	fs.StringSliceVar(&to.Replace, "replace", nil, replace)
	fs.IntVar(&to.Jobs, "jobs", 1, "number of trainings to run at once, each on one thread")
	base.Least(fs, 1, "replacements", "jobs")
	var old []string
	for _, r := range append(generalize.Replacements(), generalize.ReplaceTriple) {
		if w := generalize.ReplacementWord(r); w != r {
			old = append(old, r, w)
		}
	}
	base.OldValues(fs, "replace", old...)
}

// words are replacements as users name them, kindsOf the replacements of words.
func words(kinds []string) string {
	return strings.Join(lists.Map(kinds, generalize.ReplacementWord), ", ")
}

func kindsOf(words []string) []string { return lists.Map(words, generalize.ReplacementOf) }

// checkReplace refuses replacements that cannot be, and makes kinds of the words of to.
func (o *options) checkReplace(to *generalize.ReplaceOptions, measured string) error {
	to.Replace = kindsOf(to.Replace)
	triples := slices.Contains(to.Replace, generalize.ReplaceTriple)
	if triples {
		if err := o.checkTriples(to); err != nil {
			return err
		}
	}
	if count := o.counted(); len(to.Images) > 0 && count != "" {
		return base.Usagef("--images says which images are replaced, --%s how many are drawn: give one", count)
	}
	for i, v := range to.Images {
		if v < 0 || !triples && slices.Contains(to.Images[:i], v) {
			return base.Usagef("--images is %v; give each image once, counted from 0", to.Images)
		}
	}
	for i, v := range to.Replace {
		if !triples && !slices.Contains(generalize.Replacements(), v) || slices.Contains(to.Replace[:i], v) {
			return base.Usagef("--replace is %s; give each once of %s, or %s alone", words(to.Replace), words(generalize.Replacements()), words([]string{generalize.ReplaceTriple}))
		}
	}
	return o.check(measured)
}

// checkTriples refuses what --replace triplet leaves no room for.
func (o *options) checkTriples(to *generalize.ReplaceOptions) error {
	triple := generalize.ReplacementWord(generalize.ReplaceTriple)
	switch {
	case len(to.Replace) > 1:
		return base.Usagef("--replace is %s; %s is measured by itself: give it alone", words(to.Replace), triple)
	case len(to.Images)%3 != 0:
		return base.Usagef("--images is %v; with --replace %s give three for each triplet: anchor, positive, negative", to.Images, triple)
	}
	if given := base.Given(o.flags.Changed, "triplets", "limit"); given != "" {
		return base.Usagef("--replace %s evaluates the triplets that are replaced: leave out %s", triple, given)
	}
	return nil
}
