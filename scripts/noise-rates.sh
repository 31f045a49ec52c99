#!/bin/sh
# Tables in Markdown of what the calculators of noise print beside the numbers of an
# independent program, and of the rates that are found in draws beside those asked for.
# Exit code 1 where a calculator is off.
#
#   scripts/noise-rates.sh > noise-rates.md
#
# TERCET (bin/tercet): the program.
# DRAWS (20): draws of each kind of noise, seeds 0, 1, ...
# SIMULATE (0): graphs drawn for each row of Theorem 1, of which the exact multicut
# optimum is shown.
# CSV: a file for what was drawn, with all digits; ± of draws is their standard deviation.
set -euf

TERCET=${TERCET:-bin/tercet}
DRAWS=${DRAWS:-20}
SIMULATE=${SIMULATE:-0}
CSV=${CSV:-/dev/null}
[ -x "$TERCET" ] || { echo "noise-rates.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
echo "quantity,noise,K,P,N_c,draws,interval,value,low,high" >"$CSV"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# flat turns JSON as tercet prints it into lines "path value".
flat() {
	awk '{ gsub(/^ +|,$/, "") }
		/^"[^"]*": [{[]$/ { split($0, k, "\""); path[++n] = k[2] "."; next }
		/^[{[]$/ { path[++n] = ""; next }
		/^[]}]$/ { n--; next }
		/^"/ { split($0, k, "\""); v = $0; sub(/^"[^"]*": /, "", v); p = ""; for (i = 1; i <= n; i++) p = p path[i]; print p k[2], v }'
}

# wilson K N prints the 95 % interval of a share.
helpers='
function wilson(k, n,  z, p, c, h) { z = 1.959963984540054; p = k/n
	c = (p + z*z/(2*n))/(1 + z*z/n); h = z/(1 + z*z/n)*sqrt(p*(1-p)/n + z*z/(4*n*n))
	low = c - h < 0 || k == 0 ? 0 : c - h; high = c + h > 1 || k == n ? 1 : c + h }
function off(got, want, digits,  half) { half = 0.5001*10^-digits; return got - want > half || want - got > half }
'

echo "Theorem 1 of DIBS, beside the reference (all digits that it gives):"
echo
echo "| K | P | N_c | E_sim | lower | E_diff | reference | all digits | duplicates, drawn | multicut, drawn | their reference |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
# K P N_c E_sim lower E_diff duplicates multicut; - where the reference has none, ~0 below 1e-20.
while read -r k p n esim lower ediff dup cut; do
	sim=
	[ "$SIMULATE" = 0 ] || [ "$cut" = - ] || sim="--simulate $SIMULATE"
	# shellcheck disable=SC2086
	"$TERCET" bound dibs --classes "$k" --noise "$p" --per-class "$n" $sim --json 2>/dev/null | flat |
		awk -v csv="$CSV" -v draws="$SIMULATE" -v k="$k" -v p="$p" -v n="$n" -v esim="$esim" -v lower="$lower" -v ediff="$ediff" -v dup="$dup" -v cut="$cut" "$helpers"'
			{ v[$1] = $2 }
			function digits(x) { return length(x) - index(x, ".") }
			function drawn(key,  m, sd) {
				if (!((key ".value") in v)) return ""
				m = v[key ".value"]; sd = v[key ".sd"]
				printf "%s,PLN,%s,%s,%s,%s,standard deviation,%.9g,%.9g,%.9g\n", key == "simulation.multicut" ? "multicut optimum" : "duplicates floor", k, p, n, draws, m, m - sd, m + sd >>csv
				return sprintf("%.4f ±%.4f", m, sd) }
			END {
				bad = off(v["lower"], lower, digits(lower)) || off(v["e_diff"], ediff, digits(ediff))
				if (esim == "~0") bad = bad || v["e_sim"] > 1e-20
				else if (esim ~ /e/) bad = bad || sprintf("%.1e", v["e_sim"]) != sprintf("%.1e", esim)
				else if (esim != "-") bad = bad || off(v["e_sim"], esim, digits(esim))
				reference = dup == "-" ? "" : dup "; " cut
				gsub("\\+-", " ±", reference)
				printf "| %s | %s | %s | %.2g | %.6f | %.6f | %s, %s, %s | %s | %s | %s | %s |\n", k, p, n, v["e_sim"], v["lower"], v["e_diff"],
					esim, lower, ediff, (bad ? "NO" : "yes"), drawn("simulation.floor_duplicates"), drawn("simulation.multicut"), reference
			}' | tee -a "$log"
