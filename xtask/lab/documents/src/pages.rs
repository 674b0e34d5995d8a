//! The pages whose programs are compiled and run like those of a crate's documentation.

#[doc = include_str!("../../../../docs/why.md")]
struct Why;

#[doc = include_str!("../../../../docs/tutorial-rust.md")]
struct TutorialRust;

#[doc = include_str!("../../../../docs/tutorial-by-key.md")]
struct TutorialByKey;

#[doc = include_str!("../../../../docs/tree-or-exact.md")]
struct TreeOrExact;

#[doc = include_str!("../../../../docs/items-and-ranks.md")]
struct ItemsAndRanks;

#[doc = include_str!("../../../../docs/rows.md")]
struct Rows;

#[doc = include_str!("../../../../docs/lanes.md")]
struct Lanes;

#[doc = include_str!("../../../../docs/failures.md")]
struct Failures;

#[doc = include_str!("../../../../docs/gpu.md")]
struct Gpu;

#[doc = include_str!("../../../../crates/tree-index/README.md")]
struct TreeIndexReadme;

#[doc = include_str!("../../../../crates/simd-kernels/README.md")]
struct SimdKernelsReadme;

#[doc = include_str!("../../../../crates/exact-sum/README.md")]
struct ExactSumReadme;

#[doc = include_str!("../../../../crates/distribution/README.md")]
struct DistributionReadme;

#[doc = include_str!("../../../../crates/schedule/README.md")]
struct ScheduleReadme;

#[doc = include_str!("../../../../crates/mpi-library/README.md")]
struct MpiLibraryReadme;

#[doc = include_str!("../../../../crates/comm/README.md")]
struct CommReadme;

#[doc = include_str!("../../../../crates/cuda/README.md")]
struct CudaReadme;

#[doc = include_str!("../../../../crates/reduce/README.md")]
struct ReduceReadme;

#[doc = include_str!("../../../../crates/treefold/README.md")]
struct TreefoldReadme;
