// Labels with too few examples: add examples to each, merge it into another, or leave it out.

import { html, number } from "./ui.js";
import { t } from "./words.js";

export const MIN_EXAMPLES = 5;

/** Plan the change of a label, or with null none. No label is merged into one that changes itself. */
export function withChange(changes, name, change) {
  const kept = Object.entries(changes).filter(
    ([other, { into }]) => other !== name && !(change && into === name),
  );
  return Object.fromEntries(change ? [...kept, [name, change]] : kept);
}

/**
 * `changes` are the planned ones by label name: {`into`} or {`remove`}; `plan` receives new ones.
 * `add` is the address of a page that adds examples.
 */
export function WeakLabels({ weak, labels, changes, plan, add }) {
  const targets = labels.filter((name) => !changes[name]);
  const set = (name, change) => plan(withChange(changes, name, change));
  return html`
    <ul class="plain gapped weak">
      ${weak.map(
        ({ name, numExamples }) => html`
          <li class="row" key=${name}>
            <span class="weak-name"><bdi>${name}</bdi> (${number(numExamples)})</span>
            ${
              changes[name]
                ? html`
                  <span class="muted">
                    ${changes[name].remove ? t("weak.out") : t("weak.merged", { into: changes[name].into })}
                  </span>
                  <button
                    type="button"
                    class="button quiet small"
                    aria-label=${t("weak.undoNamed", { name })}
                    onClick=${() => set(name, null)}
                  >
                    ${t("browse.undo")}
                  </button>
                `
                : html`
                  ${
                    add &&
                    html`
                      <a class="button small" href=${add} aria-label=${t("weak.addNamed", { name })}>
                        ${t("dataset.add")}
                      </a>
                    `
                  }
                  <select
                    class="small"
                    aria-label=${t("weak.mergeNamed", { name })}
                    onChange=${(e) => e.target.value && set(name, { into: e.target.value })}
                  >
                    <option value="">${t("weak.merge")}</option>
                    ${targets
                      .filter((one) => one !== name)
                      .map((one) => html`<option value=${one}>${one}</option>`)}
                  </select>
                  <button
                    type="button"
                    class="button small"
                    aria-label=${t("weak.leaveNamed", { name })}
                    onClick=${() => set(name, { remove: true })}
                  >
                    ${t("weak.leave")}
                  </button>
                `
            }
          </li>
        `,
      )}
    </ul>
  `;
}
