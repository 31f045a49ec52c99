package annotated

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
)

func init() { register("table", "a csv of images, as OML reads", TableOptions{Boxes: true}) }

// TableOptions are a csv file in the format of open-metric-learning: columns label, path,
// split, is_query and is_gallery, and as far as there are, category, sequence, x_1, x_2,
// y_1 and y_2. Others are not read.
type TableOptions struct {
	Table   string `yaml:"table" doc:"csv file, below data.root where that is set, with columns label, path, split, is_query, is_gallery, and maybe category, sequence, x_1, x_2, y_1, y_2"`
	Root    string `yaml:"root" doc:"folder that the paths of the table and of its images are relative to; empty: the folder of the table"`
	Partial bool   `yaml:"partial" doc:"leave out missing images, with a note"`
	Boxes   bool   `yaml:"boxes" doc:"crop images to their boxes, if the table has any"`
	Overlap bool   `yaml:"overlap" doc:"allow test classes that are also training classes; scores are then not those of unseen classes"`
}

// Traits implements data.Source.
func (TableOptions) Traits() data.Traits {
	return data.Traits{About: "images that a csv lists with label, path, split, query and gallery, as open-metric-learning has it", Needs: "table: the csv file"}
}

// Missing implements data.Needy.
func (s TableOptions) Missing(bool) []component.Fault {
	if s.Table == "" {
		return []component.Fault{{Key: "table", Msg: "the csv file"}}
	}
	return nil
}

// Files implements data.Filed.
func (s TableOptions) Files() []string { return []string{s.Table} }

func (s TableOptions) part() bool { return s.Partial }

// LeftOut implements data.Passing.
func (s TableOptions) LeftOut(data.Options) string { return leftOut(s) }

// Open implements data.Source.
func (s TableOptions) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return open(ctx, s, o)
}

// closedSets are the tables that open-metric-learning's converters write of datasets
// whose split into images they take for that into classes, by training and test images.
var closedSets = map[[2]int]string{{5994, 5794}: "CUB-200-2011", {8144, 8041}: "Cars-196"}

// Annotation implements Source.
func (s TableOptions) Annotation() (*table.Table, error) {
	if s.Table == "" {
		return nil, fault.Missing(nil, "data table needs a csv file: set data.table")
	}
	file, root := s.Table, s.Root
	if root == "" {
		root = filepath.Dir(file)
	} else if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	r, err := s.rows(file)
	if err != nil {
		return nil, err
	}
	t := r.table(root)
	if s.Partial {
		t = onlyFound(t)
	}
	if err := t.Check(); err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "%s", file)
	}
	if both := t.Overlap(); len(both) > 0 {
		train, test := t.Count(table.Train), t.Count(table.Test)
		msg := fmt.Sprintf("training and test share %d of %d classes, the first is %s", len(both), len(t.Classes), t.Classes[both[0]])
		if name := closedSets[[2]int{train.Images, test.Images}]; name != "" {
			msg += fmt.Sprintf(": this is the closed-set split of %s, which is not that of the literature", name)
		}
		if !s.Overlap {
			return nil, fault.Bad("%s: %s; scores on classes that were trained on cannot be compared: split by class, or allow it with data.overlap: true", file, msg)
		}
		t.Notes = append(t.Notes, msg)
	}
	return t, nil
}

// columns are the places of the columns in a row, -1 for those that are not there.
type columns map[string]int

func (s TableOptions) rows(file string) (*rows, error) {
	b, err := readText(file)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(b))
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, fault.Bad("%s: no header", file)
	}
	at, err := header(file, head)
	if err != nil {
		return nil, err
	}
	r := &rows{}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, fault.Of(fault.ErrFormat, err, "%s", file)
		}
		line, _ := in.FieldPos(0)
		it, err := s.item(fields, at)
		if err != nil {
			return nil, fault.Of(fault.ErrFormat, err, "%s, line %d", file, line)
		}
		r.add(it)
	}
}

var (
	needed   = strings.Fields("label path split is_query is_gallery")
	optional = strings.Fields("category sequence x_1 y_1 x_2 y_2")
)

func header(file string, head []string) (columns, error) {
	at := columns{}
	for _, name := range slices.Concat(needed, optional) {
		if at[name] = slices.Index(head, name); at[name] < 0 && slices.Contains(needed, name) {
			return nil, fault.Bad("%s has no column %s; it needs %s", file, name, strings.Join(needed, ", "))
		}
		if k := at[name]; k >= 0 && slices.Contains(head[k+1:], name) {
			return nil, fault.Bad("%s has two columns %s", file, name)
		}
	}
	boxes := 0
	for _, name := range optional[2:] {
		if at[name] >= 0 {
			boxes++
		}
	}
	if boxes != 0 && boxes != 4 {
		return nil, fault.Bad("%s has some of the columns x_1, y_1, x_2, y_2 and not all", file)
	}
	return at, nil
}

// get returns a value of a row, "" for a column that is not there.
func (c columns) get(fields []string, name string) string {
	if k := c[name]; k >= 0 {
		return strings.Clone(fields[k]) // not the whole line
	}
	return ""
}

func (s TableOptions) item(fields []string, at columns) (it table.Item, err error) {
	label, err := whole(at.get(fields, "label"))
	if err != nil {
		return it, fmt.Errorf("label: %w", err)
	}
	it = table.Item{Path: filepath.ToSlash(at.get(fields, "path")), ClassID: strconv.Itoa(label), Category: at.get(fields, "category"), Sequence: at.get(fields, "sequence")}
	var flags [2]bool
	for k, name := range []string{"is_query", "is_gallery"} {
		if flags[k], err = flag(at.get(fields, name)); err != nil {
			return it, fmt.Errorf("%s: %w", name, err)
		}
	}
	if flags[0] {
		it.Role |= table.Query
	}
	if flags[1] {
		it.Role |= table.Gallery
	}
	switch split := at.get(fields, "split"); {
	case split == "train" && it.Role != 0:
		return it, errors.New("a row of split train is neither query nor gallery: leave is_query and is_gallery empty")
	case split == "train":
		it.Role = table.Train
	case split != "validation":
		return it, fmt.Errorf("split is %q; it must be train or validation", split)
	case it.Role == 0:
		return it, errors.New("a row of split validation must be query, gallery or both")
	}
	return it, s.box(&it, fields, at)
}

// box reads the box of a row: all of x_1, y_1, x_2, y_2 or none.
func (s TableOptions) box(it *table.Item, fields []string, at columns) error {
	var v [4]int
	given := 0
	for k, name := range optional[2:] {
		text := at.get(fields, name)
		if text == "" {
			continue
		}
		given++
		var err error
		if v[k], err = whole(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case given == 0:
		return nil
	case given < 4:
		return errors.New("some of x_1, y_1, x_2, y_2 are empty; give all or none")
	case v[0] < 0 || v[1] < 0 || v[2] <= v[0] || v[3] <= v[1]:
		return fmt.Errorf("the box from (%d, %d) to (%d, %d) is empty or begins outside the image", v[0], v[1], v[2], v[3])
	}
	if s.Boxes {
		it.Box = rectangle(float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3]))
	}
	return nil
}

// whole reads a whole number; pandas writes those of columns with gaps as 12.0.
func whole(text string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, ".0"), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a whole number", text)
	}
	return int(n), nil
}

// flag reads a flag as pandas writes it; an empty one is not set.
func flag(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "1.0":
		return true, nil
	case "false", "0", "0.0", "":
		return false, nil
	}
	return false, fmt.Errorf("%.40q is neither True nor False", text)
}
