// The warnings of a preview. Each has buttons that fix it; what a person accepts is shown in short.

import { useState } from "./hooks.module.js";
import { rolesOf, withField } from "./reading.js";
import { familyOf, html, nameControls } from "./ui.js";
import { withChange } from "./weak_labels.js";
import { t } from "./words.js";

/** Names of the delimiters in calls. */
export const DELIMITERS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe" };
const MAX_SHEETS = 5;
// What programs that do not know UTF-8 write most.
const STRAY_ENCODING = "windows-1252";
const SPLIT = /^(train|valid|val|test)/i;
const FORMAT = /^\w+$/;
const TABLE = /\.csv$/i;
// Texts with several labels are found in the page, so only in datasets of up to this many examples.
const MAX_COMPARED = 20_000;
const CONTROL = /\p{Cc}/gu;
const SHOWN_CHARACTERS = 100;
// As the service splits them: the semicolon of an HTML entity separates nothing.
const LISTED = /(?<!&(?:amp|lt|gt|quot|#39));|\|/;

/** Split a label that looks like a list. */
const partsOf = (label, between) =>
  label
    .split(between)
    .map((part) => part.trim())
    .filter(Boolean);

/**
 * `fix` has what was `found`, the `options` and `type` and what changes them, and the planned changes: of labels in
 * `changes` and `plan`, of examples in `removals` and `setRemovals`.
 */
export function Warnings(fix) {
  const [accepted, setAccepted] = useState({});
  const accept = (warning, undo) => () =>
    setAccepted((old) => ({ ...old, [warning.message]: undo ?? (() => {}) }));
  const reopen = ({ message }) => {
    accepted[message]();
    setAccepted(({ [message]: _undone, ...others }) => others);
  };
  const isOpen = ({ code, places }) =>
    code !== "labelsAlmostEqual" || !fix.isNew || !places.every((place) => isMerged(place, fix));
  return fix.found.warnings.filter(isOpen).map((warning) =>
    accepted[warning.message]
      ? html`
        <div class="notice row" key=${warning.message}>
          <span>✓ ${nameControls(warning.message.split(/[:;.] /)[0])}</span>
          <button type="button" class="button quiet small" onClick=${() => reopen(warning)}>${t("browse.undo")}</button>
        </div>
      `
      : html`<${Warning} key=${warning.message} warning=${warning} accept=${accept} fix=${fix} />`,
  );
}

function Warning({ warning, accept, fix }) {
  const fixes = (FIXES[warning.code]?.(warning, fix) ?? []).filter(({ if: isOffered = true }) => isOffered);
  const press =
    ({ run, undo }) =>
    ({ currentTarget }) => {
      // The button may disappear, so the focus moves to the next warning, or to what creates the dataset.
      const notice = currentTarget.closest(".notice");
      const next = notice.nextElementSibling?.querySelector("button");
      (next ?? notice.parentElement.querySelector(".primary"))?.focus();
      run();
      if (undo) accept(warning, undo)();
    };
  return html`
    <div class="notice warn">
      <p>${nameControls(warning.message)}</p>
      ${
        // The places of a guessed encoding are the encodings that the buttons name.
        warning.places.length > 0 &&
        warning.code !== "encodingGuessed" &&
        html`
          <details class="small">
            <summary>${t("warning.places")}</summary>
            <ul class="plain">
              ${warning.places.map((place) => html`<li><bdi>${place}</bdi></li>`)}
            </ul>
          </details>
        `
      }
      <div class="row">
        ${fixes.map(
          (one) =>
            html`<button type="button" class="button small" onClick=${press(one)}>${one.text}</button>`,
        )}
        <button type="button" class="button small" onClick=${accept(warning)}>
          ${t(isLeftOut(warning) ? "fix.leaveOut" : "fix.keep")}
        </button>
      </div>
    </div>
  `;
}

/** Return whether the service has left out already what a warning is about. */
const isLeftOut = ({ code, places }) =>
  ["manyDuplicates", "entitiesIgnored"].includes(code) || (code === "missingLabel" && !places.length);

const currentRoles = ({ options, found }) => ({ of: rolesOf(options, found), columns: found.columns });

function confirmColumns(_warning, fix) {
  return [
    {
      text: t("fix.columns"),
      run: () => fix.change({ ...fix.options, roles: currentRoles(fix) }),
      if: fix.found.columns.length > 0,
    },
    ...swapColumns(_warning, fix),
  ];
}

function swapColumns(_warning, fix) {
  const { of, columns } = currentRoles(fix);
  const swapped = Object.fromEntries(
    Object.entries(of).map(([position, role]) => [position, role === "text" ? "label" : "text"]),
  );
  const isPair = Object.values(of).sort().join() === "label,text";
  return [
    {
      text: t("fix.swap"),
      run: () => fix.change({ ...fix.options, roles: { of: swapped, columns } }),
      if: isPair,
    },
  ];
}

function chooseHeader(_warning, { found, options, change }) {
  const row = String(Math.max(1, (found.preview[0]?.row ?? 2) - 1));
  const set = (value) => () => change(withField(options, "header", value));
  return [
    { text: t("fix.header"), run: set(row) },
    { text: t("fix.data"), run: set("false") },
  ];
}

function chooseFormat({ places }, { found, options, change, type, setType }) {
  const use = (format) => ({
    text: t("fix.use", { name: format }),
    run: () => change({ ...options, format }),
  });
  const isFolders = found.format.kind === "zipFolders" && type !== "image-detection";
  // The places are the formats that the archive has, or files and lines.
  if (!isFolders) return places.filter((place) => FORMAT.test(place)).map(use);
  return [
    { text: t("fix.boxes"), run: () => setType("image-detection"), if: isFolders },
    { ...use("zipFolders"), text: t("fix.folders"), if: isFolders },
  ];
}

function splitLabels({ places }, { found, options, change, changes, plan, type, setType, isNew }) {
  if (familyOf(type) === "vision") {
    const labelSeparator = (LISTED.exec(places[0]) ?? /,/.exec(places[0]))?.[0] ?? "|";
    const split = { ...options, labelSeparator };
    const run = () => (type === "image-multi-label" ? change(split) : setType("image-multi-label", split));
    return [{ text: t("fix.split", { separator: labelSeparator }), run }];
  }
  // Commas separate only where no place has another separator.
  const between = places.some((place) => LISTED.test(place)) ? LISTED : /,/;
  const lists = found.labels.map(({ name }) => name).filter((name) => partsOf(name, between).length > 1);
  const first = (all) =>
    lists.reduce((planned, name) => withChange(planned, name, { into: partsOf(name, between)[0] }), all);
  const undo = () => plan((all) => lists.reduce((planned, name) => withChange(planned, name, null), all));
  return [{ text: t("fix.first"), run: () => plan(first(changes)), undo, if: isNew }];
}

function leaveOutLabels({ places }, { changes, plan, isNew }) {
  return places.map((name) => ({
    text: t("fix.remove", { name }),
    run: () => plan(withChange(changes, name, { remove: true })),
    if: isNew && !changes[name],
  }));
}

function mergeLabels({ places }, { found, changes, plan, isNew }) {
  return places
    .map((place) => pairOf(place, found.labels))
    .filter((pair) => isNew && pair && !pair.some((name) => changes[name]))
    .map(([rare, common]) => ({
      text: t("fix.merge", { rare, common }),
      run: () => plan(withChange(changes, rare, { into: common })),
    }));
}

/** Return whether one of two labels is planned to be merged or left out. */
const isMerged = (place, { found, changes }) =>
  pairOf(place, found.labels)?.some((name) => changes[name]) ?? false;

/** Leave out the examples that a warning is about, as soon as the dataset is created. */
function leaveOutExamples({ code, places }, { found, setRemovals, isNew }) {
  const set = (isPlanned) => () => setRemovals((old) => ({ ...old, [code]: isPlanned && places }));
  return [
    {
      text: t(`fix.${code}`),
      run: set(true),
      undo: set(false),
      if: isNew && (code !== "contradictingTexts" || found.kept <= MAX_COMPARED),
    },
  ];
}

/** Return a path as the service shows it: printable, and with only its end if it is long. */
function shownPath(path) {
  const shown = [...path.replace(CONTROL, "\ufffd")];
  return shown.length > SHOWN_CHARACTERS ? `…${shown.slice(1 - SHOWN_CHARACTERS).join("")}` : shown.join("");
}

/** Leave the images that a warning lists out of the archive; a place is a path, or `path: label`. */
function leaveOutImages({ places }, { found, options, leaveOut }) {
  const isListed = (path) => {
    const shown = shownPath(path);
    return places.some((place) => place === shown || place.startsWith(`${shown}: `));
  };
  return [
    {
      text: t("fix.images", { count: places.length }),
      run: () => leaveOut(isListed),
      if: hasPlainNames(found, options),
    },
  ];
}

function chooseFolders({ places }, { found, options, leaveOut, ...fix }) {
  const isPlain = hasPlainNames(found, options);
  const isTable = places.some((place) => TABLE.test(place));
  const parts = (isTable ? [] : places).map((place) => ({
    text: t("fix.remove", { name: place }),
    run: () => leaveOut((path) => path.startsWith(`${place}/`)),
    if: isPlain,
  }));
  const labels = found.labels.map(({ name }) => name).filter((name) => SPLIT.test(name));
  return [
    ...parts.slice(0, MAX_SHEETS),
    {
      text: t("fix.folders"),
      run: () => leaveOut((path) => TABLE.test(path)),
      if: isPlain && isTable,
    },
    ...(places.length ? [] : leaveOutLabels({ places: labels }, fix)),
  ];
}

/** Return whether the names of an archive's files are UTF-8, so that it can be packed again. */
const hasPlainNames = ({ warnings }, { encoding }) =>
  !encoding && !warnings.some(({ code }) => code === "encodingGuessed");

function separateCells(_warning, { found, options, change }) {
  const { columns, format } = found;
  const last = columns.at(-1)?.position;
  return [
    {
      text: t("fix.outer", { last }),
      run: () => change({ ...options, roles: { of: { 1: "text", [last]: "label" }, columns } }),
      if: last > 2 && rolesOf(options, found)[1] === "text",
    },
    ...Object.entries(DELIMITERS)
      .filter(([character]) => character !== format.delimiter)
      .map(([, name]) => ({
        text: t("fix.use", { name: t(`delimiter.${name}`) }),
        run: () => change({ ...options, delimiter: name }),
      })),
  ];
}

// The fixes by code: each returns buttons, with `text`, `run` and, for plans that can be taken back, `undo`.
const FIXES = {
  columnsGuessed: confirmColumns,
  columnsSwapped: confirmColumns,
  labelPerText: swapColumns,
  headerGuessed: chooseHeader,
  formatGuessed: chooseFormat,
  severalLabels: splitLabels,
  missingLabel: leaveOutLabels,
  labelsAlmostEqual: mergeLabels,
  boxesCut: leaveOutImages,
  rotatedImages: leaveOutImages,
  splitFolders: chooseFolders,
  cellsJoined: separateCells,
  encodingMixed: (_warning, { options, change }) => [
    {
      text: t("fix.use", { name: STRAY_ENCODING }),
      run: () => change({ ...options, encoding: STRAY_ENCODING }),
    },
  ],
  textsCut: leaveOutExamples,
  missingText: leaveOutExamples,
  tinyBoxes: leaveOutExamples,
  contradictingTexts: leaveOutExamples,
  encodingGuessed: ({ places }, { options, change }) =>
    places.map((name) => ({
      text: t("fix.use", { name }),
      run: () => change({ ...options, encoding: name }),
    })),
  delimiterGuessed: (_warning, { found, options, change }) => {
    const name = DELIMITERS[found.format.delimiter];
    return [
      {
        text: t("fix.use", { name: t(`delimiter.${name}`) }),
        run: () => change({ ...options, delimiter: name }),
      },
    ];
  },
  sheetGuessed: (_warning, { found, options, change }) =>
    found.sheets.slice(0, MAX_SHEETS).map(({ name }) => ({
      text: t("fix.use", { name }),
      run: () => change(withField(options, "sheet", name)),
    })),
};

/** Return the two labels of a place such as `billing / Billing`; the names may contain slashes. */
function pairOf(place, labels) {
  const names = new Set(labels.map((label) => label.name));
  const parts = place.split(" / ");
  for (let at = 1; at < parts.length; at++) {
    const pair = [parts.slice(0, at).join(" / "), parts.slice(at).join(" / ")];
    if (pair.every((name) => names.has(name))) return pair;
  }
  return null;
}
