package evaluate

import (
	"context"

	"tercet/internal/cluster"
	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// evaluateVectors scores v, whose items have roles or nil, by retrieval and, where asked for, by k-means with as many
// clusters as classes. say is told what is being done.
func evaluateVectors(ctx context.Context, v data.Embeddings, roles *data.Roles, o record.EvalOptions, say progress.Say) (record.Evaluated, *metric.Retrieval, *cluster.KMeansResult, error) {
	if err := embed.TwoClasses(v.Labels); err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	ret, err := embed.Retrieve(ctx, v, roles, metric.RetrievalOptions{
		K: o.Ks, Distance: o.Distance, Neighbors: o.Neighbors,
		Intervals: intervalsOf(v, roles, o),
		Progress:  say.Of("retrieval"),
	})
	if err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	j := record.Evaluated{Retrieval: ret.Scores, Excluded: ret.Excluded}
	if roles != nil {
		j.Searched, j.Gallery = len(roles.Query), len(roles.Gallery)
	}
	if !o.KMeans {
		return j, ret, nil, nil
	}
	km, err := solve.RunKMeans(ctx, v, o.K, o.NInit, o.Seed, say)
	if err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	if j.Clustering, err = solve.Scores(v.Labels, km.Labels); err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	return j, ret, km, nil
}

// intervalsOf are Intervals over queries or, as the options say, over their classes.
func intervalsOf(v data.Embeddings, roles *data.Roles, o record.EvalOptions) metric.Intervals {
	out := Intervals(o)
	if o.Intervals == record.ByClass {
		out.Classes = embed.QueryLabels(v, roles)
	}
	return out
}

// Intervals translates the option, whose 0 means none.
func Intervals(o record.EvalOptions) metric.Intervals {
	if o.Bootstrap == 0 {
		return metric.Intervals{Resamples: -1}
	}
	return metric.Intervals{Resamples: o.Bootstrap, Seed: o.Seed}
}
