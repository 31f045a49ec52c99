package multicut

import "context"

// BalancedGAEC is GAEC with the cost between two clusters divided by the number of
// their nodes where the next contraction is chosen, so that clusters grow alike (as
// in Swoboda's LPMP). Ties, zero costs, time, memory and errors are as for GAEC.
func BalancedGAEC(ctx context.Context, c Costs) (*Result, error) {
	return contract(ctx, c, "balanced-gaec", balancedRule)
}
