// Package hardness says how hard the triplets of hardness manipulation shall become: its
// destinations. The hardness of a triplet is H = d(a,p) - d(a,n), from -2 to 2 on the unit
// sphere.
package hardness
