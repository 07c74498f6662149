# Counts become estimates with confidence intervals, as a tidy data frame.

bcdp_estimate <- function(plan, tally, level = 0.95, by = NULL, liars = NULL) {
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  table <- file.path(folder, "estimates.csv")
  document <- run_bcdp(c(
    "estimate", plan_file(plan, folder), tally_file(tally, folder), "--output", table,
    options_of(level = level, liars = liars, by = if (inherits(by, "formula")) all.vars(by) else by),
    if (inherits(tally, "bcdp_tally")) design_options(tally$design, folder)
  ))
  structure(
    list(
      rows = read_rows(table), document = document, level = level,
      again = list(plan = plan, tally = tally, by = by, liars = liars)
    ),
    class = "bcdp_estimates"
  )
}

tally_file <- function(tally, folder) {
  if (!inherits(tally, "bcdp_tally")) return(check_path(tally, "tally", "a tally by bcdp_tally(), or its file"))
  write_text(tally$text, file.path(folder, "tally.json"))
}

TIDY <- c(value = "estimate", se = "std.error", low = "conf.low", high = "conf.high")

# Numbers are parsed as JSON, which rounds correctly; R's own reader may miss the last digit.
read_rows <- function(file) {
  rows <- read.csv(file, colClasses = "character", encoding = "UTF-8", check.names = FALSE, na.strings = NULL)
  numeric <- intersect(c(names(TIDY), "answers", "moved"), names(rows))
  rows[numeric] <- lapply(rows[numeric], function(column) {
    text <- paste(ifelse(nzchar(column), column, "null"), collapse = ",")
    as.numeric(jsonlite::fromJSON(paste0("[", text, "]")))
  })
  renamed <- names(rows) %in% names(TIDY)
  names(rows)[renamed] <- TIDY[names(rows)[renamed]]
  rows
}

as.data.frame.bcdp_estimates <- function(x, ...) x$rows

print.bcdp_estimates <- function(x, digits = 4, ...) {
  cat("Estimates from ", format(x$document$people, big.mark = ","), " reports, with ", format(100 * x$level),
    "% confidence intervals\n",
    sep = ""
  )
  for (about in unique(x$rows$about)) {
    rows <- x$rows[x$rows$about == about, c("name", TIDY)]
    cat("\n", about, "\n", sep = "")
    print(readable(rows, digits), row.names = FALSE)
  }
  invisible(x)
}

summary.bcdp_estimates <- function(object, ...) {
  worth <- worth_of(object$document)
  rows <- object$rows
  rows$open_people <- worth$open_people[match(paste(rows$about, rows$name), worth$key)]
  rows
}

# How many openly asked people would have the same standard error, for means and frequencies.
worth_of <- function(document) {
  means <- document$means
  keys <- paste("Means", names(means))
  worth <- numbers_of(means, "open_people")
  for (feature in names(document$frequencies)) {
    values <- document$frequencies[[feature]]
    keys <- c(keys, paste(feature, names(values)))
    worth <- c(worth, numbers_of(values, "open_people"))
  }
  data.frame(key = keys, open_people = worth)
}

coef.bcdp_estimates <- function(object, ...) setNames(object$rows$estimate, row_names(object$rows))

row_names <- function(rows) {
  repeated <- rows$name %in% rows$name[duplicated(rows$name)]
  ifelse(repeated, paste(rows$about, rows$name, sep = ": "), rows$name)
}

confint.bcdp_estimates <- function(object, parm, level = object$level, ...) {
  if (level != object$level) object <- do.call(bcdp_estimate, c(object$again, level = level))
  ends <- as.matrix(object$rows[c("conf.low", "conf.high")])
  dimnames(ends) <- list(
    row_names(object$rows),
    paste(format(100 * c((1 - level) / 2, (1 + level) / 2), trim = TRUE, digits = 3), "%")
  )
  if (missing(parm)) ends else ends[parm, , drop = FALSE]
}

# One panel for each section, because sections have units of their own; an interval for each row.
plot.bcdp_estimates <- function(x, about = unique(x$rows$about), ...) {
  panels <- split(x$rows, factor(x$rows$about, unique(x$rows$about)))[about]
  # every mean has its own unit
  means <- panels[["Means"]]
  if (!is.null(means) && nrow(means) > 1) {
    each <- split(means, factor(means$name, unique(means$name)))
    panels <- c(each, panels[names(panels) != "Means"])
  }
  before <- par(
    mfrow = c(length(panels), 1), oma = c(0, 0, 2, 0),
    mar = c(2.5, 2 + max(nchar(x$rows$name)) / 1.8, 2, 1)
  )
  on.exit(par(before))
  for (title in names(panels)) draw_panel(panels[[title]], title)
  graphics::mtext(paste0("Estimates with ", format(100 * x$level), "% confidence intervals"), outer = TRUE, font = 2)
  invisible(x)
}

draw_panel <- function(rows, title) {
  rows <- rows[is.finite(rows$estimate), ]
  height <- rev(seq_len(nrow(rows)))
  ends <- range(rows$conf.low, rows$conf.high, rows$estimate, na.rm = TRUE)
  plot(rows$estimate, height,
    xlim = ends, ylim = c(0.5, nrow(rows) + 0.5), pch = 19, yaxt = "n", xlab = "", ylab = "", main = title
  )
  abline(v = 0, lty = 3, col = "grey50")
  segments(rows$conf.low, height, rows$conf.high, height, lwd = 2)
  axis(2, at = height, labels = rows$name, las = 1, tick = FALSE)
}
