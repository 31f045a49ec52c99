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
	j, ret, err := retrieve(ctx, v, roles, o, say)
	if err != nil {
		return record.Evaluated{}, nil, nil, err
	}
	km, err := clusters(ctx, &j, v, o, false, say)
	return j, ret, km, err
}

// retrieve scores v by retrieval.
func retrieve(ctx context.Context, v data.Embeddings, roles *data.Roles, o record.EvalOptions, say progress.Say) (record.Evaluated, *metric.Retrieval, error) {
	if err := embed.TwoClasses(v.Labels); err != nil {
		return record.Evaluated{}, nil, err
	}
	ret, err := embed.Retrieve(ctx, v, roles, metric.RetrievalOptions{
		K: o.Ks, Distance: o.Distance, Neighbors: o.Neighbors,
		Intervals: intervalsOf(v, roles, o),
		Progress:  say.Of("retrieval"),
	})
	if err != nil {
		return record.Evaluated{}, nil, err
	}
	j := record.Evaluated{Retrieval: ret.Scores, Excluded: ret.Excluded}
	if roles != nil {
		j.Searched, j.Gallery = len(roles.Query), len(roles.Gallery)
	}
	return j, ret, nil
}

// clusters adds to j the scores of k-means on v where they are asked for. With last, v's
// vectors are not of use afterwards: there is a copy less of them.
func clusters(ctx context.Context, j *record.Evaluated, v data.Embeddings, o record.EvalOptions, last bool, say progress.Say) (*cluster.KMeansResult, error) {
	if !o.KMeans {
		return nil, nil
	}
	km, err := solve.RunKMeans(ctx, v, cluster.KMeansOptions{K: o.K, Restarts: o.NInit, Seed: o.Seed, Overwrite: last}, say)
	if err != nil {
		return nil, err
	}
	j.Clustering, err = solve.Scores(v.Labels, km.Labels)
	return km, err
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
