# How every device answers, with the proof of what that protects.

bcdp_plan <- function(policy, users = 10000, file = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  stated <- if (inherits(policy, "bcdp_policy")) {
    write_text(policy$text, file.path(folder, "policy.yaml"))
  } else {
    check_path(policy, "policy", "a policy by bcdp_policy(), or the path of a YAML file")
  }
  written <- if (is.null(file)) file.path(folder, "plan.json") else file
  summary <- run_bcdp(c("plan", stated, "--output", written, "--users", exact_text(users)))
  new_plan(read_text(written), summary)
}

bcdp_read_plan <- function(file) {
  new_plan(read_text(check_path(file, "file", "the path of a plan")))
}

new_plan <- function(text, summary = NULL) {
  structure(list(text = text, summary = summary), class = "bcdp_plan")
}

check_path <- function(path, name, accepted) {
  if (!is.character(path) || length(path) != 1) {
    stop(name, ": got ", class(path)[1], "; accepted: ", accepted, call. = FALSE)
  }
  path
}

# The plan as a file in a folder that is removed after the call.
plan_file <- function(plan, folder) {
  if (is.character(plan)) return(check_path(plan, "plan", "a plan by bcdp_plan(), or its file"))
  if (!inherits(plan, "bcdp_plan")) {
    stop("plan: got ", class(plan)[1], "; accepted: a plan by bcdp_plan(), or its file", call. = FALSE)
  }
  write_text(plan$text, file.path(folder, "plan.json"))
}

summary.bcdp_plan <- function(object, ...) {
  features <- object$summary$features
  if (is.null(features)) return(bcdp_verify(object)$features)
  data.frame(
    feature = names(features),
    delta_demanded = numbers_of(features, "asked"),
    delta_certified = numbers_of(features, "certified"),
    at_twice = numbers_of(features, "certified_at_twice"),
    nothing_assumed = numbers_of(features, "certified_with_nothing_assumed"),
    std.error = numbers_of(features, "standard_error"),
    open_people = numbers_of(features, "open_people"),
    condition = vapply(features, function(feature) feature$condition, ""),
    row.names = NULL
  )
}

numbers_of <- function(rows, name) {
  vapply(rows, function(row) if (is.null(row[[name]])) NA_real_ else as.numeric(row[[name]]), 0, USE.NAMES = FALSE)
}

print.bcdp_plan <- function(x, ...) {
  features <- summary(x)
  users <- x$summary$users
  cat("A plan for ", nrow(features), " features", sep = "")
  if (length(users)) cat("; standard errors for ", format(users, big.mark = ","), " people", sep = "")
  cat("\n\n")
  letters_of <- match(features$condition, unique(features$condition))
  shown <- readable(features[names(features) != "condition"])
  shown$note <- paste0("[", letters[letters_of], "]")
  print(shown, row.names = FALSE, right = TRUE)
  cat("\nEach delta_certified holds on its condition:\n")
  for (each in seq_along(unique(features$condition))) {
    cat(strwrap(paste0("[", letters[each], "] ", unique(features$condition)[each]), exdent = 4), sep = "\n")
  }
  invisible(x)
}

# Numbers of a table in their own sizes: columns mix shares and amounts.
readable <- function(rows, digits = 4) {
  numeric <- vapply(rows, is.numeric, TRUE)
  rows[numeric] <- lapply(rows[numeric], function(column) {
    ifelse(is.na(column), "", formatC(column, digits = digits, format = "fg", big.mark = ",", width = 1))
  })
  rows
}
