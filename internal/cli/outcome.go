package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/render"
)

// outcome is how eval, attack and cluster show and judge what they found.
type outcome struct {
	failUnder  []string
	format     string
	noPictures bool
}

// addOutcome declares the flags; gate is an example of one that fits.
func (o *outcome) addOutcome(cmd *cobra.Command, gate string) {
	fs := cmd.Flags()
	fs.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with 4 if a score is lower: `SCORE=LIMIT`, such as "+gate+" (repeatable)")
	fs.StringVar(&o.format, "format", "text", "table format: "+strings.Join(render.Formats(), ", "))
	fs.BoolVar(&o.noPictures, "no-pictures", false, "draw nothing")
}

// gates refuses an unknown format and reads --fail-under.
func (o *outcome) gates() ([]gate, error) {
	if err := render.CheckFormat(o.format); err != nil {
		return nil, &ExitError{ExitUsage, err}
	}
	return parseGates(o.failUnder, false)
}
