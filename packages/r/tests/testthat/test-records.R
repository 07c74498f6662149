test_that("numbers keep every digit", {
  numbers <- c(0.1, 1 / 3, 2^53, 1e-300, pi * 1e200, -0.5, 41000)
  expect_identical(vapply(exact_text(numbers), function(text) jsonlite::fromJSON(paste0("[", text, "]")), 0,
    USE.NAMES = FALSE
  ), numbers)
  expect_identical(exact_text(c(NA, 0.5)), c("", "0.5"))
})

test_that("records are written in the words of the codebook", {
  file <- tempfile(fileext = ".csv")
  labelled <- structure(c(2, 1, 9), labels = c(no = 1, yes = 2), class = c("haven_labelled", "vctrs_vctr", "double"))
  data <- data.frame(region = factor(c("b", "a", NA)), smoker = c(TRUE, FALSE, NA), born = as.Date("2000-02-29"))
  data$drugs <- labelled
  data$media <- list(c("tv", "web"), character(0), "radio")
  write_records(data, file)
  expect_identical(readLines(file), c(
    "\"region\",\"smoker\",\"born\",\"drugs\",\"media\"",
    "\"b\",\"1\",\"2000-02-29\",\"yes\",\"tv;web\"",
    "\"a\",\"0\",\"2000-02-29\",\"no\",\"\"",
    ",,\"2000-02-29\",\"9\",\"radio\""
  ))
})

test_that("values labelled by haven become features and records", {
  skip_if_not_installed("haven")
  data <- data.frame(id = 1:2)
  data$drugs <- haven::labelled(c(2, 1), c(no = 1, yes = 2), label = "Ever taken?")
  features <- bcdp_features(data["drugs"])
  expect_identical(features$drugs, list(type = "binary", values = c("no", "yes"), label = "Ever taken?"))
  file <- tempfile(fileext = ".csv")
  write_records(data["drugs"], file)
  expect_identical(readLines(file), c("\"drugs\"", "\"yes\"", "\"no\""))
})

test_that("features come from the codebook, never from the values", {
  data <- data.frame(
    region = factor("a", levels = c("a", "b", "c")), scale = factor("low", levels = c("low", "high"), ordered = TRUE),
    smoker = TRUE, income = 5
  )
  features <- bcdp_features(data, bounds = list(income = c(0, 10)), delta = c(income = 0.5))
  expect_identical(features$region, list(type = "categorical", values = c("a", "b", "c")))
  expect_identical(features$scale, list(type = "ordinal", values = c("low", "high")))
  expect_identical(features$smoker, list(type = "binary"))
  expect_identical(features$income, list(type = "numeric", bounds = c(0, 10), delta = 0.5))
  expect_error(bcdp_features(data), "bounds: income has none")
  expect_error(bcdp_features(data, delta = c(incme = 1)), "got incme")
  expect_error(bcdp_features(data.frame(name = "Ann")), "name: got character")
})

test_that("one element stays a list where a policy has lists", {
  policy <- bcdp_policy(list(a = list(type = "binary")), epsilon = 1, tasks = list(list(mean = "a", weight = 2)))
  expect_identical(policy$text, "{\"epsilon\":1,\"features\":{\"a\":{\"type\":\"binary\"}},\"tasks\":[{\"mean\":[\"a\"],\"weight\":2}]}")
  expect_error(bcdp_policy(list(), 1, tasks = list("mean")), "a task without a name")
})
