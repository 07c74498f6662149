# Records become reports, and reports become counts.

bcdp_privatize <- function(plan, data, file, key_file = NULL, id = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  if (missing(file)) file <- file.path(folder, "reports.csv")
  records <- write_records(data, file.path(folder, "records.csv"))
  done <- run_bcdp(c(
    "privatize", plan_file(plan, folder), records, "--output", file,
    options_of(`key-file` = key_file, `id-column` = id)
  ))
  if (!endsWith(file, ".csv")) return(invisible(done$people))
  reports <- read.csv(file, check.names = FALSE, colClasses = "character")
  counted <- names(reports) %in% c("menu", "answer")
  reports[counted] <- lapply(reports[counted], as.numeric)
  reports
}

# Data frames as CSV, in the words of the codebook: factors by their levels, labelled values by their labels.
write_records <- function(data, file) {
  if (!is.data.frame(data)) stop("data: got ", class(data)[1], "; accepted: a data frame", call. = FALSE)
  columns <- lapply(data, function(column) {
    labels <- attr(column, "labels", exact = TRUE)
    if (length(labels)) {
      known <- match(column, labels)
      text <- exact_text(unclass(column))
      text[!is.na(known)] <- names(labels)[known[!is.na(known)]]
      text
    } else if (is.logical(column)) {
      as.character(as.integer(column))
    } else if (is.list(column)) {
      vapply(column, function(items) paste(items, collapse = ";"), "")
    } else if (is.numeric(column) && is.null(attr(column, "class"))) {
      exact_text(column)
    } else {
      as.character(column)
    }
  })
  text <- as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)
  write.csv(text, file, row.names = FALSE, na = "", fileEncoding = "UTF-8")
  file
}

bcdp_tally <- function(plan, reports, file = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  counted <- if (is.data.frame(reports)) {
    given <- file.path(folder, "reports.csv")
    write.csv(reports, given, row.names = FALSE, na = "", fileEncoding = "UTF-8")
    given
  } else {
    as.character(reports)
  }
  written <- if (is.null(file)) file.path(folder, "tally.json") else file
  done <- run_bcdp(c("tally", plan_file(plan, folder), counted, "--output", written))
  new_tally(read_text(written), done$people, done$checks)
}

bcdp_read_tally <- function(file) {
  new_tally(read_text(check_path(file, "file", "the path of a tally")))
}

new_tally <- function(text, people = NULL, checks = NULL) {
  structure(list(text = text, people = people, checks = checks, design = list()), class = "bcdp_tally")
}

print.bcdp_tally <- function(x, ...) {
  cat("The counts of ", if (is.null(x$people)) "some" else format(x$people, big.mark = ","), " reports\n", sep = "")
  alarms <- names(Filter(function(check) isTRUE(check$alarm), x$checks))
  if (length(alarms)) cat("Alarm: fake reports are likely, by the tests of", paste(alarms, collapse = ", "), "\n")
  if (length(x$design$margins)) cat("Weighted to", length(x$design$margins), "margins of the population\n")
  invisible(x)
}
