package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/archive"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/theory/measure"
)

// Study joins measurements of triplet metric learning, schema
// tercet.stabilitystudy/1: claims about it with their verdicts, and what else was
// measured.
type Study struct {
	Schema    string     `json:"schema"`
	Documents []Document `json:"documents"`
	Notes     []string   `json:"notes"`
}

// Document is a document with the file that it was read from.
type Document struct {
	File string `json:"file"`
	record.MetricStability
}

// Of is the study of documents that are at hand.
func Of(documents ...Document) *Study {
	s := &Study{Schema: record.StabilityStudySchema, Documents: documents, Notes: []string{}}
	s.remark()
	return s
}

// remark collects the notes of all documents.
func (s *Study) remark() {
	for i := range s.Documents {
		d := &s.Documents[i]
		for _, n := range d.Notes {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %s", d.name(), n))
		}
	}
}

// Read reads documents of schema tercet.metricstability/1: files, or all there are in
// directories, in their folder stability and in the folders in them. Claims come first,
// by number.
//
// Errors wrap ErrRun: what cannot be read, places that hold none, and two documents of
// one claim on one data set.
func Read(paths []string) (*Study, error) {
	s := &Study{Schema: record.StabilityStudySchema, Documents: []Document{}, Notes: []string{}}
	for _, path := range paths {
		files, err := filesAt(path)
		if err != nil {
			return nil, err
		}
		found := 0
		for _, file := range files {
			d, err := readDocument(file)
			if err != nil {
				return nil, err
			}
			if d != nil {
				found++
				s.Documents = append(s.Documents, *d)
			}
		}
		if found == 0 && slices.ContainsFunc(files, func(file string) bool {
			found, err := rundir.ReadDocument(file, &struct{}{}, record.StabilitySchema)
			return found && err == nil
		}) {
			return nil, fmt.Errorf("%w: %s holds the stability of a network, which table network-stability shows; this table is for model mahalanobis", rundir.ErrRun, path)
		}
		if found == 0 {
			return nil, fmt.Errorf("%w: %s holds no measurement of stability (schema %s); tercet stability makes one of a run", rundir.ErrRun, path, record.MetricSchema)
		}
	}
	slices.SortStableFunc(s.Documents, func(a, b Document) int {
		return cmp.Or(claimOrder(a)-claimOrder(b), strings.Compare(a.Data.Name, b.Data.Name), strings.Compare(a.Data.Positives, b.Data.Positives), strings.Compare(a.File, b.File))
	})
	for i, d := range s.Documents {
		if i > 0 && d.Claim != "" && d.Claim == s.Documents[i-1].Claim && d.Data.Name == s.Documents[i-1].Data.Name && d.Data.Positives == s.Documents[i-1].Data.Positives {
			return nil, fmt.Errorf("%w: %s and %s are both claim %s on %s: name one of them", rundir.ErrRun, s.Documents[i-1].File, d.File, d.Claim, d.Data.Name)
		}
	}
	s.remark()
	return s, nil
}

// claimOrder is the place of a claim; measurements without one are last.
func claimOrder(d Document) int {
	i := slices.IndexFunc(measure.Claims, func(c measure.Claim) bool { return c.ID == d.Claim })
	if i < 0 {
		return len(measure.Claims)
	}
	return i
}

// name is such as "T3, mnist".
func (d *Document) name() string {
	if d.Claim == "" {
		return d.Data.Name
	}
	return d.Claim + ", " + d.Data.Name
}

// label is the claim with the fault that it shows, such as "T4 (S1)".
func (d *Document) label() string {
	if c, err := measure.ClaimOf(d.Claim); err == nil && c.Of != "" && c.Of != c.ID {
		return c.ID + " (" + c.Of + ")"
	}
	return d.Claim
}

// filesAt lists the documents at path: a file, a folder, or a pattern of either,
// as a shell that finds no match hands it on.
func filesAt(path string) ([]string, error) {
	info, err := archive.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, "*?[") {
		matches, err := archive.Glob(path)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", path, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("%w: nothing matches %s", rundir.ErrRun, path)
		}
		var files []string
		for _, m := range matches {
			more, err := filesAt(m)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
		return files, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", rundir.ErrRun, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*.json", "stability/*.json", "*/stability/*.json"} {
		found, err := archive.Glob(filepath.Join(fsx.QuoteGlob(path), pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return files, nil
}

// readDocument returns nil for a document of another schema.
func readDocument(file string) (*Document, error) {
	m, err := record.Read[record.MetricStability](file)
	var other *record.SchemaError
	if errors.As(err, &other) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", rundir.ErrRun, err)
	}
	d := &Document{File: file, MetricStability: *m}
	measure.Renew(&d.MetricStability)
	for i, ser := range d.Series {
		if len(ser.Points) == 0 {
			return nil, fmt.Errorf("%w: %s: series %d (%q) has no points", rundir.ErrRun, file, i, ser.Name)
		}
		if ser.Quantity != "gap" {
			continue
		}
		for _, p := range ser.Points { // older documents do not say which bounds are undecided
			for k := range p.Bounds {
				measure.MarkMean(&p.Bounds[k], p.Measured)
			}
		}
	}
	return d, nil
}
