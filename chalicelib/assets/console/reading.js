// How a table is read: what a person chose, the form fields that say so, and the columns' roles.

const ROLES = { text: "textColumn", label: "labelColumn" };

/** Name a column for a call: by its name if no other column has it, else by its position. */
function reference(column, columns) {
  const isUnique = columns.filter((one) => one.name === column.name).length === 1;
  return column.name && isUnique ? column.name : String(column.position);
}

// Names of the text columns of datasets that were created on this page, by id.
const textsOfDatasets = new Map();

/** Remember which columns hold the texts of a dataset, for other files of its kind. */
export function rememberTexts(datasetId, options, found) {
  const of = rolesOf(options, found);
  const names = found.columns.filter(({ position }) => of[position] === "text").map(({ name }) => name);
  textsOfDatasets.set(String(datasetId), names);
}

/** Return the roles of the columns that held the texts of a dataset, or null if a column is missing. */
export function recallTexts(datasetId, { columns }) {
  const names = textsOfDatasets.get(String(datasetId)) ?? [];
  const found = columns.filter(({ name }) => name && names.includes(name));
  if (!names.length || found.length < names.length) return null;
  return Object.fromEntries(found.map(({ position }) => [position, "text"]));
}

/** Return the form fields of the options that a person chose. */
export function fieldsOf({ roles, ...fields }) {
  if (!roles) return fields;
  const names = (role) =>
    roles.columns
      .filter((one) => roles.of[one.position] === role)
      .map((one) => reference(one, roles.columns));
  const texts = names("text"),
    [label = ""] = names("label");
  return {
    ...fields,
    // A list also where it has one name: a name may contain commas.
    [ROLES.text]: texts.length > 1 ? JSON.stringify(texts) : (texts[0] ?? ""),
    [ROLES.label]: label,
  };
}

/** Return the positions of the columns that the format of an answer names. */
function positions(value, columns) {
  const find = (name) => columns.find((one) => one.name === name || String(one.position) === String(name));
  const one = find(value);
  if (one) return [one.position];
  return String(value ?? "")
    .split(", ")
    .map((name) => find(name)?.position)
    .filter(Boolean);
}

/** Return the role of each column by position: those that were chosen, else those that were recognised. */
export function rolesOf({ roles }, { columns, format }) {
  if (roles) return roles.of;
  const found = {};
  for (const [role, field] of Object.entries(ROLES))
    for (const position of positions(format?.[field], columns)) found[position] = role;
  return found;
}

/** Return the options with a column's role set. Only one column holds the labels. */
export function withRole(options, found, position, role) {
  const of = { ...rolesOf(options, found) };
  if (role === "label") for (const key of Object.keys(of)) if (of[key] === "label") delete of[key];
  if (role) of[position] = role;
  else delete of[position];
  return { ...options, roles: { of, columns: found.columns } };
}

/** Return the options with another field. The roles are chosen again: the columns may be others. */
export const withField = (options, name, value) => ({ ...options, roles: undefined, [name]: value });
