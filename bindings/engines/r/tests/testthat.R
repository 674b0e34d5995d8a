library(testthat)
library(treefold)

test_check("treefold")
