package attack

// ERS is the key of the empirical robustness score.
const ERS = "ERS"

// ersAttacks are the attacks that give its scores, in the order of the papers' tables.
var ersAttacks = []string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES", "LTM", "GTM", "GTT"}

// ersTerm is what a score adds to ERS.
type ersTerm struct {
	key         string
	base, slope float64
}

// ersTerms turn each score into "higher is better" (robrank, ersnormalize): in
// percent 2 CA+, 100 - CA-, 2 QA+, 100 - QA-, 100 (1 - TMA), 100 (2 - ES:D) / 2,
// ES:R, LTM, GTM, GTT. Nothing is clipped: with embeddings that are not of length
// 1 ES:D passes 2, and ERS carries no information.
var ersTerms = [...]ersTerm{
	{"CA+", 0, 2}, {"CA-", 1, -1}, {"QA+", 0, 2}, {"QA-", 1, -1}, {"TMA", 1, -1},
	{"ES:D", 1, -0.5}, {"ES:R", 0, 1}, {"LTM", 0, 1}, {"GTM", 0, 1}, {"GTT", 0, 1},
}

// RobustnessScore returns ERS, a fraction, of the ten scores that value gives:
// fractions, but TMA a cosine and ES:D a distance. It is linear in them, so that
// per query it has the same mean as of the means.
func RobustnessScore(value func(key string) float64) float64 {
	sum := 0.0
	for _, t := range ersTerms {
		sum += t.base + float64(t.slope*value(t.key))
	}
	return sum / float64(len(ersTerms))
}

// ersColumns returns the places of the ten scores in keys, or false where one is
// missing.
func ersColumns(keys []string) (map[string]int, bool) {
	at := map[string]int{}
	for i, k := range keys {
		at[k] = i
	}
	for _, t := range ersTerms {
		if _, ok := at[t.key]; !ok {
			return nil, false
		}
	}
	return at, true
}
