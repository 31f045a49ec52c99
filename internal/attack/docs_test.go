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

Made from the attacks in ` + "`internal/attack`" + ` by ` + "`make golden`" + `.

z is the embedding of the perturbed image, z0 that of the clean image, x runs over the gallery, d is the Euclidean distance. Attacks are projected gradient descent on the objective, from the clean image, with the network frozen. [Hardness manipulation](papers/hardness-manipulation.md#attacks) has the budgets and the two variants, published and fixed.

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
If a test set has queries and a gallery, or sequences, x runs over the gallery, and queries are what is perturbed. CA perturbs images of the gallery, one for each query, and q is a query. Targets, ranks and recall leave out what a query is not compared with: itself and images of its sequence. Only the variant fixed is computed: the published code takes the nearest image for the query itself.

Scores in documents are fractions, cosines or distances, never percent. The ten scores of the attacks marked ERS make the empirical robustness score.

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
