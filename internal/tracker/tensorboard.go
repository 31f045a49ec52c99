package tracker

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/tensorboard"
)

// maxPicture bounds a picture that an event file takes in.
const maxPicture = 64 << 20

// TensorBoard writes a folder for each run below dir, without what an earlier export has left
// in it, with the run's log, results, pictures,
// distances of pairs and hyper-parameters as one event file, whose path it returns.
func TensorBoard(dir string, runs []*rundir.Run) (files []string, err error) {
	for i, name := range Names(runs) {
		r := runs[i]
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		stale, err := filepath.Glob(filepath.Join(fsx.QuoteGlob(folder), tensorboard.Files))
		if err != nil {
			return nil, err
		}
		for _, name := range projectorFiles { // they would show embeddings of other weights
			stale = append(stale, filepath.Join(folder, name))
		}
		path := filepath.Join(folder, tensorboard.FileName(begin(r)))
		if err := fsx.Write(path, 0o644, func(w io.Writer) error { return writeEvents(w, r) }); err != nil {
			return nil, err
		}
		for _, old := range stale { // of the same run as it began before
			if old == path {
				continue
			}
			if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		files = append(files, path)
	}
	return files, nil
}

func writeEvents(to io.Writer, r *rundir.Run) error {
	start := begin(r)
	end := start + r.Manifest.Seconds
	w := tensorboard.NewWriter(to, start)
	var compared []string
	if err := EachPoint(r, func(p Point) {
		if strings.HasPrefix(p.Tag, "result/") {
			compared = append(compared, p.Tag)
		}
	}); err != nil {
		return err
	}
	w.HParams(tensorboard.Session{Group: group(r), Params: params(r), Metrics: compared, Start: start, End: end, Status: status(r.Manifest.Status)})
	if err := EachPoint(r, func(p Point) { w.Scalar(start+p.Seconds, int64(p.Step), p.Tag, p.Value) }); err != nil {
		return err
	}
	if e := r.Eval; e != nil && e.Pairs != nil && e.Distances != nil {
		w.Histogram(end, int64(e.Source.Step), "result/distances of one class", histogram(e.Distances.Same))
		w.Histogram(end, int64(e.Source.Step), "result/distances of two classes", histogram(e.Distances.Different))
	}
	for _, f := range r.Figures {
		data, err := fsx.ReadFile(f.Path, maxPicture)
		if err != nil {
			return err
		}
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%w: %s is not a PNG picture (%w)", rundir.ErrRun, f.Path, err)
		}
		w.Image(end, int64(r.Manifest.Steps), "figures/"+strings.TrimSuffix(filepath.Base(f.Path), ".png"), c.Width, c.Height, data)
	}
	return w.Err()
}

func params(r *rundir.Run) (out []tensorboard.Param) {
	for _, l := range settings(r) {
		out = append(out, tensorboard.Param{Name: l.Key, Value: l.Value})
	}
	return out
}

func status(s record.Status) tensorboard.Status {
	switch s {
	case record.Finished:
		return tensorboard.Success
	case record.Running, record.Interrupted:
		return tensorboard.Running
	}
	return tensorboard.Failure
}

// histogram has the shares of pairs, in percent, between the quantiles that documents keep.
// Pairs above the last one are left out, since nothing says how far they are.
func histogram(d record.Distances) tensorboard.Histogram {
	h := tensorboard.Histogram{Max: d.P95}
	shares := []float64{5, 20, 25, 25, 20}
	low := 0.0
	for i, limit := range []float64{d.P5, d.P25, d.Median, d.P75, d.P95} {
		if n := len(h.Limits); n > 0 && limit <= h.Limits[n-1] { // many equal distances
			h.Counts[n-1] += shares[i]
		} else {
			h.Limits, h.Counts = append(h.Limits, limit), append(h.Counts, shares[i])
		}
		middle := (low + limit) / 2
		h.Sum += float64(shares[i] * middle)
		h.SumSquares += float64(shares[i] * middle * middle)
		low = limit
	}
	return h
}
