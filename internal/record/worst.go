package record

import (
	"slices"
	"tercet/internal/option"
	"tercet/internal/text"
)

// WorstOptions are those of Worst.
type WorstOptions struct {
	Version   string   `json:"version" doc:"ensemble: 'standard' or 'plus'"`
	Norm      string   `json:"norm" doc:"norm of the budget: 'linf' or 'l2'"`
	Eps       float64  `json:"eps" doc:"budget, pixels in [0, 1]; at 0 nothing is attacked"`
	Galleries []string `json:"galleries" doc:"galleries that queries are searched in: 'full', 'trimmed', 'prototype'"`
	K         int      `json:"k,omitempty" doc:"a query is broken if none of its k nearest rows is right; absent for 1"`
	Queries   int      `json:"queries" doc:"number of queries attacked; 0 is all"`
	Sample    bool     `json:"sample" doc:"whether the queries are a random sample"`
	Seed      uint64   `json:"seed" doc:"random seed"`
	Given     string   `json:"given,omitempty" doc:"SHA-256 of the user's adversarial images, if there were any"`
	Transfer  []string `json:"transfer,omitempty" doc:"networks whose adversarial images were also tried: config hash, '@', step"`
	Moves     bool     `json:"gallery_moves,omitempty" doc:"whether gallery images were also perturbed, with clean queries"`
	Battery   bool     `json:"battery,omitempty" doc:"whether the checks for gradient masking were run"`
}

