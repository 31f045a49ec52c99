package gallery

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/unfinished"
	"tercet/internal/vectors"
)

// Options say what is evaluated, and where unfinished work is kept.
type Options struct {
	Embeddings string // the gallery
	Labels     npy.LabelFile
	// Queries are searched for in the gallery; "" searches for each of its items among all
	// others.
	Queries     string
	QueryLabels npy.LabelFile
	Lists       string             // of neighbors, to be evaluated; then labels may be left out
	Eval        record.EvalOptions // without k-means, pairs and neighbors
	// Out is the path of the result, beside which unfinished work is kept; "" keeps none.
	Out    string
	Keep   run.Keeper // asked before the work; nil replaces any result
	Memory int64      // bytes of queries and counts held at a time; 0 is 512 MiB
	// SaveEvery is after how many pairs of a query and an item unfinished work is kept; 0 is
	// as package metric has it.
	SaveEvery int64
	// Program is the version of the program: unfinished work of another one is refused.
	Program string
}

// input are the opened files.
type input struct {
	o           Options
	g, q        *vectors.File // q nil: the gallery's own items
	labels      []int32
	queryLabels []int32 // labels, where there are no queries
	lists       metric.Lists
	src         record.Source
	stored      *metric.Stored
}

func (in *input) close() {
	for _, f := range []*vectors.File{in.g, in.q} {
		if f != nil {
			f.Close()
		}
	}
}

