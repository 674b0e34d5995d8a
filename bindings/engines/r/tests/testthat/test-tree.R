# Computes a sum by the definition of tree order: neighbours are added in pairs, and an unpaired last item moves up.
by_definition <- function(x) {
  while (length(x) > 1) {
    pairs <- length(x) %/% 2
    x <- c(x[2 * seq_len(pairs) - 1] + x[2 * seq_len(pairs)], if (length(x) %% 2) x[length(x)])
  }
  if (length(x)) x else 0
}

test_that("tree_sum has the order of its definition, however items are read", {
  set.seed(4)
  for (n in c(1, 2, 3, 7, 1000, 8191, 8192, 8193, 16384, 50001)) {
    x <- rnorm(n) * 2^runif(n, -30, 30)
    expect_identical(tree_sum(x), by_definition(x), info = n)
    holes <- x
    at <- runif(n) < 0.3
    holes[at] <- c(NA, NaN)[1 + (runif(sum(at)) < 0.5)]
    expect_identical(tree_sum(holes, na.rm = TRUE), by_definition(x[!at]), info = n)
    integers <- sample.int(.Machine$integer.max, n) - 2^30
    expect_identical(tree_sum(as.integer(integers)), by_definition(integers), info = n)
  }
})

test_that("another order gives other bits, so the tests above can fail", {
  x <- c(1, 2^53, 1, -2^53)
  expect_identical(c(tree_sum(x), tree_sum(x[c(2, 4, 1, 3)]), exact_sum(x)), c(1, 2, 2))
})