// Worst is worst.json, schema tercet.worst/1: for how many queries the nearest row of a
// fixed gallery stays right under an ensemble of attacks, each query by its worst attack.
type Worst struct {
	Schema    string         `json:"schema" doc:"the name and number of the schema"`
	Source    Source         `json:"source" doc:"what the result was computed from"`
	Options   WorstOptions   `json:"options" doc:"the options of the command, with defaults filled in"`
	Queries   int            `json:"queries" doc:"number of queries attacked"`
	Excluded  int            `json:"queries_excluded,omitempty" doc:"queries not attacked because no other image has their label"`
	Galleries []WorstGallery `json:"galleries" doc:"result in each gallery, in the order of 'options'"`
	Checks    []WorstCheck   `json:"checks,omitempty" doc:"checks for gradient masking, in the first gallery"`
	Moved     *WorstMoved    `json:"moved,omitempty" doc:"attacks on gallery images in the whole gallery, with clean queries"`
	Items     Packed         `json:"items" doc:"index of each query among the images, packed as 'values' of attack.json"`
	Warnings  []string       `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost      CostRecord     `json:"cost" doc:"passes through the network, and the time"`
}

// WorstGallery is the result in one gallery.
type WorstGallery struct {
	Gallery string        `json:"gallery" doc:"'full'; 'trimmed': only rows whose own nearest neighbor is right; 'prototype': one mean row of each class, without the query"`
	Rows    int           `json:"rows" doc:"number of rows"`
	Scores  Scores        `json:"scores" doc:"recall@1, wcR@1, wcR@1:right (of queries right when clean) and wcR@1:8bit, fractions; with 'k' of 4 recall@4, wcR@4 and so on"`
	Members []WorstMember `json:"members" doc:"the attacks in order; each runs on the queries that are not yet broken"`
	Broken  Packed        `json:"broken_by" doc:"number of the attack that broke each query, from 1; 0 if none did (float32, little-endian, zlib, base64)"`
	Linf    Packed        `json:"linf" doc:"largest change of a pixel, for each broken query"`
	L2      Packed        `json:"l2" doc:"Euclidean norm of the perturbation, for each broken query"`
	Radius  Packed        `json:"radius" doc:"norm of the smallest perturbation known to break each query, by FAB or bisection; infinite if none is known"`
	Margin  Packed        `json:"margin" doc:"distance of the nearest wrong row minus that of the nearest right row, for the perturbed image that was kept"`
}

// WorstMember says what an attack of the ensemble did.
type WorstMember struct {
	Member   string `json:"member" doc:"name of the attack"`
	Attacked int    `json:"attacked" doc:"number of queries not yet broken"`
	Claimed  int    `json:"claimed" doc:"number of queries that the attack reports as broken"`
	Broken   int    `json:"broken" doc:"number of those that verification confirms"`
	// Verified is of the member given alone.
	Verified int        `json:"verified,omitempty" doc:"'given': number of queries that one of the user's images breaks, also those that another attack breaks"`
	Cost     CostRecord `json:"cost" doc:"passes through the network, and the time"`
}

// WorstMoved is the worst case where images of the gallery move and the query does not.
type WorstMoved struct {
	Scores Scores     `json:"scores" doc:"fractions: 'wcR@1:G1', queries still right if any one gallery image is perturbed; 'wcR@1:GA', if all are; 'hub@1', 'hub@1:clean'"`
	One    Packed     `json:"one" doc:"1 for each query that one perturbed image breaks, else 0, packed as 'items' are"`
	All    Packed     `json:"all" doc:"1 for each query that all perturbed images together break, else 0"`
	Hub    *int       `json:"hub_image,omitempty" doc:"index in the split of the hub: the perturbed image that is nearest to the fraction 'hub@1' of queries"`
	Asked  int        `json:"hub_queries,omitempty" doc:"number of queries of 'hub@1': the first of 'items'"`
	Cost   CostRecord `json:"cost" doc:"passes through the network"`
}

// WorstCheck is a check of the battery.
type WorstCheck struct {
	ID      string   `json:"id" doc:"'B1', 'B2' and so on"`
	What    string   `json:"what" doc:"what the value is"`
	Value   float64  `json:"value" doc:"the value; smaller is better; -1 if it is not a number"`
	Warn    float64  `json:"warn" doc:"the check warns above this value"`
	Fail    *float64 `json:"fail,omitempty" doc:"the check fails above this value; absent if it never fails"`
	Verdict string   `json:"verdict" doc:"'pass', 'warn' or 'fail'"`
}

func (Worst) kind() kind {
	return kind{schemas: []string{WorstSchema}, made: "attack " + option.Name("suite") + " worst"}
}

// From is what was attacked.
func (d Worst) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not. The options
// of d are enough.
func (d Worst) Covers(there Worst) []string {
	a, b := there.Options, d.Options
	var out losses
	out.gone(a.Galleries, b.Galleries, "the gallery")
	out.add(b.Queries > 0 && there.Queries > b.Queries, "%d queries instead of %d", there.Queries, b.Queries)
	out.add(a.Norm != b.Norm || a.Eps != b.Eps, "eps %s %s instead of %s %s", a.Norm, text.EpsExact(a.Norm, a.Eps), b.Norm, text.EpsExact(b.Norm, b.Eps))
	out.add(a.K != b.K, "the %d nearest rows instead of %d", max(a.K, 1), max(b.K, 1))
	out.add(a.Given != "" && a.Given != b.Given, "the images of others that were verified")
	out.gone(a.Transfer, b.Transfer, "the images made for the network")
	out.add(a.Moves && !b.Moves, "the attacks on the gallery")
	out.add(a.Battery && !b.Battery, "the checks for masked gradients")
	out.add(a.Version != b.Version && b.Version == "standard", "the attacks of the suite %s", a.Version) // the others contain it
	if a.Queries > 0 || b.Queries > 0 {
		out = append(out, otherThan(a.Sample, b.Sample, "sample")...)
	}
	return append(out, otherThan(a.Seed, b.Seed, "seed")...)
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with further galleries after those, checks of gradients, or attacks on the gallery.
func (d Worst) Holds(o WorstOptions) bool {
	had := d.Options
	if n := len(o.Galleries); n <= len(had.Galleries) && slices.Equal(o.Galleries, had.Galleries[:n]) {
		o.Galleries = had.Galleries // each begins with what broke queries in those before
	}
	o.Battery, o.Moves = o.Battery || had.Battery, o.Moves || had.Moves
	return SameJSON(had, o)
}

// WorstHeader says what unfinished worst cases are of: work with the same one continues to
// the same bits.
type WorstHeader struct {
	Program     string       `json:"program"`
	Kernel      string       `json:"kernel"`
	Config      string       `json:"config"`
	Checkpoint  string       `json:"checkpoint"`
	Step        int          `json:"step"`
	Fingerprint string       `json:"fingerprint"`
	Options     WorstOptions `json:"options"`
}

// Keys of scores of worst.json and certify.json.
const (
	WorstCase = "wcR@1"
	Certified = "certR@1"
)
