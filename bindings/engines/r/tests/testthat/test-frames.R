x <- c(1e300, 0.1, -1e300, 2, NA, 3)
g <- c("a", "a", "a", "b", "b", "b")

test_that("data.table's by", {
  skip_if_not_installed("data.table")
  `:=` <- data.table::`:=`
  .datatable.aware <- TRUE
  rows <- data.table::data.table(x = x, g = g, i = 1:6)
  assign(".datatable.aware", TRUE, envir = globalenv())
  on.exit(rm(.datatable.aware, envir = globalenv()))
  sums <- evalq(rows[, list(sum = exact_sum(x, na.rm = TRUE), tree = tree_sum(i), cor = exact_cor(x, i, na.rm = TRUE)), by = g],
                list(rows = rows), globalenv())
  expect_identical(sums$sum, c(0.1, 5))
  expect_identical(sums$tree, c(6, 15))
  expect_identical(sums$cor, c(exact_cor(x[1:3], 1:3), 1))
})

test_that("dplyr's summarise and mutate", {
  skip_if_not_installed("dplyr")
  rows <- dplyr::group_by(data.frame(x = x, g = g), g)
  sums <- dplyr::summarise(rows, sum = exact_sum(x), mean = exact_mean(x, na.rm = TRUE), n = dplyr::n())
  expect_identical(sums$sum, c(0.1, NA))
  expect_identical(sums$mean, c(exact_mean(x[1:3]), 2.5))
  rolled <- dplyr::mutate(rows, last_two = exact_rolling(x, 2, na.rm = TRUE))
  expect_identical(rolled$last_two, c(NA, 1e300, -1e300, NA, 2, 3))
})
