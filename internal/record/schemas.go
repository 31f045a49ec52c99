package record

// Schemas of documents that are kept in files. A number is raised where a reader of the
// one before would be misled.
const (
	RunSchema         = "tercet.run/1"
	EvalSchema        = "tercet.eval/1"
	AttackSchema      = "tercet.attack/2"
	AttackPartSchema  = "tercet.attack-part/1"
	CurveSchema       = "tercet.curve/1"
	WorstSchema       = "tercet.worst/1"
	CertifySchema     = "tercet.certify/1"
	ClusterSchema     = "tercet.cluster/2"
	AssignSchema      = "tercet.assign/1"
	ExportSchema      = "tercet.export/1"
	PreprocessSchema  = "tercet.preprocess/1"
	EmbeddingsSchema  = "tercet.embeddings/1"
	EmbedSchema       = "tercet.embed/1"
	PairsSchema       = "tercet.pairs/1"
	NoiseSchema       = "tercet.noise/1"
	GapSchema         = "tercet.gap/1"
	StabilitySchema   = "tercet.stability/1"
	OnAverageSchema   = "tercet.onaverage/1"
	InfluenceSchema   = "tercet.influence/1"
	MetricSchema      = "tercet.metricstability/1"
	MetricPointSchema = "tercet.metricpoint/1" // a kept result of one setting
	PartitionSchema   = "tercet.partition/1"
	BenchSchema       = "tercet.bench/1"
)

// OldClusterSchema has no multicut, threshold and maps; reports read it.
const OldClusterSchema = "tercet.cluster/1"

// Formats of binary files, in their metadata, and of a fingerprint.
const (
	UnsealedCheckpointFormat = "tercet.checkpoint/1" // without a digest
	CheckpointFormat         = "tercet.checkpoint/2"
	UncheckedShardFormat     = "tercet.shard/1" // packed images without checksums
	ShardFormat              = "tercet.shard/2"
	ClustersFormat           = "tercet.clusters/1"
	EvalPartFormat           = "tercet.eval-part/3"    // unfinished evaluations
	ClusterPartFormat        = "tercet.cluster-part/1" // starts of k-means of a task
	WorstPartFormat          = "tercet.worst-part/1"   // unfinished worst cases
	FingerprintFormat        = "tercet.data/1"         // begins what is hashed
)

// Schemas of what commands print with --json.
const (
	TrainSchema         = "tercet.train/1"
	RunsSchema          = "tercet.runs/1"
	ClusterTaskSchema   = "tercet.cluster-task/1"
	EvalTaskSchema      = "tercet.eval-task/1"
	ScriptSchema        = "tercet.script/1"
	SweepStatusSchema   = "tercet.sweep-status/1"
	RunListingSchema    = "tercet.run-listing/1"
	RunDifferenceSchema = "tercet.run-difference/1"
	RemovedRunsSchema   = "tercet.removed-runs/1"
	ExtendedRunSchema   = "tercet.extended-run/1"
	ExportedRunsSchema  = "tercet.exported-runs/1"
	ShownRunSchema      = "tercet.shown-run/1"
	ComparisonSchema    = "tercet.comparison/1"
	BandSchema          = "tercet.band/1"
	PlanSchema          = "tercet.plan/1"
	SearchSchema        = "tercet.search/1"
	TuneSchema          = "tercet.tune/1"
	DataSchema          = "tercet.inspection/1"
	PreviewSchema       = "tercet.preview/1"
	PackSchema          = "tercet.pack/1"
	DatasetsSchema      = "tercet.datasets/1"
	DevicesSchema       = "tercet.devices/1"
	BoundSchema         = "tercet.bound/1"
	ConfigSchema        = "tercet.config/1"
	ConfigCheckSchema   = "tercet.config-check/1"
	ConfigInitSchema    = "tercet.config-init/1"
	ConfigKeysSchema    = "tercet.config-keys/1"
	ConfigSchemaSchema  = "tercet.config-schema/1"
	CompletionSchema    = "tercet.completion/1"
	DoctorSchema        = "tercet.doctor/1"
	ErrorSchema         = "tercet.error/1"
	HelpSchema          = "tercet.help/1"
	ManSchema           = "tercet.man/1"
	VersionSchema       = "tercet.version/1"
)

// Schemas of the tables of tercet report.
const (
	TableSchema          = "tercet.table/1"
	ReportSchema         = "tercet.report/1"
	SelectionSchema      = "tercet.selection/1"
	StudySchema          = "tercet.study/1"
	StudiesSchema        = "tercet.studies/1"
	ArchiveSchema        = "tercet.archive/1"
	StudyPlanSchema      = "tercet.studyplan/1"
	StabilityStudySchema = "tercet.stabilitystudy/1"
)
