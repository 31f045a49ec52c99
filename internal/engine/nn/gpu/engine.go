//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"fmt"
	"sync"

	"tercet/internal/device"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
)

// opened is the device of this process.
var opened struct {
	sync.Mutex
	*queue
}

// Open opens the device of that name for all networks of the process that Attach is called
// with. A process has one device, or none: the processor, cpu, opens nothing.
func Open(name string) (device.Info, error) {
	opened.Lock()
	defer opened.Unlock()
	driver, number, err := device.Parse(name)
	if err != nil {
		return device.Info{}, err
	}
	if driver == device.CPU {
		if opened.queue != nil {
			err = fmt.Errorf("this process computes on device %s already; start another one for cpu", opened.Info().Name)
		}
		return device.Info{}, err
	}
	name = fmt.Sprintf("%s:%d", driver, number)
	if opened.queue == nil {
		d, err := device.Open(name)
		if err != nil {
			return device.Info{}, err
		}
		opened.queue = &queue{Device: d}
		kernel.On(d.Info().Setting())
	}
	i := opened.Info()
	if i.Name != name {
		return i, fmt.Errorf("this process computes on device %s already; start another one for %s", i.Name, name)
	}
	return i, nil
}

// Attach makes m compute on the device that was opened, if one was. A *nn.StepError names a
// layer that devices have no kernels for.
func Attach(m *nn.Model) error {
	opened.Lock()
	defer opened.Unlock()
	if opened.queue == nil {
		return nil
	}
	e, err := newEngine(opened.queue, m)
	if err != nil {
		return err
	}
	m.Run(e, e.store)
	return nil
}

// step is a step of the network on the device.
type step struct {
	nn.Op
	from, at     int // its input (or the first of two) and its output among steps, without those that do nothing
	second       int // the other input of a sum
	in           []int
	relu         bool // a ReLU after it is part of it
	nothing      bool // its output is its input: it is flat already, or a ReLU that is part of the step before
	first, other *nn.Param
	mean, vari   *nn.Param
	trains       bool // it or a step before it has parameters that are trained
	y            buffer
	arg          buffer // winners of pooling
	extra        buffer // factors or norms of rows
	slopes       buffer
}

// engine implements nn.Engine.
type engine struct {
	*queue
	*store
	steps     []step
	head      int // step of the last linear layer, -1 where others with parameters come after it
	shape     []int
	images    buffer
	part      buffer
	raw       buffer
	runs      int // of rows in raw
	rows      int
	mode      nn.Mode
	grads     []gradient
	pool      []buffer
	z, dx     *array.Array
	fetchable []*nn.Param
	watch     func(st *step, dy gradient, rows, c int) // tests see what gradients of parameters are made of
}

func newEngine(q *queue, m *nn.Model) (*engine, error) {
	ops, err := m.Graph()
	if err != nil {
		return nil, fmt.Errorf("device %s has no kernels for it: %w", q.Info().Name, err)
	}
	s := m.Spec()
	params := m.Params()
	byName := map[string]*nn.Param{}
	for _, p := range params {
		byName[p.Name] = p
	}
	e := &engine{queue: q, store: newStore(q, params), shape: []int{s.Height, s.Width, s.Channels}, head: -1, fetchable: params}
	uses := make([]int, len(ops))
	for _, o := range ops {
		for _, i := range o.In {
			if i >= 0 {
				uses[i]++
			}
		}
	}
	for i, o := range ops {
		st := step{Op: o, at: i, second: nn.Images, in: e.shape}
		st.from = e.source(o.In[0])
		if o.In[0] >= 0 {
			st.in = ops[o.In[0]].Shape
			st.trains = e.steps[o.In[0]].trains
		}
		if len(o.In) > 1 {
			st.second = e.source(o.In[1])
			st.trains = st.trains || e.steps[o.In[1]].trains
		}
		e.name(&st, byName)
		switch o.Kind {
		case nn.OpFlatten:
			st.nothing = true
		case nn.OpReLU:
			if f := st.from; f >= 0 && uses[o.In[0]] == 1 && f == o.In[0] && fuses(e.steps[f].Kind) {
				e.steps[f].relu, st.nothing = true, true
			}
		}
		if st.nothing {
			st.at = st.from
		}
		e.steps = append(e.steps, st)
	}
	e.grads = make([]gradient, len(ops))
	return e, nil
}

// fuses says whether the kernels of a step take a ReLU after it.
func fuses(k nn.OpKind) bool {
	return k == nn.OpConv || k == nn.OpLinear || k == nn.OpBatchNorm || k == nn.OpAdd
}

// source is the step that has made the output of step i.
func (e *engine) source(i int) int {
	if i < 0 {
		return nn.Images
	}
	return e.steps[i].at
}

// name finds the parameters of a step.
func (e *engine) name(st *step, all map[string]*nn.Param) {
	switch st.Kind {
	case nn.OpMeanStd:
		st.first, st.other = all[st.Name+".mean"], all[st.Name+".std"]
		return
	case nn.OpBatchNorm:
		st.mean, st.vari = all[st.Name+".running_mean"], all[st.Name+".running_var"]
	case nn.OpConv, nn.OpLinear:
	default:
		return
	}
	st.first, st.other = all[st.Name+".weight"], all[st.Name+".bias"]
	if st.first.Trained() {
		st.trains = true
		e.head = -1
		if st.Kind == nn.OpLinear {
			e.head = len(e.steps)
		}
	}
}

// Fetch implements nn.Engine.
func (e *engine) Fetch() {
	e.on(func() {
		for _, p := range e.fetchable {
			e.values[p].fetch(e.queue)
		}
	})
}

// input is the output of a step, or the images.
func (e *engine) input(i int) device.Buffer {
	if i < 0 {
		return e.images.at
	}
	return e.steps[i].y.at
}

// param is a parameter on the device, nil for none.
func (e *engine) param(p *nn.Param) any {
	if p == nil {
		return nil
	}
	return e.value(p, false)
}

// Embed implements nn.Engine.
func (e *engine) Embed(x *array.Array, mode nn.Mode, raw [][2]int) *array.Array {
	e.Lock()
	defer e.Unlock()
	e.rows, e.mode = x.Rows(), mode
	must(e.Upload(e.images.need(e.queue, len(x.Data), 4), bytes(x.Data)))
	e.setRaw(raw)
	for i := range e.steps {
		if st := &e.steps[i]; !st.nothing {
			e.forward(st)
		}
	}
	last := e.steps[len(e.steps)-1]
	e.z = sized(e.z, e.rows, last.Shape)
	must(e.Download(bytes(e.z.Data), e.steps[last.at].y.at))
	return e.z
}

func (e *engine) setRaw(raw [][2]int) {
	if e.runs = len(raw); e.runs == 0 {
		return
	}
	list := make([]int32, 0, 2*e.runs)
	for _, r := range raw {
		list = append(list, int32(r[0]), int32(r[1]))
	}
	must(e.Upload(e.raw.need(e.queue, len(list), 4), bytes(list)))
}

// rawRows are the arguments for rows that keep their length.
func (e *engine) rawRows() (int, any) {
	if e.runs == 0 {
		return 0, nil
	}
	return e.runs, e.raw.at
}

// sized returns a, or a new array, with so many rows of a shape.
func sized(a *array.Array, rows int, row []int) *array.Array {
	if a == nil {
		return array.New(append([]int{rows}, row...)...)
	}
	a.SetRows(rows)
	return a
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
