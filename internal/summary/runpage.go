package summary

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// RunPage is the page of a summary: the table over all runs, then each run with
// its scores, pictures and how it was measured.
func RunPage(s *Summary, runs []*rundir.Run, pictures bool) *render.Page {
	p := &render.Page{Title: "Report on " + text.Plural(len(runs), "run", "runs")}
	if len(runs) == 1 {
		p.Title = runs[0].Name()
	}
	t := s.Table()
	t.Title = ""
	p.Table(t)
	addCurves(p, runs)
	level := 2
	if len(runs) > 1 {
		level++
		if t := differences(runs); t != nil {
			p.Heading(2, "Settings that differ")
			p.Table(t)
		}
	}
	wanted := pictures
	if pictures && len(runs) > mostPictured {
		pictures = false
		p.Paragraph(fmt.Sprintf("Pictures are on pages of at most %d runs.", mostPictured))
	}
	g := &galleries{page: p, room: galleryRoom, large: pictures, off: !wanted}
	for _, r := range runs {
		if len(runs) > 1 {
			p.Heading(2, r.Name())
		}
		runSection(r, g, level)
	}
	if g.full {
		p.Paragraph("Galleries stand with the first runs alone, to keep the page small.")
	}
	return p
}

// galleryRoom bounds the thumbnails of a page, in bytes.
const galleryRoom = 1_200_000

// galleries adds thumbnails to a page while there is room.
type galleries struct {
	page  *render.Page
	room  int
	large bool // pictures are drawn, too
	off   bool // no pictures were asked for
	full  bool // something was left out
}

// fits says whether so many bytes are added, and takes them.
func (g *galleries) fits(bytes int) bool {
	if bytes > g.room {
		g.full = true
		return false
	}
	g.room -= bytes
	return true
}

// mostPictured is how many runs have their pictures on one page: with those of a hundred it
// would be too large to open.
const mostPictured = 10

// runSection adds one run, its sections at the given level of headings.
func runSection(r *rundir.Run, g *galleries, level int) {
	p, pictures := g.page, g.large
	p.Paragraph(sentence(r))
	shown := map[string]bool{}
	take := func(name string) string { // the path of a picture that is drawn nowhere else
		for _, f := range r.Figures {
			if pictures && filepath.Base(f.Path) == name && !shown[f.Path] {
				shown[f.Path] = true
				return f.Path
			}
		}
		return ""
	}
	draw := func(files ...string) {
		for _, f := range r.Figures {
			for _, name := range files {
				if filepath.Base(f.Path) == name && take(name) != "" {
					p.Picture(f.Path, f.Caption)
				}
			}
		}
	}
	// gallery adds thumbnails, which take the place of a picture in HTML.
	gallery := func(what, title string) {
		list, err := r.ReadGallery(what)
		if g.off || err == nil && (list == nil || !g.fits(list.Bytes())) {
			draw(what + ".png")
			return
		}
		if err != nil {
			p.Paragraph("Not drawn: " + err.Error())
			return
		}
		p.Gallery(title, take(what+".png"), list)
	}
	if f := take("training.png"); f != "" {
		p.Folded(f, "Training of "+r.Name()+": loss, scores, tuples and distances against the step")
	}
	if r.Eval != nil {
		p.Heading(level, "Retrieval and clustering against baselines")
		p.Table(evalTable(r))
		warn(p, r.Eval.Warnings)
		if r.Eval.PairCounts != nil {
			p.Heading(level, "Pairs classified by their distance")
			p.Table(pairTable(r.Eval))
		}
	}
	gallery("retrieval", "Queries and their nearest images")
	if r.Attack != nil {
		p.Heading(level, "Under attack")
		p.Table(attackTable(r))
		warn(p, r.Attack.Warnings)
	}
	gallery("attack", "Attacked images, and what is retrieved before and after")
	draw("attack-curve.png")
	if r.Cluster != nil {
		p.Heading(level, "Clusters")
		p.Table(clusterTable(r))
		warn(p, r.Cluster.Warnings)
	}
	if items, err := r.ReadItems(); pictures && err != nil {
		p.Paragraph("Not drawn: " + err.Error())
	} else if pictures && items != nil && len(items.Points) > 0 {
		p.Map(fmt.Sprintf("Map of %d images by their embeddings, colored by class", len(items.Points)), items.Sprite, items.Points)
	}
	draw("tsne.png", "pca.png")
	gallery("clusters", "Clusters and their images")
	if c, err := r.ReadConfusion(); !g.off && err != nil {
		p.Paragraph("Not drawn: " + err.Error())
	} else if !g.off && c != nil && g.fits(c.Bytes()) {
		p.Confusion("Classes and clusters", take("contingency.png"), c)
	}
	draw("contingency.png", "cluster-sizes.png")
	p.Heading(level, "How it was measured")
	p.Table(method(r))
	var commands []string
	for _, kind := range rundir.Kinds() {
		if !r.Has(kind) && !rundir.IsExtra(kind) {
			commands = append(commands, fmt.Sprintf("%s   # makes %s, which is not there yet", r.Command(kind), r.Of.Document("", kind)))
		}
	}
	if commands != nil {
		p.Code(strings.Join(commands, "\n"))
	}
}

func warn(p *render.Page, warnings []string) {
	for _, w := range warnings {
		p.Paragraph("Warning: " + w)
	}
}

