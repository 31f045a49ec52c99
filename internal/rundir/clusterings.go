package rundir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/archive"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Clustering is one of several ways in which a run was clustered: the document of the
// folder cluster-METHOD in the run's directory.
type Clustering struct {
	Method string
	File   string
	Result *record.Cluster
}

// clusterFolder begins the names of the folders.
const clusterFolder = "cluster-"

// methodOrder is that of the study; other methods follow by name.
var methodOrder = []string{"kmeans", "multicut-margins", "multicut-fit"}

// ReadClusterings reads what tercet cluster --out-dir RUN/cluster-METHOD has left in a
// run's directory; where there is no such folder, the run's own cluster.json. Errors
// wrap ErrRun and name the file.
func (r *Run) ReadClusterings() error {
	r.Clusterings = nil
	files, err := archive.Glob(filepath.Join(fsx.QuoteGlob(r.Dir), clusterFolder+"*", "cluster.json"))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRun, err)
	}
	for _, file := range files {
		if otherClusters(filepath.Base(filepath.Dir(file))) {
			continue
		}
		c, err := read[record.Cluster](file)
		if err != nil {
			return err
		}
		c.Labels = nil // of no use here, and most of the document
		method := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), clusterFolder)
		if of := c.Options.Method; method != of && !strings.HasPrefix(method, of+"-") {
			return fmt.Errorf("%w: %s is of the method %q; the folder's name says %s", ErrRun, file, of, method)
		}
		if of := SourceOf(c.Source); of != r.Of.Full() {
			r.Left = append(r.Left, fmt.Sprintf("%s is of the %s, not of the %s: left out", file, of.Words(), r.Of.Words()))
			continue
		}
		if why := r.foreign(c.Source); why != "" {
			r.Left = append(r.Left, fmt.Sprintf("%s %s: left out", file, why))
			continue
		}
		r.Clusterings = append(r.Clusterings, Clustering{method, file, c})
	}
	if r.Clusterings == nil && r.Cluster != nil {
		r.Clusterings = []Clustering{{r.Cluster.Options.Method, filepath.Join(r.Dir, "cluster.json"), r.Cluster}}
	}
	slices.SortStableFunc(r.Clusterings, func(a, b Clustering) int { return compareMethods(a.Method, b.Method) })
	return nil
}

func compareMethods(a, b string) int {
	rank := func(m string) int {
		if i := slices.Index(methodOrder, m); i >= 0 {
			return i
		}
		return len(methodOrder)
	}
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
