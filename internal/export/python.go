package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/engine/nn"
)

// program is a Python program that is being written.
type program struct{ strings.Builder }

func (p *program) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Program returns model.py: a module Embedder of the network m with load(), which reads
// weights.pth beside it. An error names a layer that PyTorch is not known to have.
func Program(m *nn.Model, a About) (string, error) {
	ops, err := m.Graph()
	if err != nil {
		return "", err
	}
	s := m.Spec()
	p := &program{}
	p.line(`"""%s of %s, checkpoint %s (step %d), exported by tercet %s.`, s.Name, a.Run, a.Checkpoint, a.Step, a.Version)
	p.line("")
	p.line("Images are float32 (N, %d, %d, %d) in [0, 1]; embeddings are (N, %d).", s.Channels, s.Height, s.Width, m.Dim())
	p.line(`"""`)
	p.line("import os\n\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F")
	net := "Net()"
	if ofTorchvision(s) {
		net = fmt.Sprintf("torchvision.models.%s(num_classes=%d)", s.Name, m.Dim())
		p.line("import torchvision")
	} else {
		p.network(inner(ops))
	}
	p.embedder(m, ops, net)
	return p.String(), nil
}

// ofTorchvision says whether torchvision has the very network.
func ofTorchvision(s nn.Spec) bool {
	plain := (s.Pool == "" || s.Pool == "avg") && (s.Head == "" || s.Head == "linear")
	return strings.HasPrefix(s.Name, "resnet") && s.Units == 64 && s.Stem == "imagenet" && s.Channels == 3 && plain
}

// inner are the steps between what normalizes pixels and what normalizes embeddings.
func inner(ops []nn.Op) []nn.Op {
	var out []nn.Op
	first := 0 // steps left out at the front
	for _, o := range ops {
		if o.Kind == nn.OpMeanStd {
			first++
			continue
		}
		if o.Kind == nn.OpL2 {
			continue
		}
		o.In = slices.Clone(o.In)
		for k := range o.In {
			o.In[k] = max(o.In[k]-first, nn.Images)
		}
		out = append(out, o)
	}
	return out
}

// embedder writes the module around the network, and load.
func (p *program) embedder(m *nn.Model, ops []nn.Op, net string) {
	p.line("\n\nclass Embedder(nn.Module):")
	p.line("    def __init__(self):")
	p.line("        super().__init__()")
	p.line("        self.net = %s", net)
	first := ops[0]
	if first.Kind == nn.OpMeanStd {
		for _, name := range []string{"mean", "std"} {
			p.line("        self.register_buffer(%q, torch.tensor(%s).view(1, -1, 1, 1), persistent=False)", name, numbers(m, first.Name+"."+name))
		}
	}
	p.line("\n    def forward(self, x):")
	if first.BGR {
		p.line("        x = x.flip(1)")
	}
	if first.Kind == nn.OpMeanStd {
		p.line("        x = (x - self.mean) / self.std")
	}
	if ops[len(ops)-1].Kind == nn.OpL2 {
		p.line("        return F.normalize(self.net(x))")
	} else {
		p.line("        return self.net(x)")
	}
	p.line("\n\ndef load(folder=os.path.dirname(os.path.abspath(__file__))):")
	p.line("    model = Embedder()")
	p.line(`    model.net.load_state_dict(torch.load(os.path.join(folder, "weights.pth"), map_location="cpu"))`)
	p.line("    return model.eval()")
}

// numbers are those of a tensor of m as a list of Python.
func numbers(m *nn.Model, name string) string {
	var out []string
	for _, t := range m.Params() {
		if t.Name != name {
			continue
		}
		for _, v := range t.Value.Data {
			out = append(out, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// network writes class Net: its modules, and its steps in order.
func (p *program) network(ops []nn.Op) {
	nested := slices.ContainsFunc(ops, func(o nn.Op) bool { return module(o) != "" && strings.Contains(o.Name, ".") })
	if nested {
		p.line("\n\ndef put(root, path, module):")
		p.line(`    *folders, name = path.split(".")`)
		p.line("    for f in folders:")
		p.line("        if not hasattr(root, f):")
		p.line("            root.add_module(f, nn.Module())")
		p.line("        root = getattr(root, f)")
		p.line("    root.add_module(name, module)")
	}
	p.line("\n\nclass Net(nn.Module):")
	p.line("    def __init__(self):")
	p.line("        super().__init__()")
	for _, o := range ops {
		switch made := module(o); {
		case made == "":
		case strings.Contains(o.Name, "."):
			p.line("        put(self, %q, %s)", o.Name, made)
		default:
			p.line("        self.%s = %s", o.Name, made)
		}
	}
	p.line("\n    def forward(self, x):")
	for i, o := range ops {
		args := make([]string, len(o.In))
		for k, in := range o.In {
			if args[k] = fmt.Sprintf("s%d", in); in == i-1 {
				args[k] = "x"
			}
		}
		p.line("        x = %s", step(o, args))
		if readLater(ops, i) {
			p.line("        s%d = x", i)
		}
	}
	p.line("        return x")
}

// readLater says whether a step other than the next one reads step i.
func readLater(ops []nn.Op, i int) bool {
	return slices.ContainsFunc(ops[min(i+2, len(ops)):], func(o nn.Op) bool { return slices.Contains(o.In, i) })
}

// module is what PyTorch makes of a step with weights, "" for one without.
func module(o nn.Op) string {
	switch o.Kind {
	case nn.OpConv:
		return fmt.Sprintf("nn.Conv2d(%d, %d, %d, %d, %d, bias=%s)", o.Inner, o.Shape[2], o.Kernel[0], o.Stride[0], o.Pad[0], truth(o.Bias))
	case nn.OpBatchNorm:
		return fmt.Sprintf("nn.BatchNorm2d(%d)", o.Shape[len(o.Shape)-1])
	case nn.OpLinear:
		return fmt.Sprintf("nn.Linear(%d, %d, bias=%s)", o.Inner, o.Shape[0], truth(o.Bias))
	}
	return ""
}

// step is the expression of a step on what it reads.
func step(o nn.Op, args []string) string {
	x := args[0]
	switch o.Kind {
	case nn.OpReLU:
		return fmt.Sprintf("F.relu(%s)", x)
	case nn.OpMaxPool:
		return fmt.Sprintf("F.max_pool2d(%s, (%d, %d), (%d, %d), (%d, %d))", x, o.Kernel[0], o.Kernel[1], o.Stride[0], o.Stride[1], o.Pad[0], o.Pad[1])
	case nn.OpAvgPool:
		return fmt.Sprintf("%s.mean((2, 3))", x)
	case nn.OpAdd:
		return strings.Join(args, " + ")
	case nn.OpPad:
		return fmt.Sprintf("F.pad(%s, (%d, %d, %d, %d))", x, o.Pad[1], o.Pad[3], o.Pad[0], o.Pad[2])
	case nn.OpFlatten:
		return fmt.Sprintf("%s.flatten(1)", x)
	case nn.OpMaxAll:
		return fmt.Sprintf("%s.amax((2, 3))", x)
	case nn.OpLayerNorm:
		return fmt.Sprintf("F.layer_norm(%s, (%d,), eps=%g)", x, o.Shape[0], o.Eps)
	}
	if strings.Contains(o.Name, ".") {
		return fmt.Sprintf("self.get_submodule(%q)(%s)", o.Name, x)
	}
	return fmt.Sprintf("self.%s(%s)", o.Name, x)
}

// truth is a truth value in Python.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