// sentence says what the run is and how it ended.
func sentence(r *rundir.Run) string {
	m := r.Manifest
	if m.Model.Name == "" { // it has not got as far as building its network
		return strings.Join(r.Ended(), "") + "."
	}
	s := fmt.Sprintf("%s with %d parameters, embeddings of dimension %d, trained on %d images of %d classes of %s; seed %d, ",
		m.Model.Name, m.Model.Parameters, m.Model.Embedding, m.Data.Train.Items, m.Data.Train.Classes, m.Data.Name, m.Seed)
	if m.Status == "finished" {
		if m.Stopped != nil {
			return s + fmt.Sprintf("stopped early after %d of %d steps, in %.0f s: %s.", m.Steps, m.Of, m.Seconds, m.Stopped.Reason)
		}
		return s + fmt.Sprintf("%d steps in %.0f s.", m.Steps, m.Seconds)
	}
	return s + strings.Join(r.Ended(), "") + "."
}

// fingerprint names the hash, which some sets do not.
func fingerprint(s string) string { return "sha256:" + strings.TrimPrefix(s, "sha256:") }

func evalTable(r *rundir.Run) *render.Table {
	e := r.Eval
	t, left := EvalTable(describe(e.Source), "trained", e.Evaluated, e.Baselines, false)
	if left > 0 {
		t.Notes = append(t.Notes, text.Plural(left, "more score", "more scores")+" in "+r.Of.Document("", "eval")+", which has the definition of each.")
	}
	if v := e.Retrieval[0]; v.CI95 != nil {
		t.Notes = append(t.Notes, "[low, high]: 95 % bootstrap interval over "+e.Options.IntervalsOver()+".")
	}
	return t
}

func describe(s record.Source) string {
	of := ""
	if s.Classes > 0 {
		of = fmt.Sprintf(" of %d classes", s.Classes)
	}
	return fmt.Sprintf("%d %s images%s, D = %d, %s checkpoint (step %d)", s.Items, s.Set, of, s.Dim, s.Checkpoint, s.Step)
}

// attackTable is that of tercet attack.
func attackTable(r *rundir.Run) *render.Table {
	a := r.Attack
	var list []AttackScores
	for _, v := range []string{"published", "fixed"} {
		scores, ok := a.Scores[v]
		if !ok {
			continue
		}
		right := a.RightWhenClean[v]
		list = append(list, AttackScores{v, record.Scores(scores), record.Scores(a.Clean[v]), record.Scores(right.Scores), right.Queries})
	}
	return AttackTable(rundir.Budget(a), list)
}

func clusterTable(r *rundir.Run) *render.Table {
	c := r.Cluster
	smallest, largest := 0, 0
	for i, n := range c.Sizes {
		if i == 0 || n < smallest {
			smallest = n
		}
		largest = max(largest, n)
	}
	t := &render.Table{
		Title:   c.Options.Method + ", " + describe(c.Source),
		Columns: []render.Column{{Name: "score"}, {Name: "value", Digits: 4}},
		Rows: [][]render.Cell{
			{render.Text("clusters"), render.Int(c.Clusters)}, {render.Text("smallest"), render.Int(smallest)}, {render.Text("largest"), render.Int(largest)},
		},
	}
	if c.Noise > 0 {
		t.Rows = append(t.Rows, []render.Cell{render.Text("noise"), render.Int(c.Noise)})
	}
	for _, n := range []struct {
		name  string
		value *float64
	}{{"threshold", c.Threshold}, {"objective", c.Objective}, {"lower bound", c.LowerBound}, {"gap", c.Gap}} {
		if n.value != nil {
			t.Rows = append(t.Rows, []render.Cell{render.Text(n.name), render.Number(*n.value)})
		}
	}
	for _, sc := range c.Clustering {
		if headline.MatchString(sc.Key) {
			t.Rows = append(t.Rows, []render.Cell{render.Text(sc.Key), Measured(sc.Value)})
		}
	}
	return t
}

// method is the table of all that a number depends on.
func method(r *rundir.Run) *render.Table {
	m := r.Manifest
	t := &render.Table{Columns: []render.Column{{Name: "what"}, {Name: "value"}}}
	add := func(what, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []render.Cell{render.Text(what), render.Text(value)})
		}
	}
	add("version", m.Version)
	add("processor", m.CPU)
	add("kernel level", r.Kernels())
	add("system", m.OS)
	add("begun", m.Started)
	add("config", m.Config)
	set := func(what string, d record.Set) {
		if d.Items > 0 {
			add(what, fmt.Sprintf("%d images of %d classes, %dx%dx%d, %s", d.Items, d.Classes, d.Shape[0], d.Shape[1], d.Shape[2], fingerprint(d.Fingerprint)))
		}
	}
	set("training data", m.Data.Train)
	if m.Data.Validation != nil {
		set("validation data", *m.Data.Validation)
	}
	set("test data", m.Data.Test)
	cost := func(what string, c record.Cost, seconds float64) {
		add(what, fmt.Sprintf("%d images forward, %d backward, %.1f s", c.Forward, c.Backward, seconds))
	}
	cost("cost of training", m.Cost, m.Seconds)
	if r.Eval != nil {
		cost("cost of eval", r.Eval.Cost.Cost, r.Eval.Cost.Seconds)
	}
	if r.Attack != nil {
		cost("cost of attack", r.Attack.Cost.Cost, r.Attack.Cost.Seconds)
	}
	if r.Cluster != nil {
		cost("cost of cluster", r.Cluster.Cost.Cost, r.Cluster.Cost.Seconds)
	}
	return t
}
