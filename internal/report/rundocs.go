package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/metric"
	"tercet/internal/record"
)

// Manifest is what a report needs of manifest.json (tercet.run/1).
type Manifest struct {
	Name       string  `json:"name"`
	Version    string  `json:"version"`
	Status     string  `json:"status"`
	Message    string  `json:"message"`
	Seed       uint64  `json:"seed"`
	ConfigHash string  `json:"config_hash"`
	Data       RunData `json:"data"`
	Model      struct {
		Name       string `json:"name"`
		Embedding  int    `json:"embedding"`
		Parameters int    `json:"parameters"`
	} `json:"model"`
	Steps   int `json:"steps"`
	Planned int `json:"steps_planned"`
	// Checkpoint is the step of the last checkpoint; 0 in manifests of older versions.
	Checkpoint int `json:"checkpoint_step"`
	// Best is the best checkpoint; Selection what it, and an early stop, was chosen by,
	// which manifests of older versions do not say.
	Best *struct {
		Metric string `json:"metric"`
		Step   int    `json:"step"`
	} `json:"best"`
	Selection *struct {
		Split  string `json:"split"`
		Metric string `json:"metric"`
	} `json:"selection"`
	Stopped *struct {
		Step   int    `json:"step"`
		Reason string `json:"reason"`
	} `json:"stopped"`
	Cost    Cost    `json:"cost"`
	Seconds float64 `json:"seconds"`
	CPU     string  `json:"cpu"`
	Kernel  string  `json:"kernel"`
	// Builds are what has trained the run, with the steps done before each; manifests of
	// older versions have none.
	Builds  []RunBuild `json:"builds"`
	OS      string     `json:"os"`
	Started string     `json:"started"` // RFC 3339
}

// RunBuild is what has trained a run from a step on.
type RunBuild struct {
	Step    int    `json:"step"`
	Version string `json:"version"`
	Kernel  string `json:"kernel"`
}

// kernels are the kernel levels that have trained the run, with the step at which each
// but the first began.
func (m *Manifest) kernels() string {
	return m.over(m.Kernel, func(b RunBuild) string { return b.Kernel })
}

// versions are the versions that have trained the run, in the same way.
func (m *Manifest) versions() string {
	return m.over(m.Version, func(b RunBuild) string { return b.Version })
}

func (m *Manifest) over(first string, of func(RunBuild) string) string {
	out, was := first, first
	for _, b := range m.Builds {
		if v := of(b); v != was {
			out, was = fmt.Sprintf("%s, from step %d %s", out, b.Step, v), v
		}
	}
	return out
}

// RunData names a run's sets.
type RunData struct {
	Name       string   `json:"name"`
	Train      DataSet  `json:"train"`
	Validation *DataSet `json:"validation"`
	Test       DataSet  `json:"test"`
}

// items counts those of a split.
func (d RunData) items(split string) int {
	switch {
	case split == "train":
		return d.Train.Items
	case split != "validation":
		return d.Test.Items
	case d.Validation == nil:
		return 0
	}
	return d.Validation.Items
}

// DataSet identifies one set.
type DataSet struct {
	Items       int    `json:"items"`
	Classes     int    `json:"classes"`
	Shape       [3]int `json:"shape"` // H, W, C
	Fingerprint string `json:"fingerprint"`
}

// Cost counts images that went forward and backward through the network.
type Cost struct {
	Forward  int64 `json:"forward"`
	Backward int64 `json:"backward"`
}

// ResultCost is a Cost with the time it took.
type ResultCost struct {
	Cost
	Seconds float64 `json:"seconds"`
}

// Source says what a result was computed from.
type Source struct {
	Run         string `json:"run"`         // its directory then
	ConfigHash  string `json:"config_hash"` // of the run; "" in documents of older versions
	Checkpoint  string `json:"checkpoint"`
	Step        int    `json:"step"`
	Set         string `json:"set"`
	Items       int    `json:"items"`
	Classes     int    `json:"classes"`
	Dim         int    `json:"dim"`
	Fingerprint string `json:"fingerprint"`
}

// Judged are the numbers that judge embeddings. Excluded counts queries whose
// class has no other sample.
type Judged struct {
	Retrieval  metric.Scores
	Clustering metric.Scores
	Excluded   int
}

// EvalResult is eval.json (tercet.eval/1).
type EvalResult struct {
	Source  Source       `json:"source"`
	Options EvalSettings `json:"options"`
	judgedFile
	Pairs      scoreFile             `json:"pairs"`       // empty where pairs were not judged
	PairCounts *PairCounts           `json:"pair_counts"` // nil there, too
	Baselines  map[string]judgedFile `json:"baselines"`
	Warnings   []string              `json:"warnings"`
	Cost       ResultCost            `json:"cost"`
}

// EvalSettings are the options that the scores of an evaluation depend on.
type EvalSettings struct {
	Distance string `json:"distance"` // "" of documents of old versions: euclidean
	K        int    `json:"k"`        // clusters of k-means, 0: the number of classes
	NInit    int    `json:"n_init"`
}