done <<'ROWS'
10 .05 300 5.5e-9 .002639 .003524 .00257 .0215+-.0003
10 .10 300 1.0e-15 .005000 .006710 .00492 .0343+-.0008
10 .20 300 ~0 .008889 .012152 .00882 .0507+-.0004
5 .10 600 ~0 .011250 .014927 .01135 .0418+-.0011
3 .10 1000 ~0 .022500 .029271 .0237 .0459+-.0009
2 .10 1500 ~0 .045000 .056426 .0448 .0483+-.0017
2 .20 200 ~0 .080000 .095238 .0786 .0883+-.0023
10 .10 20 .0068 .0050 .0067 .0036 .0367+-.0016
5 .10 20 .0068 .01125 .0149 .0115 .0435+-.0024
3 .20 6 .0328 .0400 .0512 .0375 .1028+-.0081
10 .3 300 - .011667 .016425 - -
10 .4 300 - .013333 .019525 - -
10 .5 300 - .013889 .021351 - -
5 .2 300 - .0200 .02667 - -
10 .1 30 .002355 .005000 .006710 - -
10 .1 10 .01937 .005000 .006710 - -
ROWS

echo
echo "Weights of triplets, beside the reference:"
echo
echo "| noise | K | beta | gamma | w11 (product) | w00 (product) | contrast | reference | all digits |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
# KIND K FLAGS then beta gamma w11 product w00 product.
while read -r kind k flag value similar beta gamma w11 p11 w00 p00; do
	"$TERCET" bound noise --classes "$k" "--$flag" "$value" --similar "$similar" --json | flat |
		awk -v kind="$kind" -v k="$k" -v flag="$flag" -v value="$value" -v similar="$similar" -v beta="$beta" -v gamma="$gamma" -v w11="$w11" -v p11="$p11" -v w00="$w00" -v p00="$p00" "$helpers"'
			{ v[$1] = $2 }
			function digits(x) { return index(x, ".") ? length(x) - index(x, ".") : 0 }
			function wrong(key, want) { return want != "-" && off(v[kind "." key], want, digits(want)) }
			END {
				bad = wrong("beta", beta) || wrong("gamma", gamma) || wrong("w11", w11) || wrong("product.w11", p11) || wrong("w00", w00) || wrong("product.w00", p00)
				name = kind == "flips" ? "exchanges, rho " value : toupper(kind) ", q~ " 2*v["effective"]
				if (kind == "pln") name = name ", similar " similar
				printf "| %s | %s | %.4g | %.4g | %.4f (%.4f) | %.4f (%.4f) | %.4g | %s, %s, %s (%s), %s (%s) | %s |\n", name, k, v[kind ".beta"], v[kind ".gamma"],
					v[kind ".w11"], v[kind ".product.w11"], v[kind ".w00"], v[kind ".product.w00"], v[kind ".contrast"], beta, gamma, w11, p11, w00, p00, (bad ? "NO" : "yes")
			}' | tee -a "$log"
done <<'ROWS'
sln 10 effective .1 .5 .82 .98 .8112 .8036 .0112 .0036
sln 10 effective .2 .5 .64 .96 .6252 .6144 .0252 .0144
sln 2 effective .1 .5 .90 .90 .8500 .8100 .0500 .0100
sln 2 effective .2 .5 .80 .80 .7000 .6400 .1000 .0400
pln 10 effective .1 .5 .9 .9 .81 .81 .01 .01
pln 10 effective .1 .1 .5 .988 - - - -
flips 10 flips .1 .5 - - .9 - .1 -
ROWS

