#' Exact statistics of moving windows
#'
#' Computes a statistic of the window of each item. Items that leave a window are subtracted exactly, so a huge, infinite or missing item
#' leaves no trace in later windows. The time per item does not grow with the size of the window.
#'
#' @inheritParams exact_by
#' @param n The number of items in a window.
#' @param align Where an item's window is. It ends with the item (`"right"`), begins with it (`"left"`), or has it in the middle (`"center"`).
#'   If `n` is even, `"center"` has one item more after it than before it, as in `data.table::frollmean` and `zoo::rollapply`.
#' @param fill The result for windows with too few items.
#' @param min_obs The minimum number of items in a window. By default, all `n` items must be in `x`, as in `data.table::frollmean`, so the
#'   first `n - 1` results of `align = "right"` are `fill`. With a number, windows at the ends may be shorter, but need at least this number
#'   of items. If `na.rm` is `TRUE`, missing items are not counted. 1 is like `partial = TRUE` in `zoo::rollapply`.
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
