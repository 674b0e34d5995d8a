#' Exact statistics, and sums in tree order
#'
#' [exact_sum()] and its kin compute a statistic exactly and round it once, of a whole vector; [exact_by()] of groups, and
#' [exact_rolling()] of moving windows. [tree_sum()] is the faster sum whose bits depend on the order of the items alone.
#'
#' `options(treefold.threads = n)` lets long vectors be reduced by `n` threads; 0 is one for each core. The default is 1, the calling
#' thread. The number of threads changes no bit of a result.
#'
#' @useDynLib treefold, .registration = TRUE, .fixes = "C_"
#' @keywords internal
"_PACKAGE"
