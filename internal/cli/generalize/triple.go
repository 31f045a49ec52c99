package generalize

import (
	"tercet/internal/cli/base"
	"tercet/internal/generalize"
)

// checkTriples refuses what --replace triplet leaves no room for.
func (o *options) checkTriples(job string) error {
	triple := generalize.ReplacementWord(generalize.ReplaceTriple)
	switch {
	case job == generalize.MeasureInfluence:
		return base.Usagef("influence replaces single images: --replace %s is for tercet stability", triple)
	case len(o.replace) > 1:
		return base.Usagef("--replace is %s; %s is measured by itself: give it alone", words(o.replace), triple)
	case len(o.images)%3 != 0:
		return base.Usagef("--images is %v; with --replace %s give three for each triplet: anchor, positive, negative", o.images, triple)
	}
	if given := base.Given(o.changed, "triplets", "limit"); given != "" {
		return base.Usagef("--replace %s evaluates the triplets that are replaced: leave out %s", triple, given)
	}
	return nil
}
