#' Exact statistics of moving windows
#'
#' A statistic of the window of each item. Items that leave a window are subtracted exactly: a huge, infinite or missing item leaves no
#' trace in later windows. The time of a step does not grow with the window.
#'
#' @inheritParams exact_by
#' @param n The number of items of a window.
#' @param align Where the window of an item lies: `"right"` ends with it, `"left"` begins with it, and `"center"` has it in its middle, with
#'   one item more after it than before if `n` is even, as `data.table::frollmean` and `zoo::rollapply` have it.
#' @param fill The result where a window has too few items.
#' @param min_obs The least number of items. By default a window needs a place for all of its `n` items, as in `data.table::frollmean`: the
#'   first `n - 1` results of `align = "right"` are `fill`. With a number, windows at the ends are cut off, and those with at least that many
#'   items, not counting missing ones if `na.rm` is `TRUE`, have a result. 1 is `partial = TRUE` of `zoo::rollapply`.
#' @return A numeric vector as long as `x`.
#' @examples
#' exact_rolling(c(1e20, 1, 2, 3, 4), 3)
#' exact_rolling(c(1, NA, 3, 4), 2, "mean", na.rm = TRUE, min_obs = 1)
#' exact_rolling(1:5, 3, "cor", y = c(2, 1, 4, 3, 5), align = "center")
#' @export
exact_rolling <- function(x, n, statistic = "sum", y = NULL, align = c("right", "left", "center"), na.rm = FALSE, fill = NA,
                          min_obs = NULL, ddof = 1) {
  .Call(C_windows, statistic, x, y, ddof, na.rm, n, match(match.arg(align), c("right", "left", "center")), fill, min_obs)
}
