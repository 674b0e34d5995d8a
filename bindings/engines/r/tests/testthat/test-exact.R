cases <- utils::read.csv("cases.csv", colClasses = "character")
numbers <- function(text) as.numeric(strsplit(text, " ", fixed = TRUE)[[1]])

test_that("each statistic is computed exactly and rounded once", {
  expect_gt(nrow(cases), 250)
  expect_setequal(cases$statistic, c(names(of_one), names(of_two)))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    x <- numbers(case$x)
    y <- numbers(case$y)
    value <- statistic(case$statistic, x, y, as.numeric(case$ddof))
    expect_same(value, as.numeric(case$value), info = paste(case$statistic, case$ddof, case$x))
    # Pairs that are left out change how items are read, but not the results.
    places <- c(0, sort(sample.int(length(x) + 1, 3, replace = TRUE) - 1))
    for (missing in list(NA, NaN)) {
      holes <- append(x, missing, places[2])
      others <- append(y, 7, places[2])
      expect_same(statistic(case$statistic, holes, others, as.numeric(case$ddof), na.rm = TRUE), as.numeric(case$value),
                  info = paste(case$statistic, "with a missing item"))
      expect_same(statistic(case$statistic, holes, others, as.numeric(case$ddof)), as.numeric(missing))
    }
  }
})

test_that("the order of the items changes no bit", {
  set.seed(1)
  x <- c(rnorm(2e4) * 2^runif(2e4, -200, 200), 1e100, -1e100)
  y <- rnorm(length(x))
  for (name in c(names(of_one), names(of_two))) {
    value <- statistic(name, x, y)
    expect_true(is.finite(value))
    for (repeated in 1:3) {
      order <- sample.int(length(x))
      expect_true(identical(statistic(name, x[order], y[order]), value), info = name)
    }
  }
})

test_that("threads change no bit", {
  set.seed(2)
  x <- rnorm(3e6)
  one <- c(exact_sum(x), tree_sum(x), exact_by(x, rep_len(1:3, length(x))))
  old <- options(treefold.threads = 2)
  on.exit(options(old))
  expect_true(identical(c(exact_sum(x), tree_sum(x), exact_by(x, rep_len(1:3, length(x)))), one))
  options(treefold.threads = -1)
  expect_error(exact_sum(x), "the option treefold.threads must be one whole number from 0 to 65535", fixed = TRUE)
  options(treefold.threads = "many")
  expect_error(tree_sum(x), "the option treefold.threads must be one whole number from 0 to 65535", fixed = TRUE)
})

test_that("intermediate sums neither lose items nor overflow", {
  expect_identical(exact_sum(c(1e300, 0.1, -1e300)), 0.1)
  expect_identical(exact_sum(c(.Machine$double.xmax, .Machine$double.xmax, -.Machine$double.xmax)), .Machine$double.xmax)
  expect_identical(exact_mean(c(1.7e308, 1.7e308)), 1.7e308)
  expect_identical(exact_sum(c(1e308, 1e308)), Inf)
  expect_identical(1 / exact_sum(-0), Inf)
  expect_identical(1 / exact_sum(c(-0, NA), na.rm = TRUE), Inf)
})

test_that("without items, the values are those of R's functions", {
  for (none in list(numeric(), integer(), logical())) {
    expect_identical(exact_sum(none), 0)
    expect_identical(tree_sum(none), 0)
    expect_same(exact_mean(none), NaN)
    expect_same(exact_var(none), NA_real_)
    expect_same(exact_cor(none, none), NA_real_)
    expect_identical(exact_dot(none, none), 0)
  }
  expect_same(exact_mean(c(NA, NaN), na.rm = TRUE), NaN)
  expect_identical(exact_sum(NA, na.rm = TRUE), 0)
  expect_same(exact_sd(1), NA_real_)
  expect_identical(exact_var(c(0.1, 0.1)), 0)
})

test_that("NA takes precedence over NaN in any order, and NaN over infinities", {
  expect_same(exact_sum(c(NaN, NA, 1)), NA_real_)
  expect_same(exact_sum(c(NA, NaN, 1)), NA_real_)
  expect_same(tree_sum(c(1, NaN, NA)), NA_real_)
  expect_same(exact_sum(c(1, NaN, Inf)), NaN)
  expect_same(exact_sum(c(rep(NaN, 9e3), 1, NA)), NA_real_)
  expect_same(exact_cor(c(1, NaN, 3), c(1, 2, NA)), NA_real_)
  expect_same(exact_dot(c(1, 2), c(NaN, 2)), NaN)
  expect_same(exact_sum(c(Inf, -Inf)), NaN)
  expect_same(tree_sum(c(Inf, -Inf)), NaN)
  expect_same(tree_sum(c(1e308, 1e308, -1e308, -1e308)), NaN)
  expect_identical(exact_sum(c(Inf, 1)), Inf)
  expect_identical(exact_mean(c(-Inf, 1, NA), na.rm = TRUE), -Inf)
  expect_same(exact_var(c(Inf, 1)), NaN)
  expect_same(exact_skewness(c(Inf, 1, 2)), NaN)
  expect_identical(exact_weighted_mean(c(Inf, 1), c(1, 1)), Inf)
  expect_identical(exact_weighted_mean(c(1, 2), c(1, -1)), -Inf)
  expect_same(exact_weighted_mean(c(NA, 1), c(0, 1)), NA_real_)
  expect_same(exact_slope(c(Inf, 1, 2), c(1, 2, 3)), NaN)
  expect_same(exact_cor(c(1, 1), c(1, 2)), NA_real_)
  expect_identical(exact_sum(c(1, NA, NaN, 2), na.rm = TRUE), 3)
  expect_identical(exact_dot(c(1, NA, 3, 4), c(1, 1, NaN, 2), na.rm = TRUE), 9)
})