# rates NAME NOISE SET... draws and says what was asked for and found.
rates() {
	name=$1 noise=$2
	shift 2
	i=0
	while [ "$i" -lt "$DRAWS" ]; do
		"$TERCET" data inspect --quiet --set data.glyphs.classes=10 --set data.glyphs.per_class=300 --set data.glyphs.test_classes=2 --set data.size=8 \
			--set "seed=$i" "$@" --noise "$noise" --json | flat | awk '{ v[$1] = $2 }
			END { pairs = "graph.pairs" in v; print v["noise.wanted"], v["noise.flipped"], v["noise.items"], v["noise.effective"], pairs ? v["graph.effective"] : v["noise.effective_found"], v["triplets.weights.beta"], v["triplets.weights.gamma"], v["triplets.weights.w11"], v["triplets.weights.w00"] }'
		i=$((i + 1))
	done | awk -v csv="$CSV" -v name="$name" "$helpers"'
		NR == 1 { wanted = $1; effective = $4 }
		{ k += $2; n += $3; wilson($2, $3); inside += (low <= wanted && wanted <= high); e += $5; ee += $5*$5
			if ($6 != "") { b += $6; g += $7; r += $8; x += $9 } }
		END {
			wilson(k, n); m = e/NR; sd = NR > 1 ? sqrt((ee - NR*m*m > 0 ? ee - NR*m*m : 0)/(NR - 1)) : 0
			printf "rate,\"%s\",10,,300,%d,Wilson 95 %%,%.9g,%.9g,%.9g\n", name, NR, k/n, low, high >>csv
			if (effective > 0) printf "wrong pairs,\"%s\",10,,300,%d,standard deviation,%.9g,%.9g,%.9g\n", name, NR, m, m - sd, m + sd >>csv
			t = b + g > 0 ? sprintf("%.4f, %.4f, %.4f, %.4f", b/NR, g/NR, r/NR, x/NR) : ""
			printf "| %s | %.4f | %.4f [%.4f, %.4f] of %d | %s | %d of %d | %s | %s | %s |\n", name, wanted, k/n, low, high, n, (low <= wanted && wanted <= high ? "yes" : "no"), inside, NR,
				(effective > 0 ? sprintf("%.4f", effective) : ""), (effective > 0 ? sprintf("%.4f ±%.4f", m, sd) : ""), t }'
}

graph="--set batch.sampler=pair-graph --set batch.pairs=6000 --set loss=contrastive"
triplets="--set batch.sampler=triplet-list --set batch.triplets=6000 --set loss=triplet"
# shellcheck disable=SC2086
{
	echo
	echo "Rates in $DRAWS draws (3,000 images of 10 classes, 6,000 pairs or triplets). Found: of all draws together, with Wilson's 95 % interval; held: draws whose own interval holds the rate wanted, of which 95 % should. Wrong pairs: mean over the draws, ± their deviation, of the graph (s2, same-index), of triplets the share of wrong pair labels. Weights: beta, gamma, w11, w00 found."
	echo
	echo "| noise | rate wanted | found | holds it | held | wrong pairs wanted | found | weights |"
	echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
	for p in .05 .1 .2 .3; do
		rates "SLN, P = $p" "sln,effective=$p" $graph --set batch.scenario=s2
		rates "PLN, P = $p" "pln,effective=$p" $graph --set batch.scenario=s2
	done
	rates "SLN, P = .1, lists sorted by class" "sln,effective=.1" $graph --set batch.scenario=s2 --set batch.order=paper
	rates "SLN, P = .2, lists sorted by class" "sln,effective=.2" $graph --set batch.scenario=s2 --set batch.order=paper
	rates "PLN, P = .1, random negatives" "pln,effective=.1" $graph --set batch.scenario=s2 --set batch.negatives=random
	for p in .1 .2; do
		rates "SLN, P = $p, on triplets" "sln,effective=$p" $triplets
		rates "PLN, P = $p, on triplets" "pln,effective=$p" $triplets
		rates "exchanges, rho = $p" "triplet-flip,rate=$p" $triplets
	done
	rates "next class, rate .2" "pair-flip,rate=.2" $graph --set batch.scenario=s2
}
if grep -q '| NO |' "$log"; then
	echo "noise-rates.sh: a calculator is off; see NO above" >&2
	exit 1
fi
