// Package multicut clusters graphs whose edges say by how much two nodes belong
// together (cost > 0) or apart (cost < 0), with any number of clusters: the minimum
// cost multicut, or correlation clustering, problem (Bansal, Blum and Chawla 2004;
// Chopra and Rao 1993).
//
// With labels l the objective is the sum of the costs of the edges that are cut,
//
//	E(l) = sum over edges ij with l_i != l_j of c_ij,
//
// which is to be made small. An edge that is absent costs 0 either way, and an edge
// of cost 0 is as good as absent: neither attracts nor repels. The objective's unit
// is that of the costs; costs times a positive factor have the same best clusters.
//
// Greedy contraction (GAEC, BalancedGAEC, GreedyFixation, MutexWatershed) is fast
// and makes errors that it cannot take back; KernighanLin repairs most of them. Package
// exact proves an optimum; package factored solves the complete graph of points without
// storing its costs.
package multicut
