# Computes the expected results: for each window, the statistic of its items.
by_windows <- function(name, x, y, n, after, na.rm = FALSE, fill = NA_real_, min_obs = NULL) {
  vapply(seq_along(x), function(i) {
    places <- seq.int(i + after - n + 1, i + after)
    places <- places[places >= 1 & places <= length(x)]
    is_pair <- name %in% names(of_two)
    present <- sum(!(is.na(x[places]) | (is_pair & is.na(y[places]))))
    enough <- if (is.null(min_obs)) length(places) == n else (if (na.rm) present else length(places)) >= min_obs
    if (enough) as.numeric(statistic(name, x[places], y[places], na.rm = na.rm)) else fill
  }, 0)
}

after <- list(right = function(n) 0, left = function(n) n - 1, center = function(n) n %/% 2)

test_that("each window has the statistic of its items", {
  set.seed(6)
  m <- 30
  plain <- rnorm(m) * 2^runif(m, -40, 40)
  holes <- plain
  holes[c(3, 4, 5, 20)] <- NA
  holes[c(4, 11, 29)] <- NaN
  holes[c(12, 26)] <- c(Inf, -Inf)
  weights <- replace(runif(m), 25, NA)
  constant <- rep(c(1, 2), c(20, 10))
  for (x in list(plain, holes, constant, sample.int(9, m, replace = TRUE))) for (name in every_statistic) {
    two <- if (name %in% names(of_two)) weights
    for (n in c(1, 3, 4, 8, 31, 90)) for (align in names(after)) for (na.rm in c(FALSE, TRUE)) for (min_obs in list(NULL, 2)) {
      value <- exact_rolling(x, n, name, two, align, na.rm, min_obs = min_obs)
      expected <- by_windows(name, x, weights, n, after[[align]](n), na.rm, min_obs = min_obs)
      if (!identical(kinds(value), kinds(expected)))
        expect_same(value, expected, info = paste(name, n, align, na.rm, min_obs))
    }
  }
  succeed()
})

test_that("windows have the same items as in data.table", {
  skip_if_not_installed("data.table")
  x <- as.numeric(c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5))
  for (n in 1:12) for (align in names(after)) for (fill in c(NA, 0)) {
    expect_identical(exact_rolling(x, n, align = align, fill = fill), data.table::frollsum(x, n, align = align, fill = fill))
    expect_identical(exact_rolling(x, n, "mean", align = align, fill = fill),
                     data.table::frollmean(x, n, align = align, fill = fill, algo = "exact"))
  }
  holes <- replace(x, c(2, 7, 8), NA)
  expect_identical(exact_rolling(holes, 2, na.rm = TRUE), data.table::frollsum(holes, 2, na.rm = TRUE))
  expect_identical(exact_rolling(holes, 3), data.table::frollsum(holes, 3))
})

test_that("reported cases", {
  # Numbers from issues of pandas and Polars, in which an item that had left the window still changed the result.
  x <- c(5000, rep(c(0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0, 0.01), 3))
  last <- function(...) {
    values <- exact_rolling(...)
    values[length(values)]
  }
  expect_identical(last(x, 10, "kurtosis", ddof = 0), -0.586894586894587)
  expect_identical(last(x, 10, "kurtosis"), -0.07326007326007344)
  expect_identical(last(x, 10, "skewness", ddof = 0), -0.7970360876769786)
  expect_identical(last(x, 10, "skewness"), -0.9451685304033433)
  x <- c(1, 2, 1e12, 1e7, 6, 5, 8, 7)
  y <- c(2, 1, 3, -1e12, 4, 7, 6, 9)
  expect_identical(last(x, 3, "cov", y), -1 / 3)
  expect_identical(last(x, 3, "cor", y), -0.14285714285714285)
  x <- c(rep(1e9, 5), 1, 0, 1, 0, 1)
  expect_identical(last(x, 3, "sd", ddof = 0), 0.4714045207910317)
  expect_identical(last(x, 3, "sd"), 0.5773502691896257)
  expect_identical(exact_rolling(c(1e20, 1, 2, 3, 4), 3), c(NA, NA, 1e20, 6, 9))
})

test_that("no items, classes and errors", {
  expect_identical(exact_rolling(numeric(), 3), numeric())
  expect_identical(exact_rolling(numeric(), 2, align = "center", min_obs = 1), numeric())
  expect_identical(exact_rolling(1:4, 2L), c(NA, 3, 5, 7))
  expect_identical(exact_rolling(1:3, 2^40), rep(NA_real_, 3))
  expect_identical(exact_rolling(1:3, 2^40, min_obs = 1), c(1, 3, 6))
  expect_identical(exact_rolling(1:3, 2^40, align = "center", min_obs = 1), c(6, 6, 6))
  for (n in list(0, -1, 1.5, NA, NaN, Inf, "2", 1:2, NULL)) expect_error(exact_rolling(1:3, n), "n must be one whole number", fixed = TRUE)
  expect_error(exact_rolling(1:3, 2, min_obs = -1), "min_obs must be one whole number from 0 to", fixed = TRUE)
  expect_error(exact_rolling(1:3, 2, align = "middle"), "should be one of")
  expect_error(exact_rolling(1:3, 2, fill = "none"), "fill must be one number", fixed = TRUE)
  expect_error(exact_rolling(1:3, 2, "median"), "there is no statistic \"median\"", fixed = TRUE)
  expect_error(exact_rolling(1:3, 2, "cor"), "y is missing", fixed = TRUE)
  expect_error(exact_rolling(Sys.Date(), 1), "x is of class Date", fixed = TRUE)
})
