//! The pages whose programs are compiled and run like those of a crate's documentation.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../../../", $path))]
            struct $name;
        )*
    };
}

pages! {
    Readme "README.md"
    FrontPage "docs/README.md"
    Why "docs/why.md"
    TutorialRust "docs/tutorial-rust.md"
    TutorialByKey "docs/tutorial-by-key.md"
    TreeOrExact "docs/tree-or-exact.md"
    ItemsAndRanks "docs/items-and-ranks.md"
    Rows "docs/rows.md"
    Lanes "docs/lanes.md"
    Failures "docs/failures.md"
    Gpu "docs/gpu.md"
    TreeIndexReadme "crates/tree-index/README.md"
    SimdKernelsReadme "crates/simd-kernels/README.md"
    ExactSumReadme "crates/exact-sum/README.md"
    DistributionReadme "crates/distribution/README.md"
    ScheduleReadme "crates/schedule/README.md"
    MpiLibraryReadme "crates/mpi-library/README.md"
    CommReadme "crates/comm/README.md"
    CudaReadme "crates/cuda/README.md"
    ReduceReadme "crates/reduce/README.md"
    TreefoldReadme "crates/treefold/README.md"
}
