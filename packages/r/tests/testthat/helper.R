skip_without_bcdp <- function() {
  if (identical(Sys.getenv("CI"), "true")) bcdp_command()
  skip_if(!nzchar(Sys.which("bcdp")), "the command bcdp is not installed")
}

survey_policy <- function() {
  bcdp_policy(
    list(
      ill = list(type = "binary"), income = list(type = "numeric", bounds = c(0, 100)),
      region = list(type = "open", values = c("n", "s"))
    ),
    epsilon = 8, tasks = list(list(mean = c("ill", "income")))
  )
}

# planned once for all tests
planned <- new.env()
survey_plan <- function() {
  if (is.null(planned$plan)) planned$plan <- bcdp_plan(survey_policy(), users = 4000)
  planned$plan
}
