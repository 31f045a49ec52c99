package base

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Outcome is how eval, attack and cluster show results and check their gates.
type Outcome struct {
	FailUnder  []string
	Format     string
	NoPictures bool
}

// AddOutcome declares the flags; gate is an example of one that fits.
func (o *Outcome) AddOutcome(cmd *cobra.Command, gate string) {
	fs := cmd.Flags()
	fs.StringArrayVar(&o.FailUnder, "fail-under", nil, "exit with code 4 if a score is lower: `SCORE=LIMIT`, such as "+gate+" (repeatable)")
	o.AddFormat(cmd)
	o.AddNoPictures(cmd)
}

// AddFormat declares the flag of commands that print a table.
func (o *Outcome) AddFormat(cmd *cobra.Command) { AddFormat(cmd.Flags(), &o.Format) }

// AddNoPictures declares the flag of commands that draw.
func (o *Outcome) AddNoPictures(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.NoPictures, "no-pictures", false, "draw no pictures")
}

// Undraw removes pictures, PNG and SVG, and what stands with thumbnails, of a result that another replaces: a page would show
// the two together.
func Undraw(folder string, names ...string) error {
	for _, name := range names {
		for _, ending := range []string{".png", ".svg", ".csv"} {
			if err := os.Remove(filepath.Join(folder, name+ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Gates reads --fail-under.
func (o *Outcome) Gates() ([]Gate, error) { return ParseGates(o.FailUnder, false) }

// Given names those of the flags that are given: "--k and --seed"; "" for none.
func Given(changed func(flag string) bool, flags ...string) string {
	var out []string
	for _, f := range flags {
		if changed(f) {
			out = append(out, "--"+f)
		}
	}
	return strings.Join(out, " and ")
}

// Picture draws and says where. A picture that cannot be drawn is a note, the numbers
// stand; one that cannot be written is an error.
func Picture(s *Streams, draw func() (string, error)) error {
	path, err := draw()
	var system syscall.Errno
	switch {
	case errors.As(err, &system):
		return err
	case err != nil:
		s.Note("no picture: %v", err)
	default:
		s.Note("drew %s", path)
	}
	return nil
}
