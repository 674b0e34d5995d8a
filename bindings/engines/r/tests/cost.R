# Times treefold's, R's and data.table's functions on one thread, and prints medians of processor times in milliseconds.
#
#     R_LIBS=LIBRARY Rscript bindings/engines/r/tests/cost.R
library(treefold)
library(data.table)
setDTthreads(1)

processor_time <- function(call, calls) sum(system.time(for (i in seq_len(calls)) eval(call, globalenv()), gcFirst = FALSE)[1:2])

median_ms <- function(call, batches = 7) {
  calls <- 1 # the number of calls in a batch, which takes at least 40 ms
  while (processor_time(call, calls) < 0.04) calls <- 2 * calls
  1000 / calls * stats::median(vapply(seq_len(batches), function(i) processor_time(call, calls), 0))
}

# Prints one line: the time of the first call, and for each other call the ratio of the first time to that call's time.
row <- function(what, ...) {
  calls <- as.list(substitute(list(...)))[-1]
  times <- vapply(calls, median_ms, 0)
  cat(sprintf("%-36s%10.3f ms", what, times[1]), sprintf("%6.2f x %s (%.3f ms)", times[1] / times[-1], names(calls)[-1], times[-1]), "\n")
}

set.seed(1)
for (n in c(1e4, 1e6, 1e7)) {
  x <- rnorm(n)
  row(sprintf("tree_sum, %.0e doubles", n), tree_sum(x), sum = sum(x))
  row(sprintf("exact_sum, %.0e doubles", n), exact_sum(x), sum = sum(x))
}
x <- rnorm(1e6)
y <- rnorm(1e6)
holes <- replace(x, 5, NA)
integers <- sample.int(1e6)
row("exact_sum, one NA left out", exact_sum(holes, na.rm = TRUE), sum = sum(holes, na.rm = TRUE))
row("exact_sum, integers", exact_sum(integers), sum = sum(integers))
row("exact_mean", exact_mean(x), mean = mean(x))
row("exact_var", exact_var(x), var = var(x))
row("exact_cor", exact_cor(x, y), cor = cor(x, y))
row("exact_skewness", exact_skewness(x))
for (groups in c(1e3, 1e5)) {
  g <- sample.int(groups, 1e6, replace = TRUE)
  f <- factor(g)
  rows <- data.table(x = x, g = g)
  row(sprintf("exact_by, %.0e groups, integers", groups), exact_by(x, g), rowsum = rowsum(x, g), tapply = tapply(x, g, sum),
      data.table = rows[, sum(x), by = g])
  row(sprintf("exact_by, %.0e groups, a factor", groups), exact_by(x, f), rowsum = rowsum(x, f), tapply = tapply(x, f, sum))
  row(sprintf("exact_by, %.0e groups, var", groups), exact_by(x, f, "var"), data.table = rows[, var(x), by = g])
}
for (n in c(10, 1e5)) {
  row(sprintf("exact_rolling, sums of %.0e", n), exact_rolling(x, n), frollsum = frollsum(x, n))
  row(sprintf("exact_rolling, means of %.0e", n), exact_rolling(x, n, "mean"), frollmean = frollmean(x, n))
  row(sprintf("exact_rolling, var of %.0e", n), exact_rolling(x, n, "var"))
  row(sprintf("exact_rolling, cor of %.0e", n), exact_rolling(x, n, "cor", y))
}
row("exact_rolling, means of 10, exactly", exact_rolling(x, 10, "mean"), "frollmean(algo = \"exact\")" = frollmean(x, 10, algo = "exact"))