// open opens the files, reads labels, and reads the vectors for their fingerprint and for
// what the search must know.
func open(ctx context.Context, o Options, say progress.Say) (*input, error) {
	in := &input{o: o}
	err := in.identify(ctx, say)
	if err == nil {
		err = in.survey(ctx, say)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// identify opens the files and says what they are; it refuses a result that may not be
// replaced.
func (in *input) identify(ctx context.Context, say progress.Say) error {
	o := in.o
	classes, err := in.openFiles()
	if err != nil {
		return err
	}
	in.src = record.Source{Embeddings: o.Embeddings, Labels: o.Labels.Path, Queries: o.Queries, QueryLabels: o.QueryLabels.Path, Neighbors: o.Lists,
		Items: in.g.Len(), Dim: in.g.Dim(), Classes: classes}
	if in.src.Fingerprint, err = in.fingerprint(ctx, say); err != nil {
		return err
	}
	return o.Keep.Check(in.src)
}

// survey reads the vectors for what the search must know.
func (in *input) survey(ctx context.Context, say progress.Say) (err error) {
	o := in.o
	so := metric.StoredOptions{K: o.Eval.Ks, Distance: o.Eval.Distance, Memory: o.Memory, SaveEvery: o.SaveEvery, Progress: say.Of("read the gallery")}
	if in.q != nil {
		so.Queries, so.QueryLabels = in.q, in.queryLabels
	}
	in.stored, err = metric.NewStored(ctx, in.g, in.labels, so)
	return err
}

// openFiles opens the vectors and reads labels and lists; it returns the number of classes of
// the gallery.
func (in *input) openFiles() (int, error) {
	o := in.o
	var err error
	if in.g, err = vectors.Open(o.Embeddings); err != nil {
		return 0, err
	}
	if o.Queries != "" {
		if in.q, err = vectors.Open(o.Queries); err != nil {
			return 0, err
		}
		if in.q.Dim() != in.g.Dim() {
			return 0, fault.Unfit("%s has %d columns, and %s has %d", o.Queries, in.q.Dim(), o.Embeddings, in.g.Dim())
		}
	}
	classes, err := in.readLabels()
	if err == nil && o.Lists != "" {
		err = in.readLists()
	}
	return classes, err
}

func (in *input) readLabels() (int, error) {
	o := in.o
	if o.Lists != "" && o.Labels.Path == "" {
		return 0, nil
	}
	labels, classes, err := npy.ReadLabelsOf(o.Labels, in.g.Len(), rowsWords(in.g))
	if err != nil {
		return 0, err
	}
	in.labels, in.queryLabels = labels, labels
	if err := embed.TwoClasses(labels); err != nil {
		return 0, err
	}
	if in.q != nil {
		in.queryLabels, err = labelsAmong(o.QueryLabels, in.q, classes)
	}
	return len(classes), err
}

func rowsWords(f *vectors.File) string { return fmt.Sprintf("%s has %d rows", f.Path(), f.Len()) }

// labelsAmong reads the labels of queries, numbered as the gallery's classes; others are
// numbered after these.
func labelsAmong(l npy.LabelFile, q *vectors.File, classes []string) ([]int32, error) {
	labels, names, err := npy.ReadLabelsOf(l, q.Len(), rowsWords(q))
	if err != nil {
		return nil, err
	}
	at := make(map[string]int32, len(classes))
	for k, c := range classes {
		at[c] = int32(k)
	}
	to := make([]int32, len(names))
	next := int32(len(classes))
	for k, c := range names {
		place, ok := at[c]
		if !ok {
			place = next
			next++
		}
		to[k] = place
	}
	for i, y := range labels {
		labels[i] = to[y]
	}
	return labels, nil
}

// fingerprint is that of data.Embeddings; with queries or lists, one of all.
func (in *input) fingerprint(ctx context.Context, say progress.Say) (string, error) {
	one, err := fingerprintOf(ctx, in.g, in.labels, say)
	if err != nil || in.q == nil && in.o.Lists == "" {
		return one, err
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, one) // which returns no error
	if in.q != nil {
		two, err := fingerprintOf(ctx, in.q, in.queryLabels, say)
		if err != nil {
			return "", err
		}
		_, _ = io.WriteString(sum, two)
	}
	if in.o.Lists != "" {
		_ = binary.Write(sum, binary.LittleEndian, in.lists.Index)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func fingerprintOf(ctx context.Context, f *vectors.File, labels []int32, say progress.Say) (string, error) {
	h := data.NewVectorHash(f.Len(), f.Dim())
	rows := max(1, (1<<20)/f.Dim())
	x := make([]float32, rows*f.Dim())
	for first := 0; first < f.Len(); first += rows {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		part := x[:min(rows, f.Len()-first)*f.Dim()]
		if err := f.Read(first, part); err != nil {
			return "", err
		}
		h.Add(part)
		say("fingerprint of "+f.Path(), first+len(part)/f.Dim(), f.Len())
	}
	return h.Sum(labels), nil
}

// Evaluate evaluates in one process. Where the options have Out, work that is interrupted,
// also by kill -9, is resumed by the next call with the same options. done removes what was
// kept for that: it is for after the result is written. The result holds no time, which
// after a resumption would be that of a part.
func Evaluate(ctx context.Context, o Options, say progress.Say) (e *evaluate.Evaluation, done func() error, err error) {
	in, err := open(ctx, o, say)
	if err != nil {
		return nil, nil, err
	}
	defer in.close()
	var part *unfinished.File
	if o.Out != "" {
		if part, err = unfinished.Open(o.Out+".partial", in.head("values", 1, 1)); err != nil {
			return nil, nil, err
		}
		defer part.Close()
	}
	values, err := in.values(ctx, part, say)
	if err == nil {
		e, err = in.result(ctx, values)
	}
	if err != nil {
		return nil, nil, stopped(err, part)
	}
	return e, part.Remove, nil
}

// values are those of all queries; the ones that part holds are read from it, and the
// others are kept there.
func (in *input) values(ctx context.Context, part *unfinished.File, say progress.Say) ([]float64, error) {
	st := in.stored
	_, all := st.Queries(st.Chunks() - 1)
	values := make([]float64, all*st.Scores())
	for k := range st.Chunks() {
		lo, hi := st.Queries(k)
		to := values[lo*st.Scores() : hi*st.Scores()]
		if part.Has(k) {
			if err := part.Read(k, to); err != nil {
				return nil, err
			}
			continue
		}
		p := resumed(part, k, 0, in.g.Len())
		p.Told = queriesOf(say, lo, hi, all)
		v, err := st.Values(ctx, k, p)
		if err != nil {
			return nil, err
		}
		copy(to, v)
		if err := part.Write(k, v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// queriesOf turns the gallery rows of a chunk of queries [lo, hi) into queries of all.
func queriesOf(say progress.Say, lo, hi, all int) progress.Count {
	return func(done, total int) { say("retrieval", lo+int(int64(hi-lo)*int64(done)/int64(total)), all) }
}

// stopped says where work is kept that was interrupted.
func stopped(err error, p *unfinished.File) error {
	if p == nil || p.Done() == 0 && !p.Underway() {
		return err
	}
	return fmt.Errorf("%w; %s keeps what was done, and the same command continues from there", err, p.Path)
}

// result makes the evaluation of the values of all queries that count.
func (in *input) result(ctx context.Context, values []float64) (*evaluate.Evaluation, error) {
	intervals := evaluate.Intervals(in.o.Eval)
	if in.o.Eval.Intervals == record.ByClass {
		intervals.Classes = in.queryLabels
	}
	ret, err := in.stored.Result(ctx, values, intervals)
	if err != nil {
		return nil, err
	}
	size := 0
	if in.q != nil {
		size = in.g.Len()
	}
	e, err := evaluate.OfRetrieval(in.src, in.o.Eval, ret, in.queryLabels, size)
	if err == nil && in.findThemselves() {
		e.Doc.Warnings = append(e.Doc.Warnings, "the queries are the rows of the gallery, so that each finds itself first; without queries its own row is left out")
	}
	return e, err
}

// findThemselves reports whether one file is gallery and queries.
func (in *input) findThemselves() bool {
	if in.q == nil {
		return false
	}
	a, errA := os.Stat(in.o.Embeddings)
	b, errB := os.Stat(in.o.Queries)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
