# Weights and strata, stated as in the package survey. They may depend on open features only.

bcdp_design <- function(tally, strata = NULL, weights = NULL, data = NULL) {
  if (!is.null(strata)) tally$design$strata <- all.vars(strata)
  if (!is.null(weights)) {
    column <- all.vars(weights)
    if (length(column) != 1 || !column %in% names(data)) {
      stop("weights: got ", deparse(weights), "; accepted: one column of data, such as ~w", call. = FALSE)
    }
    names(data)[names(data) == column] <- "weight"
    tally$design$weights <- data
  }
  tally
}

postStratify.bcdp_tally <- function(design, strata, population, ...) {
  bcdp_rake(design, list(strata), list(population))
}

bcdp_rake <- function(tally, sample.margins, population.margins) {
  if (length(sample.margins) != length(population.margins)) {
    stop("population.margins: got ", length(population.margins), "; accepted: one for each of the ",
      length(sample.margins), " sample.margins",
      call. = FALSE
    )
  }
  tally$design$margins <- Map(population_margin, sample.margins, population.margins)
  tally
}

population_margin <- function(margin, population) {
  people <- as.data.frame(population, stringsAsFactors = FALSE)
  wanted <- c(all.vars(margin), "Freq")
  if (!setequal(names(people), wanted)) {
    stop("population: got the columns ", paste(names(people), collapse = ", "), "; accepted: ",
      paste(wanted, collapse = ", "),
      call. = FALSE
    )
  }
  names(people)[names(people) == "Freq"] <- "people"
  people
}

# The design as options of the command, its tables written to files.
design_options <- function(design, folder) {
  tables <- c(if (!is.null(design$weights)) list(design$weights), design$margins)
  files <- vapply(seq_along(tables), function(number) {
    write_records(tables[[number]], file.path(folder, paste0("weights-", number, ".csv")))
  }, "")
  options_of(weights = if (length(files)) files, strata = design$strata)
}
