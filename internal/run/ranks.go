package run

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"

	"tercet/internal/config"
	"tercet/internal/data/batch"
	"tercet/internal/ranks"
	"tercet/internal/record"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// Several ranks train a run as one process does: rank 0 has the directory, writes and
// evaluates; the others follow it. They read the same data, begin with the bytes of its
// checkpoint, take every step, and write nothing.

// order is what rank 0 gives the others to train.
type order struct {
	Config []byte // resolved; nil: there is nothing more
	Dir    string // for messages
	From   string // where the data were found before
	Code   int    // at the end: the exit code
}

// tell gives o and the checkpoint to begin with, nil for none, to the ranks that Follow.
func tell(t *ranks.Team, o order, checkpoint []byte) {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // bytes, texts and a number always encode
	}
	ranks.Share(t, text)
	ranks.Share(t, checkpoint)
}

// Dismiss ends Follow on the other ranks, which return code.
func Dismiss(t *ranks.Team, code int) { tell(t, order{Code: code}, nil) }

// session is a run that the ranks of a team train; nil where there is no team.
type session struct {
	*ranks.Team
	over bool // the others do not meet this rank any more
}

// meet is ranks.Team.Meet. After an error there is no other meeting.
func (s *session) meet(err error) error {
	if s == nil || s.over {
		return err
	}
	err = s.Meet(err)
	s.over = err != nil
	return err
}

// end is the last meeting, unless that was before. It returns err, or why another rank
// has failed.
func (s *session) end(err error) error {
	if s == nil || s.over {
		return err
	}
	err = s.meet(err)
	s.over = true
	return err
}

// join makes t one of the trainers that step together, once all ranks have come as far.
func (s *session) join(t *wire.Assembled, data record.Data) error {
	if err := s.meet(nil); err != nil {
		return err
	}
	data.From = "" // a folder of one machine
	text, err := json.Marshal(data)
	if err == nil {
		err = s.Same(ranks.Fact{Name: "training data", Value: string(text)})
	}
	s.over = err != nil
	t.Meet = s.meet
	return err
}

// lead begins a run with the ranks that Follow. The checkpoint, if resumed, is what t is at.
func (r *Run) lead(t *wire.Assembled, resumed bool) error {
	if r.Team == nil {
		return nil
	}
	resolved, err := r.Config.Resolved()
	if err != nil {
		return err
	}
	var checkpoint []byte
	if resumed {
		if checkpoint, err = os.ReadFile(r.Last()); err != nil {
			return err
		}
	}
	// What the ranks cannot share is refused before the others hear of the run.
	if err := t.Deal(r.Config, r.Team); err != nil {
		return err
	}
	tell(r.Team, order{Config: resolved, Dir: r.Dir, From: r.Manifest.Data.From}, checkpoint)
	r.session = &session{Team: r.Team}
	if evaluate := t.Evaluate; evaluate != nil {
		t.Evaluate = func(ctx context.Context) (map[string]float64, error) {
			scores, err := evaluate(ctx)
			if err := r.session.meet(err); err != nil {
				return nil, err
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(scores); err != nil {
				return nil, err
			}
			ranks.Share(r.Team, b.Bytes())
			return scores, nil
		}
	}
	return r.session.join(t, r.Manifest.Data)
}

// Follow trains what rank 0 of the team trains, until that calls Dismiss, and returns its
// code. Whatever fails here, rank 0 reports.
func Follow(ctx context.Context, team *ranks.Team) (code int) {
	for {
		var o order
		if err := json.Unmarshal(ranks.Share(team, nil), &o); err != nil {
			panic(fmt.Sprintf("rank 0 gave %v", err))
		}
		checkpoint := ranks.Share(team, nil)
		if o.Config == nil {
			return o.Code
		}
		s := &session{Team: team}
		s.end(s.follow(ctx, o, checkpoint))
	}
}

// follow trains one run.
func (s *session) follow(ctx context.Context, o order, checkpoint []byte) error {
	cfg, err := config.LoadBytes(o.Config, o.Dir, nil)
	if err != nil {
		return err
	}
	r := &Run{Dir: o.Dir, Config: cfg}
	r.Manifest.Data.From = o.From
	t, err := r.assemble(ctx, checkpoint)
	if err != nil {
		return err
	}
	transform, err := wire.Augment(cfg, t.Sets.Seen())
	if err != nil {
		return err
	}
	if err := t.Deal(cfg, s.Team); err != nil {
		return err
	}
	loader := r.loader(t, transform)
	defer loader.Close()
	t.Log = func(*record.Event) error { return nil }
	t.Save = func(bool) error { return nil }
	t.CheckpointAfter = 0 // by the clock of rank 0
	if t.Evaluate != nil {
		t.Evaluate = func(context.Context) (scores map[string]float64, err error) {
			if err := s.meet(nil); err != nil {
				return nil, err
			}
			err = gob.NewDecoder(bytes.NewReader(ranks.Share(s, nil))).Decode(&scores)
			return scores, err
		}
	}
	now, err := r.recordData(ctx, t.Sets)
	if err != nil {
		return err
	}
	if err := s.join(t, now); err != nil {
		return err
	}
	return t.Run(ctx)
}

// assemble builds the trainer of a run that this process does not write, at its checkpoint.
func (r *Run) assemble(ctx context.Context, checkpoint []byte) (*wire.Assembled, error) {
	sets, err := r.data(ctx)
	if err != nil {
		return nil, err
	}
	cfg := *r.Config
	if len(checkpoint) > 0 {
		cfg.Model.Weights = "" // as in Run.beginning
	}
	t, err := wire.Assemble(&cfg, sets)
	if err != nil {
		return nil, err
	}
	if _, err := monitor(r.Config, t, sets, Watch{}); err != nil {
		return nil, err
	}
	if len(checkpoint) == 0 {
		return t, nil
	}
	c, err := train.ParseCheckpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	return t, c.Resume(t.Trainer)
}

// loader gives t's batches from its position on.
func (r *Run) loader(t *wire.Assembled, transform batch.Transform) *batch.Loader {
	epoch, at := t.Position(t.State.Step)
	l := batch.NewLoader(t.Sets.Seen(), t.Sampler, transform, r.Config.Seed, epoch, at, r.Config.Batch.Prefetch)
	t.Batches = l
	return l
}
