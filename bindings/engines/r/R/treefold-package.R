#' Exact statistics, and sums in tree order
#'
#' [exact_sum()] and similar functions give statistics of a whole vector, [exact_by()] of groups, [exact_rolling()] of moving windows.
#' [tree_sum()] adds in a fixed order. `options(treefold.threads = n)` allows `n` threads for long vectors; 0 is one thread for each core.
#' The default is 1, the calling thread. The number of threads changes no bit of a result.
#' @useDynLib treefold, .registration = TRUE, .fixes = "C_"
"_PACKAGE"
