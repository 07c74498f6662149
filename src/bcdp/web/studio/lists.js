/** Lists of values in one line: separated by commas, with quotes around a value that holds a comma, a quote or an outer space. */

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** Values in one line. */
export const listWritten = (values) =>
  values.map((value) => (/[,"]|^\s|\s$/.test(`${value}`) ? quoted(`${value}`) : `${value}`)).join(", ");

/** The values of a line; a quote that is not closed is a letter like any other. */
export function listRead(line) {
  const parts = line.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/g);
  return [...parts].map(([, inner, plain]) => inner?.replaceAll('""', '"') ?? plain.trim()).filter(Boolean);
}
