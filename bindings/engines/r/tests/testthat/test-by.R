set.seed(5)
n <- 3000
x <- rnorm(n) * 2^runif(n, -80, 80)
y <- runif(n)
by_split <- function(name, x, y, f, ...) {
  parts <- split(seq_along(x), f)
  vapply(parts, function(part) as.numeric(statistic(name, x[part], y[part], ...)), 0)
}

test_that("each group has the statistic of its items, with or without missing ones", {
  g <- sample(c("b", "a", NA, "C"), n, replace = TRUE)
  g[n] <- "one item"
  x[sample.int(n, 50)] <- NaN
  x[g == "C" & !is.na(g)][3] <- NA
  y[which(g == "b")[1]] <- Inf
  f <- factor(g, levels = c("without items", "b", "one item", "a", "C"))
  for (name in every_statistic) for (na.rm in c(FALSE, TRUE)) {
    two <- if (name %in% names(of_two)) y
    expect_same(exact_by(x, f, name, two, na.rm = na.rm), by_split(name, x, y, f, na.rm = na.rm), info = paste(name, na.rm))
    expect_same(exact_by(x, g, name, two, na.rm = na.rm), by_split(name, x, y, factor(g), na.rm = na.rm), info = paste(name, na.rm))
  }
  for (name in has_ddof)
    expect_same(exact_by(x, f, name, if (name == "cov") y, na.rm = TRUE, ddof = 0), by_split(name, x, y, f, 0, na.rm = TRUE), info = name)
})

test_that("the order of rows changes no bit", {
  g <- sample.int(100, n, replace = TRUE)
  order <- sample.int(n)
  for (name in every_statistic) {
    two <- if (name %in% names(of_two)) y
    expect_true(identical(exact_by(x, g, name, two), exact_by(x[order], g[order], name, two[order])), info = name)
  }
})

test_that("groups have the names that tapply gives them", {
  items <- as.numeric(1:6)
  for (g in list(c(2L, 1L, NA, 10L, 2L, 1L), c("b", "B", "a", NA, "A", "a"), c(TRUE, FALSE, NA, TRUE, TRUE, FALSE),
                 c(0.1 + 0.2, 0.3, -0, 0, 1e5, 1e15), 1 + c(1, 0, 1, 3, 3, -1) * 1e-14,
                 as.Date("2020-01-31") + c(1, 0, NA, 1, 1, 5), as.POSIXct("2020-01-01", tz = "UTC") + c(0, 1, 0, 1, 1, 1),
                 factor(c("x", NA, "z", "x", "x", "z"), levels = c("z", "y", "x")), addNA(factor(c("x", NA, "z", "x", "x", "z"))),
                 matrix(1:6, 2))) {
    sums <- exact_by(items, g)
    expected <- tapply(items, g, sum, default = 0)
    expect_identical(names(sums), names(expected))
    expect_identical(unname(sums), as.numeric(expected))
  }
  expect_identical(exact_by(items, rep(NA, 6)), structure(numeric(), names = character()))
  expect_identical(exact_by(numeric(), character()), structure(numeric(), names = character()))
  expect_identical(exact_by(c(1, 2, 4), c(NaN, 1, NA)), c("1" = 2))
})

test_that("a list makes an array of all combinations", {
  groups <- list(first = c("b", "a", "b", NA, "a"), second = factor(c(1, 2, 2, 1, 2), levels = 1:3), third = c(5, 5, 6, 6, 5))
  items <- c(1, 2, 4, 8, 16)
  expect_equal(exact_by(items, groups), tapply(items, groups, sum, default = 0))
  expect_identical(exact_by(warpbreaks$breaks, warpbreaks[c("wool", "tension")])["B", "H"], 169)
  expect_identical(unname(exact_by(items, unname(groups[1]))), array(c(18, 5), 2))
})

test_that("integers, NA groups and compact sequences", {
  expect_identical(exact_by(1:4, c(1, 2, 1, NA)), c("1" = 4, "2" = 2))
  expect_same(exact_by(c(1L, NA, 3L), c("a", "b", "b")), c(a = 1, b = NA))
  expect_identical(exact_by(c(TRUE, TRUE, FALSE), c("a", "a", "b")), c(a = 2, b = 0))
  expect_identical(exact_by(1:100000, rep(1:2, 50000)), c("1" = 2500000000, "2" = 2500050000))
})

test_that("errors name the argument", {
  expect_error(exact_by(1:3, 1:2), "g must be a vector with as many items as x", fixed = TRUE)
  expect_error(exact_by(1:3, NULL), "g must be a vector", fixed = TRUE)
  expect_error(exact_by(1:3, list()), "g must be a vector", fixed = TRUE)
  expect_error(exact_by(1:2, list(1:2, 1)), "g must be a vector", fixed = TRUE)
  expect_error(exact_by(1:2, list(list(1, 2))), "g must be a vector", fixed = TRUE)
  expect_error(exact_by(1:2, rep(list(seq_len(2)), 32)), "more than 2^31 - 1 combinations", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, "median"), "there is no statistic \"median\"; choose one of sum, mean, var, sd, min", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, sum), "statistic must be one name", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, c("sum", "mean")), "statistic must be one name", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, "cor"), "y is missing", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, "weighted_mean"), "the statistic \"weighted_mean\" needs x and y, but y is missing", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, "sum", 1:2), "the statistic \"sum\" uses only x; leave out y", fixed = TRUE)
  expect_error(exact_by(1:2, 1:2, "cov", 1:3), "x has 2 items, but y has 3", fixed = TRUE)
  damaged <- structure(c(1L, 9L), levels = c("a", "b"), class = "factor")
  expect_error(exact_by(1:2, damaged), "9")
  expect_error(exact_by(1:2, structure(c(1L, -9L), levels = c("a", "b"), class = "factor")), "-9")
})
