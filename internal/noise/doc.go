// Package noise changes labels, pairs and triplets on purpose, by a known amount;
// says what share of what is drawn is wrong; and estimates that share where nobody
// knows it.
//
// Three numbers are kept apart throughout. q is a probability that a label is drawn
// again (and may come out as it was); the rate is the probability that it changes; the
// effective noise P is the probability that a pair is labeled wrongly, half of the
// pairs being similar. Noise on labels and noise on pairs compare at equal P.
package noise
