# A page that explains a collection, how many people it takes, and whether a plan keeps its promises.

bcdp_report <- function(plan, tally = NULL, file = "report.html", level = 0.95, users = NULL, liars = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  run_bcdp(c(
    "report", plan_file(plan, folder), if (!is.null(tally)) tally_file(tally, folder), "--output", file,
    options_of(level = level, users = users, liars = liars)
  ))
  invisible(file)
}

bcdp_power <- function(plan, se = NULL, people = NULL, guess = NULL, against = NULL, power = NULL, share = NULL,
                       level = 0.95) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  named <- function(numbers) if (length(numbers)) paste0(names(numbers), "=", exact_text(unname(unlist(numbers))))
  document <- run_bcdp(c(
    "power", plan_file(plan, folder),
    options_of(
      se = se, people = people, guess = named(guess), against = named(against), power = power, share = share,
      confidence = level
    )
  ))
  rows <- document$numbers
  columns <- unique(unlist(lapply(rows, names)))
  as.data.frame(setNames(lapply(columns, function(column) {
    unlist(lapply(rows, function(row) if (is.null(row[[column]])) NA else row[[column]]))
  }), columns))
}

bcdp_verify <- function(plan, max_epsilon = NULL, max_delta = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  limits <- if (length(max_delta)) paste0(names(max_delta), "=", exact_text(unname(unlist(max_delta))))
  document <- run_bcdp(
    c("verify", plan_file(plan, folder), options_of(`max-epsilon` = max_epsilon, `max-delta` = limits)),
    status = c(0L, 1L)
  )
  features <- document$features
  structure(
    list(
      holds = attr(document, "code") == 0L,
      epsilon = document$epsilon$level,
      features = data.frame(
        feature = names(features),
        delta_certified = numbers_of(features, "delta"),
        limit = numbers_of(features, "limit"),
        condition = vapply(features, function(feature) feature$condition, ""),
        row.names = NULL
      ),
      objections = unlist(document$objections)
    ),
    class = "bcdp_verified"
  )
}

print.bcdp_verified <- function(x, ...) {
  cat(
    if (x$holds) "The plan keeps its claims and the stated limits" else "The plan does not keep its claims or limits",
    "; epsilon ", format(x$epsilon, digits = 4), " for the whole record\n\n",
    sep = ""
  )
  print(readable(x$features[c("feature", "delta_certified", "limit")]), row.names = FALSE)
  cat("\nConditions are in $features.\n")
  if (length(x$objections)) cat(strwrap(x$objections, exdent = 2), sep = "\n")
  invisible(x)
}
