#' Exact statistics
#'
#' Each result is computed exactly and rounded once to a double, to nearest with ties to even. It does not depend on the order of the items,
#' and no intermediate value is rounded or overflows.
#'
#' @param x,y,w Numeric, integer or logical vectors. Two vectors must have the same length. `exact_sum` and `exact_mean` also accept complex
#'   vectors. A vector with a class, such as `Date`, `difftime` or `integer64`, is rejected, because the result would lose the class. `ts`,
#'   `table` and `AsIs` are allowed. All items of a matrix are used, but `exact_var`, `exact_cov` and `exact_cor` reject matrices.
#' @param na.rm Whether to leave out `NA` and `NaN`. Statistics of two vectors leave out each pair that contains `NA` or `NaN`.
#' @param ddof 1 for a sample, as in R's [var()], or 0 for a whole population. The divisor of variances and covariances is the number of
#'   items minus `ddof`. Skewness and kurtosis are G1 and G2 (type 2 of package e1071) if `ddof` is 1, else g1 and g2 (type 1). A normal
#'   distribution has the kurtosis 0.
#' @details
#' If an item is `NA`, the result is `NA`. Otherwise, the result is `NaN` if an item is `NaN`, if there are infinities of both signs, or if
#' there is one infinity and the statistic is not a sum, mean or dot product. If there are too few items, or if a denominator is 0 (as in the
#' correlation with a constant), the result is `NA` without a warning. As in R, a mean of no items is `NaN`, and a mean whose weights add up to
#' 0 is `NaN` or infinite. The sum of no items is 0. The sum of integers is a double, which is exact up to 2^53 and never overflows to `NA`.
#'
#' Unlike in [weighted.mean()], a weight of 0 does not hide a missing or infinite item. `exact_slope` and `exact_intercept` are the slope
#' and the intercept of the regression line `lm(y ~ x)`.
#'
#' Doubles are read in place. Integers, and doubles with items to leave out, are read in blocks by `exact_sum`, `exact_mean`,
#' `exact_var` and `exact_sd`, so that `1:1e9` remains a compact sequence. The other functions copy such vectors for the call.
#' @return One number.
#' @seealso [exact_by()] for groups, [exact_rolling()] for moving windows, and [tree_sum()] for sums in a fixed order.
#' @examples
#' exact_sum(c(1e300, 0.1, -1e300))
#' exact_var(1e9 + c(0.25, 0.5, 0.75))
#' exact_cor(c(1, 2, 3, NA), c(1, 3, 2, 4), na.rm = TRUE)
#' exact_sum(1:10)
#' @name exact
NULL

#' @rdname exact
#' @export
exact_sum <- function(x, na.rm = FALSE) {
  if (is.complex(x)) parts(exact_sum, x, na.rm) else .Call(C_statistic, "sum", x, NULL, 1, na.rm)
}
#' @rdname exact
#' @export
exact_mean <- function(x, na.rm = FALSE) {
  if (is.complex(x)) parts(exact_mean, x, na.rm) else .Call(C_statistic, "mean", x, NULL, 1, na.rm)
}
#' @rdname exact
#' @export
exact_var <- function(x, na.rm = FALSE, ddof = 1) .Call(C_statistic, "var", x, NULL, ddof, na.rm)
#' @rdname exact
#' @export
exact_sd <- function(x, na.rm = FALSE, ddof = 1) .Call(C_statistic, "sd", x, NULL, ddof, na.rm)
#' @rdname exact
#' @export
exact_skewness <- function(x, na.rm = FALSE, ddof = 1) .Call(C_statistic, "skewness", x, NULL, ddof, na.rm)
#' @rdname exact
#' @export
exact_kurtosis <- function(x, na.rm = FALSE, ddof = 1) .Call(C_statistic, "kurtosis", x, NULL, ddof, na.rm)
#' @rdname exact
#' @export
exact_dot <- function(x, y, na.rm = FALSE) .Call(C_statistic, "dot", x, y, 1, na.rm)
#' @rdname exact
#' @export
exact_weighted_mean <- function(x, w, na.rm = FALSE) .Call(C_statistic, "weighted_mean", x, w, 1, na.rm)
#' @rdname exact
#' @export
exact_cov <- function(x, y, na.rm = FALSE, ddof = 1) .Call(C_statistic, "cov", x, y, ddof, na.rm)
#' @rdname exact
#' @export
exact_cor <- function(x, y, na.rm = FALSE) .Call(C_statistic, "cor", x, y, 1, na.rm)
#' @rdname exact
#' @export
exact_slope <- function(x, y, na.rm = FALSE) .Call(C_statistic, "slope", x, y, 1, na.rm)
#' @rdname exact
#' @export
exact_intercept <- function(x, y, na.rm = FALSE) .Call(C_statistic, "intercept", x, y, 1, na.rm)

#' The sum in tree order
#'
#' Neighbours are added in pairs, and an unpaired last item moves up unchanged. This is repeated until one number is left. Each addition
#' rounds, as in [sum()], but the order is fixed. So the bits depend only on the items and their order, not on threads or processors. Use
#' [exact_sum()] if the order of the items may change, or if they cancel.
#'
#' @param x A numeric, integer, logical or complex vector, as in [exact_sum()]. Integers are converted to doubles.
#' @param na.rm Whether to leave out `NA` and `NaN`. The result is then the sum of a vector of the remaining items.
#' @return One number, which is complex if `x` is complex. It is `NA` if an item is `NA`, else `NaN` if an item is `NaN`.
#' @examples
#' tree_sum(c(0.1, 0.2, 0.3, 0.4)) == (0.1 + 0.2) + (0.3 + 0.4)
#' @export
tree_sum <- function(x, na.rm = FALSE) {
  if (is.complex(x)) parts(tree_sum, x, na.rm) else .Call(C_tree_sum, "sum", x, NULL, 0, na.rm)
}

# Computes a sum or a mean of complex numbers, separately for the real and the imaginary parts.
parts <- function(of, x, na.rm) {
  if (isTRUE(na.rm)) x <- x[!is.na(x)]
  complex(real = of(Re(x)), imaginary = of(Im(x)))
}
