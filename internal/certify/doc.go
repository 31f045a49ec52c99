// Package certify proves of queries that their nearest gallery item keeps its class,
// whatever an attacker does to their pixels within a budget.
//
// The gallery is fixed. For an embedding z, a right row p and a wrong row n,
//
//	|z - g_n|^2 - |z - g_p|^2 = 2 (<z, g_p - g_n> - (|g_p|^2 - |g_n|^2)/2),
//
// so that "p is nearer than n" is the sign of a linear function of z. A query is certified
// where for each wrong row n some mixture of right rows (weights w that sum to 1) has
// <z, sum w_p g_p - g_n> above (sum w_p |g_p|^2 - |g_n|^2)/2 for all z that the network
// can give: then some right row is nearer than n. Where embeddings have length 1, z is
// u/|u| of the output u before it is normalized; the inequality is multiplied by |u|, so
// that the normalization needs no bound but one of |u|, and only where rows of the gallery
// are not exactly of length 1.
//
// The inequality is about the decision of the program: float32 embeddings, squared
// distances in float64. What these lose is taken off.
package certify
