// Package attack attacks frozen embedders. It perturbs the images of queries within a
// small ball and measures how well a clean gallery is then retrieved.
//
//   - An Attack describes what users can name: its goal, objective, source and scores.
//     It is registered in its own file; copy tma.go for a new one.
//   - A Method is an attack at work: the targets of a batch of queries (Aim), the
//     objective and its gradient (Eval), and the scores of the results (Score).
//   - A retrieval.Gallery holds the clean embeddings (N, D) and what the attacks look up in
//     them.
//   - Run attacks the queries with each attack and scores them in two variants:
//     Published, as the authors' code computes them, and Fixed, as the papers describe
//     them. Package adversary does the descent.
//
// The suite "ers" gives the Empirical Robustness Score of Zhou and Patel (CVPR 2022);
// see RobustnessScore. Package attacktest tests what all attacks must do.
package attack