// PairCounts says of how many unordered pairs of items the scores of pairs are. At is
// nil where there was no threshold.
type PairCounts struct {
	Same         int64   `json:"same"` // of one class
	Different    int64   `json:"different"`
	EERThreshold float64 `json:"eer_threshold"`
	At           *struct {
		Threshold float64 `json:"threshold"`
		From      string  `json:"from"`     // loss or option
		Accepted  int64   `json:"accepted"` // pairs at the threshold or below
		Wrong     int64   `json:"wrong"`    // of them, those of two classes
	} `json:"at_threshold"`
}

// AttackResult is attack.json (tercet.attack/2).
type AttackResult struct {
	Source         Source               `json:"source"`
	Options        AttackBudget         `json:"options"`
	Queries        int                  `json:"queries"`
	Scores         map[string]scoreFile `json:"scores"` // by variant: published, fixed
	Clean          map[string]scoreFile `json:"clean"`  // of the images as they are
	RightWhenClean map[string]struct {
		Queries int       `json:"queries"`
		Scores  scoreFile `json:"scores"`
	} `json:"right_when_clean"`
	Warnings []string   `json:"warnings"`
	Cost     ResultCost `json:"cost"`
}

// AttackBudget is what the scores of an attack depend on beside the images.
type AttackBudget struct {
	Norm       string  `json:"norm"`
	Eps        float64 `json:"eps"`
	Step       float64 `json:"step"`
	Iterations int     `json:"iterations"`
	Rule       string  `json:"rule"`
	Direction  string  `json:"direction"`
	Start      string  `json:"start"`
	Restarts   int     `json:"restarts"`
	Keep       string  `json:"keep"`
	Sample     bool    `json:"sample"`
	Draws      int     `json:"draws"`
	W          int     `json:"w"`
	M          int     `json:"m"`
	Near       bool    `json:"near"`
	Pure       bool    `json:"pure"`
	XiScale    float64 `json:"xi_scale"`
	XiWeight   float64 `json:"xi_weight"`
}

// ClusterResult is cluster.json (tercet.cluster/2, or the k-means of tercet.cluster/1),
// without the labels. Numbers that a method has not are nil.
type ClusterResult struct {
	Source     Source          `json:"source"`
	Options    ClusterSettings `json:"options"`
	Clusters   int             `json:"clusters"`
	Sizes      []int           `json:"sizes"`
	Noise      int             `json:"noise"`
	Objective  *float64        `json:"objective"`
	LowerBound *float64        `json:"lower_bound"`
	Gap        *float64        `json:"gap"`
	Threshold  *float64        `json:"threshold"`
	Clustering scoreFile       `json:"clustering"`
	Warnings   []string        `json:"warnings"`
	Cost       ResultCost      `json:"cost"`
}

// judgedFile is Judged as files hold it.
type judgedFile struct {
	Retrieval  scoreFile `json:"retrieval"`
	Clustering scoreFile `json:"clustering"`
	Excluded   int       `json:"queries_excluded"`
}

func (j judgedFile) judged() Judged {
	return Judged{metric.Scores(j.Retrieval), metric.Scores(j.Clustering), j.Excluded}
}

// scoreFile reads {"recall@1": {"value": ...}, ...} and keeps the file's order.
type scoreFile metric.Scores

// UnmarshalJSON is that of metric.Scores.
func (s *scoreFile) UnmarshalJSON(b []byte) error { return (*metric.Scores)(s).UnmarshalJSON(b) }

// MaxDocument bounds a JSON file of a run: labels of ten million items fit.
const MaxDocument = 256 << 20

// readDocument reads the JSON document at path, which must be of one of the given
// schemas, the present one first, into v. found is false where there is no such file.
func readDocument(path string, v any, schemas ...string) (found bool, err error) {
	b, err := fsx.ReadFile(path, MaxDocument)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrRun, err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return false, jsonError(path, b, err)
	}
	if !slices.Contains(schemas, head.Schema) {
		hint, schema := "", schemas[0]
		if kind, _, _ := strings.Cut(schema, "/"); strings.HasPrefix(head.Schema, kind+"/") && makers[kind] != "" {
			hint = fmt.Sprintf("; `tercet %s` makes the file anew", makers[kind])
		}
		return false, fmt.Errorf("%w: %s: schema is %q; this version reads %s%s", ErrRun, path, head.Schema, schema, hint)
	}
	if err := record.Check(b); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, jsonError(path, b, err)
	}
	return true, nil
}

// makers are the commands that write a kind of document.
var makers = map[string]string{
	"tercet.eval": "eval", "tercet.attack": "attack", "tercet.cluster": "cluster", "tercet.pairs": "eval",
	"tercet.gap": "eval --gap", "tercet.stability": "eval --stability", "tercet.metricstability": "eval --stability",
}

// jsonError says where in the file reading ended.
func jsonError(path string, b []byte, err error) error {
	var at int64 = -1
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ) && typ.Offset <= int64(len(b)):
		at = typ.Offset
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return fmt.Errorf("%w: %s is empty", ErrRun, path)
	}
	if at < 0 {
		return fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	return fmt.Errorf("%w: %s:%d: not valid JSON of a run: %s", ErrRun, path, 1+bytes.Count(b[:min(at, int64(len(b)))], []byte("\n")), record.Words(err))
}
