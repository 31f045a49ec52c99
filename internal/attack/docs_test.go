package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// docs/attacks.md is what the attacks say of themselves.
func TestDocsGolden(t *testing.T) {
	testutil.Golden(t, "../../docs/attacks.md", []byte(page()))
}

func page() string {
	var b strings.Builder
	b.WriteString(`# Attacks

Generated from the attacks in ` + "`internal/attack`" + ` by ` + "`make golden`" + `.

z is the embedding of the perturbed image and z0 that of the clean image. x runs over the gallery, and d is the Euclidean distance. An attack minimizes its objective by projected gradient descent from the clean image, with the network frozen. [Hardness manipulation](papers/hardness-manipulation.md#attacks) has the budgets and the two variants, ` + "`published` and `fixed`" + `.

| attack | what it does | aimed at | minimizes | options | source |
| --- | --- | --- | --- | --- | --- |
`)
	suite, _ := Suite("ers")
	for _, a := range All() {
		name := a.Name
		if slices.Contains(suite, name) {
			name += " (ERS)"
		}
		var options []string
		for _, o := range a.Options {
			options = append(options, "`--"+string(o)+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, a.Doc, dash(a.Targets), a.Objective, dash(strings.Join(options, ", ")), a.Source)
	}
	b.WriteString(`
Some test sets have separate queries and gallery, or sequences. Then x runs over the gallery, and attacks perturb queries. Only CA perturbs images of the gallery, one for each query q. Targets, ranks and recall leave out the query itself and images of its sequence. Only the variant ` + "`fixed`" + ` is computed, because the published code identifies the query as the nearest image.

Scores in documents are fractions, cosines or distances, never percent. The empirical robustness score (ERS) combines the ten scores of the attacks marked ERS.

| score | attack | unit | more robust |
| --- | --- | --- | --- |
`)
	for _, a := range All() {
		for _, s := range a.Scores {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, a.Name, s.Unit, s.Robust)
		}
	}
	fmt.Fprintf(&b, "| `%s` | suite ers | %s | %s |\n", ersScore.Key, ersScore.Unit, ersScore.Robust)
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
