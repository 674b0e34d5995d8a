#' Exact statistics of groups
#'
#' Computes a statistic of the items of each group, as `tapply(x, g, exact_sum)` does, but in one pass over the data.
#'
#' @inheritParams exact
#' @param x A vector of items, as in [exact_sum()].
#' @param g The group of each item: a factor, or a vector of numbers, characters or dates. With a list of such vectors, such as the
#'   columns of a data frame, each combination is a group. Items whose group is `NA` or `NaN` are left out.
#' @param statistic The name of a statistic. Statistics of `x` are `"sum"`, `"mean"`, `"var"`, `"sd"`, `"min"`, `"max"`, `"skewness"` and
#'   `"kurtosis"`. Statistics of `x` and `y` are `"dot"`, `"weighted_mean"`, `"cov"`, `"cor"`, `"slope"` and `"intercept"`. They are
#'   defined in [exact_var()].
#' @param y The second vector, for statistics of two vectors. For `"weighted_mean"`, it holds the weights.
#' @return A numeric vector with the names of the groups, in the order of [factor()]. If `g` is a list, an array, as from [tapply()].
#'   A level or a combination that has no items gets the statistic of no items, such as the sum 0.
#' @examples
#' exact_by(c(1e300, 1, -1e300, 2), c("a", "b", "a", "b"))
#' exact_by(warpbreaks$breaks, warpbreaks[c("wool", "tension")], "mean")
#' @export
exact_by <- function(x, g, statistic = "sum", y = NULL, na.rm = FALSE, ddof = 1) {
  vectors <- if (is.list(g)) g else list(g)
  if (length(vectors) == 0 || !all(vapply(vectors, is.atomic, NA)) || any(lengths(vectors) != length(x)))
    stop("g must be a vector with as many items as x, or a list of such vectors")
  groups <- lapply(vectors, levels_of)
  names <- lapply(groups, `[[`, "names")
  size <- lengths(names)
  if (prod(size) > .Machine$integer.max) stop("g has more than 2^31 - 1 combinations of groups")
  codes <- groups[[1]]$codes
  for (i in seq_along(groups)[-1]) {
    step <- as.integer(prod(size[seq_len(i - 1)]))
    codes <- as.integer(codes) + step * (as.integer(groups[[i]]$codes) - 1L)
  }
  values <- .Call(C_groups, statistic, x, y, ddof, na.rm, codes, prod(size))
  if (is.list(g)) array(values, unname(size), names) else structure(values, names = names[[1]])
}

# Returns the names of the groups in a vector, and the number of each item's group. As in factor(), values that print alike are one group.
levels_of <- function(g) {
  if (is.factor(g)) return(list(codes = g, names = levels(g)))
  together <- order(g, method = "radix", na.last = NA)
  values <- g[together]
  ends <- which(c(values[-1] != values[-length(values)], length(values) > 0))
  values <- values[ends]
  sorted <- order(values) # strings in the locale's order
  names <- as.character(values[sorted])
  levels <- unique(names)
  number <- integer(length(values))
  number[sorted] <- match(names, levels)
  codes <- rep(NA_integer_, length(g))
  codes[together] <- rep.int(number, diff(c(0L, ends)))
  list(codes = codes, names = levels)
}
