package robustness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/safetensors"
)

// otherWork names what differs between two headers; "" for nothing.
func otherWork(h, o record.WorstHeader) string {
	for _, v := range []struct {
		what string
		a, b any
	}{
		{"version of the program", h.Program, o.Program}, {"kernel level", h.Kernel, o.Kernel}, {"config", h.Config, o.Config}, {"checkpoint", h.Checkpoint, o.Checkpoint},
		{"step of the checkpoint", h.Step, o.Step}, {"images (SHA-256)", h.Fingerprint, o.Fingerprint}, {"norm", h.Options.Norm, o.Options.Norm}, {"eps", h.Options.Eps, o.Options.Eps},
		{"queries", h.Options.Queries, o.Options.Queries}, {"seed", h.Options.Seed, o.Options.Seed}, {"galleries", h.Options.Galleries, o.Options.Galleries},
	} {
		if a, b := fmt.Sprint(v.a), fmt.Sprint(v.b); a != b {
			return fmt.Sprintf("%s: %s there, %s here", v.what, a, b)
		}
	}
	if !record.SameJSON(h.Options, o.Options) {
		return "other options"
	}
	return ""
}

// worstPart is the file of unfinished work: a safetensors file, written after each member.
// The metadata hold the header and what the members did; the tensors of gallery K begin
// with "K/".
type worstPart struct {
	path string
	of   record.WorstHeader
}

// write keeps states.
func (p *worstPart) write(states []*worst.State) error {
	if p.path == "" {
		return nil
	}
	var ran [][]worst.Ran
	f := &safetensors.File{}
	add := func(name string, shape []int, v []float32) {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: shape, Data: v})
	}
	for k, s := range states {
		ran = append(ran, s.Ran)
		n := len(s.By)
		by, margin, eight, radius := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range by {
			by[i], margin[i], radius[i] = float32(s.By[i]), float32(s.Margin[i]), float32(s.Radius[i])
			if s.Eight[i] {
				eight[i] = 1
			}
		}
		add(fmt.Sprintf("%d/by", k), []int{n}, by)
		add(fmt.Sprintf("%d/margin", k), []int{n}, margin)
		add(fmt.Sprintf("%d/eight", k), []int{n}, eight)
		add(fmt.Sprintf("%d/radius", k), []int{n}, radius)
		add(fmt.Sprintf("%d/images", k), s.Images.Shape, s.Images.Data)
	}
	of, err := json.Marshal(p.of)
	if err != nil {
		return err
	}
	did, err := json.Marshal(ran)
	if err != nil {
		return err
	}
	f.Meta = map[string]string{"format": record.WorstPartFormat, "of": string(of), "ran": string(did)}
	return fsx.Write(p.path, 0o644, func(w io.Writer) error { return safetensors.WriteSealed(w, f) })
}

// read returns the states of the file, nil where there is none. A file of other work is an
// error, unless it is to be replaced.
func (p *worstPart) read(replace bool) ([]*worst.State, error) {
	if p.path == "" || replace {
		return nil, nil
	}
	f, err := safetensors.ReadFile(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil || f.Meta["format"] != record.WorstPartFormat || !f.Sealed {
		return nil, p.damaged("no whole file")
	}
	var of record.WorstHeader
	var ran [][]worst.Ran
	if json.Unmarshal([]byte(f.Meta["of"]), &of) != nil || json.Unmarshal([]byte(f.Meta["ran"]), &ran) != nil {
		return nil, p.damaged("its metadata cannot be read")
	}
	if what := otherWork(of, p.of); what != "" {
		return nil, option.Errorf("%s holds unfinished work of another worst case (%s); finish that, remove the file, or write elsewhere", p.path, what)
	}
	var out []*worst.State
	for k, did := range ran {
		s := &worst.State{Ran: did}
		if k < len(of.Options.Galleries) {
			s.Gallery = of.Options.Galleries[k]
		}
		tensor := func(name string) []float32 {
			if t := f.Find(fmt.Sprintf("%d/%s", k, name)); t != nil {
				return t.Data
			}
			return nil
		}
		by, margin, eight, radius, images := tensor("by"), tensor("margin"), tensor("eight"), tensor("radius"), f.Find(fmt.Sprintf("%d/images", k))
		if len(by) == 0 || len(margin) != len(by) || len(eight) != len(by) || len(radius) != len(by) || images == nil || images.Shape[0] != len(by) || s.Gallery == "" {
			return nil, p.damaged("a tensor is missing")
		}
		for i := range by {
			s.By, s.Margin, s.Eight, s.Radius = append(s.By, int(by[i])), append(s.Margin, float64(margin[i])), append(s.Eight, eight[i] == 1), append(s.Radius, float64(radius[i]))
		}
		s.Images = &array.Array{Data: images.Data, Shape: images.Shape}
		out = append(out, s)
	}
	return out, nil
}

// damaged is the error of a file that cannot be continued from.
func (p *worstPart) damaged(why string) error {
	return &record.FormatError{Path: p.path, Msg: why + "; it holds unfinished work of a worst case: remove it to begin again"}
}

// RemovePart deletes the file of work that is done.
func RemovePart(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
