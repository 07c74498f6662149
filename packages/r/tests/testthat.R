library(testthat)
library(bcdp)

test_check("bcdp")
