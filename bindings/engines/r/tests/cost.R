# What treefold's functions cost beside R's own and data.table's: medians of several runs, in milliseconds. Rscript tests/cost.R
library(treefold)
library(data.table)
setDTthreads(1)

median_ms <- function(call, repeats, calls) {
  time <- function() {
    begin <- Sys.time()
    for (i in seq_len(calls)) eval(call, globalenv())
    as.numeric(Sys.time() - begin, units = "secs") / calls
  }
  1000 * stats::median(replicate(repeats, time()))
}

# One line: the first call is compared with each of the others.
row <- function(what, ..., repeats = 15, calls = 1) {
  asked <- Filter(Negate(is.null), as.list(substitute(list(...)))[-1])
  times <- vapply(asked, function(call) median_ms(call, repeats, calls), 0)
  ours <- sprintf("%-34s %10.3f ms", what, times[1])
  cat(ours, sprintf("%6.2f x %s (%.3f ms)", times[1] / times[-1], names(asked)[-1], times[-1]), sep = "  ", fill = FALSE)
  cat("\n")
}

set.seed(1)
for (n in c(1e4, 1e6, 1e7)) {
  x <- rnorm(n)
  calls <- max(1, 1e6 / n)
  row(sprintf("tree_sum, %.0e doubles", n), tree_sum(x), sum = sum(x), calls = calls)
  row(sprintf("exact_sum, %.0e doubles", n), exact_sum(x), sum = sum(x), calls = calls)
}
x <- rnorm(1e6)
y <- rnorm(1e6)
holes <- replace(x, 5, NA)
row("exact_var, 1e6 doubles", exact_var(x), var = var(x))
row("exact_cor, 1e6 doubles", exact_cor(x, y), cor = cor(x, y))
row("exact_sum, 1e6 doubles, one NA", exact_sum(holes, na.rm = TRUE), sum = sum(holes, na.rm = TRUE))
row("exact_sum, 1:1e6", exact_sum(1:1e6), "sum of doubles" = sum(as.double(1:1e6)))
for (groups in c(1e3, 1e5)) {
  g <- sample.int(groups, 1e6, replace = TRUE)
  f <- factor(g)
  rows <- data.table(x = x, g = g)
  row(sprintf("exact_by, %.0e groups", groups), exact_by(x, g), rowsum = rowsum(x, g), tapply = tapply(x, g, sum),
      data.table = rows[, sum(x), by = g], repeats = 5)
  row(sprintf("exact_by, %.0e groups, a factor", groups), exact_by(x, f), rowsum = rowsum(x, f), tapply = tapply(x, f, sum), repeats = 5)
  row(sprintf("exact_by, %.0e groups, var", groups), exact_by(x, f, "var"), data.table = rows[, var(x), by = g], repeats = 5)
}
for (n in c(10, 1e5)) {
  row(sprintf("exact_rolling, sum of %.0e", n), exact_rolling(x, n), frollsum = frollsum(x, n),
      repeats = 7)
  row(sprintf("exact_rolling, mean of %.0e", n), exact_rolling(x, n, "mean"), frollmean = frollmean(x, n), repeats = 7)
  row(sprintf("exact_rolling, var of %.0e", n), exact_rolling(x, n, "var"), frollmean = frollmean(x, n), repeats = 7)
}
