# Lists the statistics by name, so that a test can run all of them. treefold has no min and max of a whole vector, since R's own are exact.
of_one <- list(sum = exact_sum, mean = exact_mean, var = exact_var, sd = exact_sd, skewness = exact_skewness, kurtosis = exact_kurtosis)
of_two <- list(dot = exact_dot, weighted_mean = exact_weighted_mean, cov = exact_cov, cor = exact_cor, slope = exact_slope,
               intercept = exact_intercept)
has_ddof <- c("var", "sd", "skewness", "kurtosis", "cov")
extremum <- function(of) function(x, na.rm = FALSE) {
  if (na.rm) x <- x[!is.na(x)]
  if (anyNA(x)) if (any(is.na(x) & !is.nan(x))) NA_real_ else NaN else if (length(x) == 0) NA_real_ else of(x)
}
of_one_by_group <- c(of_one, min = extremum(min), max = extremum(max))

statistic <- function(name, x, y, ddof = 1, ...) {
  of <- c(of_one_by_group, of_two)[[name]]
  if (name %in% names(of_two)) {
    if (name %in% has_ddof) of(x, y, ddof = ddof, ...) else of(x, y, ...)
  } else if (name %in% has_ddof) of(x, ddof = ddof, ...) else of(x, ...)
}

every_statistic <- c(names(of_one_by_group), names(of_two))

# With single.NA = FALSE, identical() compares the bits of NAs and NaNs. If these differ, kinds() compares only whether R shows NA or NaN.
expect_same <- function(object, expected, info = NULL) {
  expect_true(identical(object, expected, single.NA = FALSE) || identical(kinds(object), kinds(expected)), info = info)
}

# Returns numbers as texts that show all their bits, or "NA" or "NaN".
kinds <- function(x) {
  bits <- sprintf("%a", x)
  bits[is.nan(x)] <- "NaN"
  bits[is.na(x) & !is.nan(x)] <- "NA"
  list(bits, names(x), dim(x), dimnames(x))
}
