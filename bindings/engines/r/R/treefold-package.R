#' Exact statistics, and sums in tree order
#'
#' [exact_sum()] and similar functions compute statistics of a whole vector. [exact_by()] computes them for groups, and [exact_rolling()]
#' for moving windows. [tree_sum()] adds in a fixed order. `options(treefold.threads = n)` allows `n` threads for long vectors, where 0
#' means one for each core. By default, only the calling thread is used. The number of threads changes no bit of a result.
#' @useDynLib treefold, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
