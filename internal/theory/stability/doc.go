// Package stability computes the bounds of Chen and others, "On the Stability and
// Generalization of Triplet Learning" (AAAI 2023): Theorems 1 to 4, Lemmas 1 to 6 and
// 10, Corollaries 1 to 3. Each is a pure function of its assumptions' numbers, in the
// form that is printed (Paper) and in one that its proof supports (Corrected); what
// differs is named by the number of the fault, S1 to S16, in the result's notes.
//
// n+ and n- are the numbers of positive and negative points, R the risk, R_S its mean
// over all n+ (n+ - 1) n- triplets of the sample S, A(S) what is learned, F_S = R_S + r
// and F = R + r with r(w) = sigma/2 ||w||^2, w* the minimizer of F. Norms are
// Frobenius norms, risks are in units of the loss, logarithms natural.
package stability
