// The label palette of a review: choose a label by number key, search or click.

import { useState } from "./hooks.module.js";
import { colour, html } from "./ui.js";
import { t } from "./words.js";

const MAX_LABELS = 30;
const KEYS = [
  ["j k", "move"],
  ["1–9", "label"],
  ["/", "search"],
  ["Space", "choose"],
  ["x", "remove"],
  ["u", "undo"],
];
const SUSPECT_KEYS = [
  ["a", "accept"],
  ["s", "keep"],
  ["t", "train"],
];
const NEW_KEYS = [
  ["j k", "move"],
  ["1–9", "label"],
  ["/", "search"],
  ["a", "accept"],
  ["s", "skip"],
  ["u", "undo"],
];

export function Palette({
  labels,
  search,
  assign,
  leave,
  isSuspects,
  isNew,
  accept,
  keep,
  remove,
  undo,
  example,
  edit,
}) {
  const [wanted, setWanted] = useState("");
  const found = labels
    .map((label, index) => [label, index])
    .filter(([label]) => label.name.toLowerCase().includes(wanted.toLowerCase()));
  const press = (event) => {
    if (event.key === "Escape") {
      setWanted("");
      leave();
    }
    if (event.key === "Enter" && found.length) {
      event.preventDefault();
      setWanted("");
      assign(found[0][0]);
    }
  };
  return html`
    <aside class="palette" aria-label=${t("palette.title")}>
      ${
        (isSuspects || isNew) &&
        html`
          <div class="row">
            <button type="button" class="button primary small" disabled=${!example} onClick=${accept}>
              ${t("key.accept")} <kbd>a</kbd>
            </button>
            <button type="button" class="button small" disabled=${!example} onClick=${keep}>
              ${isNew ? t("key.skip") : t("key.keep")} <kbd>s</kbd>
            </button>
          </div>
        `
      }
      <div class="row">
        ${
          remove &&
          html`
            <button type="button" class="button small" disabled=${!example} onClick=${remove}>
              ${t("key.remove")} <kbd>x</kbd>
            </button>
          `
        }
        <button type="button" class="button small" onClick=${undo}>${t("key.undo")} <kbd>u</kbd></button>
        ${
          edit &&
          html`
            <button type="button" class="button small" disabled=${!example} onClick=${edit}>
              ${t("key.boxes")} <kbd>b</kbd>
            </button>
          `
        }
      </div>
      <input
        type="search"
        ref=${search}
        value=${wanted}
        placeholder=${t("palette.search")}
        aria-label=${t("palette.search")}
        onInput=${(e) => setWanted(e.target.value)}
        onKeyDown=${press}
      />
      <ul class="plain palette-list">
        ${found.slice(0, MAX_LABELS).map(
          ([label, index]) => html`
            <li key=${label.id}>
              <button
                type="button"
                class=${`palette-label ${example?.label?.id === label.id ? "present" : ""}`}
                aria-pressed=${example?.label?.id === label.id}
                onClick=${() => assign(label)}
              >
                <span class="dot" style=${{ background: colour(index) }}></span>
                <span class="cut" dir="auto">${label.name}</span>
                ${index < 9 && html`<kbd>${index + 1}</kbd>`}
              </button>
            </li>
          `,
        )}
      </ul>
      <dl class="keys">
        ${(isNew ? NEW_KEYS : [...KEYS, ...(isSuspects ? SUSPECT_KEYS : [])]).map(
          ([key, name]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${t(`key.${name}`)}</dd></div>`,
        )}
      </dl>
    </aside>
  `;
}