test_that("integers and logicals are numbers, and their sum is an exact double", {
  expect_identical(exact_sum(1:10), 55)
  expect_identical(exact_sum(rep(.Machine$integer.max, 3)), 6442450941)
  expect_identical(exact_sum(c(TRUE, FALSE, TRUE)), 2)
  expect_same(exact_sum(c(1L, NA)), NA_real_)
  expect_identical(exact_sum(c(1L, NA, 2L), na.rm = TRUE), 3)
  expect_identical(tree_sum(c(TRUE, NA), na.rm = TRUE), 1)
  set.seed(3)
  integers <- sample.int(1000, 3e4, replace = TRUE)
  others <- rev(integers)
  for (name in c(names(of_one), names(of_two)))
    expect_identical(statistic(name, integers, others), statistic(name, as.numeric(integers), as.numeric(others)), info = name)
  expect_identical(exact_cov(1:3, c(0.5, 1, 1.5)), 0.5)
})

test_that("compact sequences stay compact", {
  is_compact <- function(x) any(grepl("compact", utils::capture.output(.Internal(inspect(x)))))
  x <- 1:10000000
  expect_identical(exact_sum(x), 50000005000000)
  expect_identical(exact_mean(x), 5000000.5)
  expect_identical(exact_var(x), (1e14 + 1e7) / 12) # n (n + 1) / 12, where n (n + 1) is exact as a double
  expect_identical(tree_sum(1:1048576), 549756338176)
  expect_true(is_compact(x))
  long <- as.numeric(5e9):(5e9 + 1e5)
  expect_identical(exact_mean(long), 5e9 + 5e4)
  expect_true(is_compact(long))
  expect_false(is_compact(c(1, 2)))
})

test_that("long vectors are read beyond 2^31 items", {
  skip_if(Sys.getenv("TREEFOLD_TEST_LONG") == "", "TREEFOLD_TEST_LONG is not set")
  n <- 2^31 + 9
  expect_identical(exact_sum(1:n), n * ((n + 1) / 2))
  expect_identical(exact_mean(1:n), (n + 1) / 2)
  expect_equal(tree_sum(1:n), exact_sum(1:n), tolerance = 1e-14)
})

test_that("a long call can be interrupted", {
  # With 5e10 items, the call would not end in reasonable time if it did not check for interrupts.
  for (of in c(exact_sum, tree_sum)) expect_error({
    setTimeLimit(elapsed = 0.1, transient = TRUE)
    of(1:5e10)
  }, "time limit")
  setTimeLimit()
  expect_identical(exact_sum(1:3), 6)
})

test_that("complex sums and means are computed for the real and the imaginary parts", {
  x <- c(1e300 + 1i, 0.1 - 1e300i, -1e300 + 1e300i)
  expect_identical(exact_sum(x), 0.1 + 1i)
  expect_identical(exact_mean(c(1i, 3 + 0i)), 1.5 + 0.5i)
  expect_identical(tree_sum(c(1 + 2i, 3 + 4i)), 4 + 6i)
  expect_true(is.na(exact_sum(c(x, NA))))
  expect_identical(exact_sum(c(x, NA), na.rm = TRUE), 0.1 + 1i)
  expect_error(exact_var(x), "x must be numeric, integer or logical, not complex")
})

test_that("errors name the argument", {
  expect_error(exact_sum("a"), "x must be numeric, integer or logical, not character", fixed = TRUE)
  expect_error(exact_sum(list(1)), "x must be numeric, integer or logical, not list", fixed = TRUE)
  expect_error(exact_sum(NULL), "x must be numeric, integer or logical, not NULL", fixed = TRUE)
  expect_error(exact_sum(mtcars), "not list", fixed = TRUE)
  expect_error(exact_sum(factor(1)), "x is a factor", fixed = TRUE)
  expect_error(exact_sum(structure(1, class = "integer64")), "x is of class integer64; use sum() of bit64, which is exact", fixed = TRUE)
  expect_error(exact_sum(as.Date("2020-01-01")), "x is of class Date, which the result would lose; pass as.numeric(x)", fixed = TRUE)
  expect_error(tree_sum(as.POSIXct(0, origin = "1970-01-01")), "x is of class POSIXct", fixed = TRUE)
  expect_error(exact_weighted_mean(1, as.difftime(1, units = "secs")), "w is of class difftime", fixed = TRUE)
  expect_error(exact_cor(1:3, 1:2), "x has 3 items, but y has 2", fixed = TRUE)
  expect_error(exact_weighted_mean(1:3, NULL), "w is missing", fixed = TRUE)
  expect_error(exact_cov(matrix(1:4, 2), 1:4), "x is a matrix", fixed = TRUE)
  expect_error(exact_var(1:3, ddof = 2), "ddof must be one whole number from 0 to 1", fixed = TRUE)
  expect_error(exact_var(1:3, ddof = "a"), "ddof must be one whole number from 0 to 1", fixed = TRUE)
  for (na.rm in list(NA, "yes", 1, c(TRUE, TRUE))) expect_error(exact_sum(1, na.rm = na.rm), "na.rm must be TRUE or FALSE", fixed = TRUE)
  expect_identical(deparse(tryCatch(exact_sd("a"), error = conditionCall)), "exact_sd(\"a\")")
  expect_identical(exact_sum(stats::ts(1:3)), 6)
  expect_identical(exact_sum(table(c(1, 1, 2))), 3)
  expect_identical(exact_sum(I(1:3)), 6)
  expect_identical(exact_sum(matrix(1:4, 2)), 10)
})
