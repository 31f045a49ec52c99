package newimages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tercet/internal/data/fault"
	"tercet/internal/embed"
	"tercet/internal/embed/store"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// Options say where embeddings go and in what form.
type Options struct {
	Dir     string
	Batch   int // 0: the network's own
	Layout  store.Layout
	Replace bool // what the folder holds of other images, weights or options
}

// Embed writes the embeddings of images to a folder, or resumes what another process has
// begun. The rows are in the order of the images; one that cannot be read has no row and
// is listed in the document. The same job gives the same bytes, however often it was
// interrupted. Memory is that of a batch, and of the list of images.
//
// A folder that holds the result already is left as it is, and done says so.
//
// Errors wrap store.ErrOther where the folder holds other embeddings.
func (n *Network) Embed(ctx context.Context, im Images, o Options, say progress.Say) (doc *record.Embed, done bool, err error) {
	if o.Batch == 0 {
		o.Batch = n.Batch
	}
	items := im.Items()
	doc = &record.Embed{Schema: record.EmbedSchema, Source: n.Source, Root: im.Root(), Network: n.About, Start: n.start, Config: n.config, Format: "f32"}
	if o.Layout.Half {
		doc.Format = "f16"
	}
	if doc.Source.Fingerprint, err = im.Fingerprint(ctx); err != nil {
		return nil, false, err
	}
	if s, ok := im.(*split); ok {
		doc.Broken = slices.Clone(s.broken)
	}
	state := stateOf(im.Files())
	job := jobOf(doc, items, o.Batch, state)
	doc.Job = jobOf(doc, items, o.Batch, state, fmt.Sprint(o.Layout))
	if there, err := store.ReadDocument(o.Dir); err == nil && !o.Replace {
		if there.Job != doc.Job {
			return nil, false, fmt.Errorf("%s holds embeddings of other images, weights or options (%s): %w", o.Dir, there.Source.Of(), store.ErrOther)
		}
		return there, true, store.Tidy(o.Dir)
	} else if err != nil && !errors.Is(err, fault.ErrMissing) && !o.Replace {
		return nil, false, err
	}
	w, err := store.Begin(o.Dir, job, n.Model.Dim(), o.Replace)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if e := w.Close(); !errors.Is(err, e) { // a full disk is met twice
			err = errors.Join(err, e)
		}
	}()
	start, before := time.Now(), w.Done()
	if err := n.fill(ctx, w, im, o.Batch, say); err != nil {
		return nil, false, err
	}
	doc.Cost.Forward, doc.Cost.Seconds = int64(w.Kept()), time.Since(start).Seconds()
	if s := doc.Cost.Seconds; s > 0 && w.Done() > before {
		doc.Rate = float64(w.Done()-before) / s
	}
	return doc, false, w.Finish(items, doc, o.Layout)
}

// fill embeds what is left of the images, batch by batch.
func (n *Network) fill(ctx context.Context, w *store.Writer, im Images, batch int, say progress.Say) error {
	s := n.Model.Spec()
	x, most := array.New(batch, s.Height, s.Width, s.Channels), embed.Rows(n.Model, batch)
	var rows []float32
	for lo := w.Done(); lo < im.Len(); lo += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(batch, im.Len()-lo)
		x.SetRows(m)
		sizes, broken := readBatch(im, lo, x)
		rows = rows[:0]
		if len(sizes) > 0 {
			x.SetRows(len(sizes))
			if err := n.Model.CheckInput(x); err != nil {
				return err
			}
			for at := 0; at < len(sizes); at += most {
				rows = append(rows, n.Model.Embed(x.Slice(at, min(at+most, len(sizes))), nn.Eval).Data...)
			}
		}
		if err := w.Add(m, rows, sizes, broken); err != nil {
			return err
		}
		say("embed", lo+m, im.Len())
	}
	return nil
}

// readBatch reads images lo and on into the rows of x, those that can be read first.
func readBatch(im Images, lo int, x *array.Array) (sizes [][2]int, broken []store.Broken) {
	m := x.Shape[0]
	size, errs := make([][2]int, m), make([]error, m)
	par.Each(m, 4, func(i int) {
		size[i][0], size[i][1], errs[i] = im.Read(lo+i, x.Row(i))
	})
	for i, err := range errs {
		if err != nil {
			broken = append(broken, store.Broken{Item: lo + i, Error: err.Error()})
			continue
		}
		if to := len(sizes); to < i {
			copy(x.Row(to), x.Row(i))
		}
		sizes = append(sizes, size[i])
	}
	return sizes, broken
}

// jobOf is a hash of all that the bytes of a folder depend on.
func jobOf(doc *record.Embed, items []store.Item, batch int, more ...string) string {
	about := doc.Network
	about.Weights = "" // their SHA-256 counts
	sum := sha256.New()
	out := json.NewEncoder(sum)
	for _, part := range []any{about, doc.Source.Fingerprint, doc.Root, items, batch, more} {
		if err := out.Encode(part); err != nil {
			panic("newimages: " + err.Error()) // numbers and texts always encode
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
