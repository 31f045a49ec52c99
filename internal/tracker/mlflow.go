package tracker

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// MLflow writes runs as an experiment into dir in the layout of MLflow's file store (mlruns),
// and returns the folders of the runs. A run's identifier follows from its config, name and
// start: the same run is the same one when it is written again.
func MLflow(dir, experiment string, runs []*rundir.Run) (folders []string, err error) {
	n, err := strconv.ParseUint(digest(experiment)[:14], 16, 64) // 14 digits always fit
	if err != nil {
		return nil, err
	}
	id := strconv.FormatUint(n, 10)
	root := filepath.Join(dir, id)
	from, to := 0.0, 0.0
	for _, r := range runs {
		if b := begin(r); from == 0 || b < from {
			from = b
		}
		to = max(to, begin(r)+r.Manifest.Seconds)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	err = meta(root, [][2]string{
		{"artifact_location", fileURI(root)}, {"creation_time", millis(from)}, {"experiment_id", text.YAML(id)},
		{"last_update_time", millis(to)}, {"lifecycle_stage", "active"}, {"name", text.YAML(experiment)},
	})
	if err != nil {
		return nil, err
	}
	for i, name := range Names(runs) {
		folder := filepath.Join(root, digest(name + "\n" + runs[i].Manifest.Started + "\n" + group(runs[i]))[:32])
		if err := mlflowRun(folder, id, name, runs[i]); err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

// mlflowRun writes one run. What an earlier export has left of it is removed once the run is
// read: metrics are files of lines, and a run may have fewer of them now.
func mlflowRun(folder, experiment, name string, r *rundir.Run) error {
	start := begin(r)
	metrics := map[string]*strings.Builder{}
	err := EachPoint(r, func(p Point) {
		key := mlflowKey(p.Tag)
		if metrics[key] == nil {
			metrics[key] = &strings.Builder{}
		}
		fmt.Fprintf(metrics[key], "%s %s %d\n", millis(start+p.Seconds), strconv.FormatFloat(p.Value, 'g', -1, 64), p.Step)
	})
	if err != nil {
		return err // the earlier export stays
	}
	for _, part := range []string{"metrics", "params", "tags", "artifacts"} {
		if err := os.RemoveAll(filepath.Join(folder, part)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(folder, part), 0o755); err != nil {
			return err
		}
	}
	put := func(part, key, value string) error {
		path := filepath.Join(folder, part, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return fsx.WriteFile(path, []byte(value), 0o644)
	}
	for key, lines := range metrics {
		if err := put("metrics", key, lines.String()); err != nil {
			return err
		}
	}
	for _, l := range r.Labels {
		if err := put("params", mlflowKey(l.Key), l.Value); err != nil {
			return err
		}
	}
	for _, tag := range [][2]string{{"mlflow.runName", name}, {"mlflow.source.name", "tercet"}, {"mlflow.source.type", "LOCAL"}, {"tercet.version", r.Manifest.Version}, {"tercet.config_hash", r.Manifest.Config}, {"tercet.group", group(r)}} {
		if err := put("tags", tag[0], tag[1]); err != nil {
			return err
		}
	}
	for _, f := range r.Figures {
		data, err := fsx.ReadFile(f.Path, maxPicture)
		if err != nil {
			return err
		}
		if err := put("artifacts", "figures/"+filepath.Base(f.Path), string(data)); err != nil {
			return err
		}
	}
	id := filepath.Base(folder)
	return meta(folder, [][2]string{
		{"artifact_uri", fileURI(filepath.Join(folder, "artifacts"))}, {"end_time", millis(start + r.Manifest.Seconds)}, {"entry_point_name", "''"},
		{"experiment_id", text.YAML(experiment)}, {"lifecycle_stage", "active"}, {"run_id", text.YAML(id)}, {"run_name", text.YAML(name)}, {"run_uuid", text.YAML(id)},
		{"source_name", "''"}, {"source_type", "4"}, {"source_version", "''"}, {"start_time", millis(start)}, {"status", mlflowStatus(r.Manifest.Status)}, {"tags", "[]"}, {"user_id", "tercet"},
	})
}

// meta writes meta.yaml of an experiment or a run.
func meta(folder string, lines [][2]string) error {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[0] + ": " + l[1] + "\n")
	}
	return fsx.WriteFile(filepath.Join(folder, "meta.yaml"), []byte(b.String()), 0o644)
}

// mlflowKey has no characters but those that MLflow takes: it has no @.
func mlflowKey(tag string) string {
	tag = strings.ReplaceAll(tag, "@", "_at_")
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-. /", c) {
			return c
		}
		return '_'
	}, tag)
}

// mlflowStatus is the number of a state in MLflow's RunStatus.
func mlflowStatus(s record.Status) string {
	switch s {
	case record.Finished:
		return "3"
	case record.Running:
		return "1"
	case record.Interrupted:
		return "5"
	}
	return "4"
}

func millis(seconds float64) string { return strconv.FormatInt(int64(seconds*1000), 10) }

func fileURI(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return text.YAML((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
}
