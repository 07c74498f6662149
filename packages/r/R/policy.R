# What is asked, and how much each answer must be protected.

bcdp_policy <- function(features, epsilon, ..., tasks = NULL) {
  document <- c(list(epsilon = epsilon, features = lapply(features, feature_document)), list(...))
  if (length(tasks)) document$tasks <- lapply(unname(tasks), task_document)
  structure(list(text = to_json(document), document = document), class = "bcdp_policy")
}

# Names of a policy whose values are lists, also where there is one element only.
LISTS <- c("values", "scores", "bounds", "edges", "features", "ranges")

feature_document <- function(feature) {
  feature <- as.list(feature)
  lists <- names(feature) %in% LISTS
  feature[lists] <- lapply(feature[lists], as.list)
  lapply(feature, as_plain)
}

task_document <- function(task) {
  if (is.null(names(task))) {
    stop("tasks: got a task without a name; accepted: for example list(mean = c(\"smoker\", \"income\"))", call. = FALSE)
  }
  statistic <- names(task) %in% c("mean", "frequency", "table", "distribution")
  task[statistic] <- lapply(task[statistic], as.list)
  lapply(task, function(part) if (is.list(part) && !is.null(names(part))) feature_document(part) else part)
}

as_plain <- function(value) if (is.factor(value)) as.character(value) else value

to_json <- function(document) {
  as.character(jsonlite::toJSON(document, auto_unbox = TRUE, digits = I(17), null = "null"))
}

bcdp_features <- function(data, bounds = list(), delta = NULL) {
  unknown <- setdiff(c(names(bounds), names(delta)), names(data))
  if (length(unknown)) {
    stop("bounds, delta: got ", paste(unknown, collapse = ", "), "; accepted: columns of data", call. = FALSE)
  }
  features <- Map(function(name, column) column_feature(name, column, bounds[[name]]), names(data), data)
  for (name in names(delta)) features[[name]]$delta <- delta[[name]]
  features
}

# Levels, labels and types are the codebook's. Values that people gave are not looked at.
column_feature <- function(name, column, bounds) {
  labels <- attr(column, "labels", exact = TRUE)
  feature <- if (is.ordered(column)) {
    list(type = "ordinal", values = levels(column))
  } else if (is.factor(column)) {
    list(type = if (nlevels(column) == 2) "binary" else "categorical", values = levels(column))
  } else if (is.logical(column)) {
    list(type = "binary")
  } else if (!is.null(bounds) && is.numeric(column)) {
    list(type = "numeric", bounds = bounds)
  } else if (length(labels)) {
    list(type = if (length(labels) == 2) "binary" else "categorical", values = names(labels))
  } else if (is.numeric(column)) {
    stop(
      "bounds: ", name, " has none; accepted: two numbers that are public, such as bounds = list(", name,
      " = c(0, 100)). Those of the data would give something away.",
      call. = FALSE
    )
  } else {
    stop(name, ": got ", class(column)[1], "; accepted: factors, logical values, numbers with bounds, labelled values",
      call. = FALSE
    )
  }
  label <- attr(column, "label", exact = TRUE)
  if (length(label)) feature$label <- as.character(label)
  feature
}

print.bcdp_policy <- function(x, ...) {
  names <- names(x$document$features)
  cat("A policy for ", length(names), " features: ", paste(names, collapse = ", "), "\n", sep = "")
  cat("epsilon ", format(x$document$epsilon), " for the whole record\n", sep = "")
  invisible(x)
}
