package report

import (
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/render"
	"tercet/internal/rundir"
)

func writePage(s *base.Streams, write func(*render.Page, string) error, page func(pictures bool) *render.Page, runs []*rundir.Run, o options) error {
	if !o.noPictures {
		for _, r := range runs {
			if err := r.CheckFigures(); err != nil {
				return RunsError(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	if err := write(page(!o.noPictures), o.out); err != nil {
		return err
	}
	s.Note("wrote %s", o.out)
	return nil
}

// pageWriter is chosen by the file's ending; nil where no page is wanted.
func pageWriter(path string) (func(*render.Page, string) error, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case "":
		if path == "" {
			return nil, nil
		}
	case ".md", ".markdown":
		return (*render.Page).WriteMarkdown, nil
	case ".html", ".htm":
		return (*render.Page).WriteHTML, nil
	}
	return nil, base.Usagef("--page is %q; give a file that ends in .md or .html", path)
}
