# Everything that protects people, and every number, comes from the command `bcdp`. This file finds and runs it.

bcdp_command <- function() {
  candidates <- c(getOption("bcdp.command", ""), Sys.getenv("BCDP_COMMAND"), Sys.which("bcdp"))
  given <- candidates[nzchar(candidates)]
  if (length(given) == 0 || !nzchar(Sys.which(given[1]))) {
    stop(
      if (length(given)) paste0("There is no command ", given[1], ". ") else "The command bcdp is not installed. ",
      "Install it with Python 3.11 or newer: create an environment with `python3 -m venv bcdp-env`, then run ",
      "`bcdp-env/bin/pip install .` in a clone of the project. Then state where it is: ",
      "options(bcdp.command = \"bcdp-env/bin/bcdp\").",
      call. = FALSE
    )
  }
  unname(given[1])
}

# Runs one command in a private folder, which is removed afterwards, and returns its JSON document. `status` lists exit
# codes that are results rather than errors.
run_bcdp <- function(arguments, status = 0L) {
  output <- tempfile("bcdp-output-")
  errors <- tempfile("bcdp-errors-")
  on.exit(unlink(c(output, errors)))
  code <- system2(bcdp_command(), shQuote(c(arguments, "--json")),
    stdout = output, stderr = errors, env = "LD_LIBRARY_PATH=" # R's own libraries need not fit Python
  )
  said <- readLines(errors, encoding = "UTF-8", warn = FALSE)
  if (!code %in% status) {
    stop(paste(utils::tail(sub("^bcdp: ", "", said), 20), collapse = "\n"), call. = FALSE)
  }
  notes <- sub("^note: ", "", said[startsWith(said, "note: ")])
  if (length(notes)) message(paste(notes, collapse = "\n"))
  structure(
    jsonlite::fromJSON(paste(readLines(output, encoding = "UTF-8", warn = FALSE), collapse = "\n"),
      simplifyVector = FALSE
    ),
    code = code
  )
}

# A folder for the files of one call, which only this user can read: records are written there.
private_folder <- function() {
  before <- Sys.umask("077")
  on.exit(Sys.umask(before))
  folder <- tempfile("bcdp-")
  dir.create(folder)
  folder
}

write_text <- function(text, file) {
  connection <- base::file(file, open = "wb")
  on.exit(close(connection))
  writeBin(charToRaw(enc2utf8(text)), connection)
  file
}

read_text <- function(file) {
  if (!file.exists(file)) stop("There is no file ", file, ".", call. = FALSE)
  text <- readChar(file, file.size(file), useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  text
}

# Option and value for everything that is stated.
options_of <- function(...) {
  stated <- Filter(Negate(is.null), list(...))
  unlist(Map(function(name, values) as.vector(rbind(paste0("--", name), exact_text(values))), names(stated), stated),
    use.names = FALSE
  )
}

# Numbers with all their digits: what R prints has 15, a double up to 17.
exact_text <- function(values) {
  if (!is.numeric(values)) return(enc2utf8(as.character(values)))
  known <- !is.na(values)
  text <- character(length(values))
  text[known] <- formatC(values[known], digits = 15, format = "g", width = 1)
  lossy <- known
  lossy[known] <- as.numeric(text[known]) != values[known]
  text[lossy] <- formatC(values[lossy], digits = 17, format = "g", width = 1)
  text
}
