// Package adversary crafts images inside a ball around clean ones, and holds the
// defenses that train on them.
//
//   - A Goal is an objective on embeddings with its gradient. PGD minimizes it over
//     images by projected gradient descent (Madry et al., ICLR 2018), for attacks and
//     defenses.
//   - A Defense replaces the images of a training batch and may add to the loss:
//     embedding shift (EST), anti-collapse triplets (ACT), min-max, and hardness
//     manipulation (HM) with intra-class structure (ICS) of Zhou and Patel (CVPR 2022).
//   - The implementation "robrank" repeats the details of the authors' code.
//
// Pixels are in [0, 1], sizes of balls and steps in the same unit.
package adversary
