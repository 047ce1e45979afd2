// The labels of a dataset with their counts: rename, merge and remove them.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { ask } from "./dialog.js";
import { Action, Bar, Field, html, number } from "./ui.js";
import { t } from "./words.js";

export function Labels({ dataset, variables, reload }) {
  const labels = dataset.labelSummary.labels;
  const most = Math.max(...labels.map((label) => label.numExamples), 1);
  const [chosen, setChosen] = useState(null);
  const done = () => {
    setChosen(null);
    reload();
  };
  return html`
    <ul class="rows plain">
      ${labels.map(
        (label, index) => html`
          <li class="label-row" key=${label.id}>
            <${Bar}
              label=${label.name}
              value=${label.numExamples}
              most=${most}
              text=${number(label.numExamples)}
              hue=${index}
            />
            <button
              type="button"
              class="button quiet small"
              aria-expanded=${chosen === label.id}
              aria-label=${t("labels.changeNamed", { name: label.name })}
              onClick=${() => setChosen(chosen === label.id ? null : label.id)}
            >
              ${t("labels.change")}
            </button>
            ${
              chosen === label.id &&
              html`
                <${LabelChange}
                  label=${label}
                  others=${labels.filter((one) => one.id !== label.id)}
                  variables=${{ ...variables, label_id: label.id }}
                  done=${done}
                />
              `
            }
          </li>
        `,
      )}
    </ul>
  `;
}

function LabelChange({ label, others, variables, done }) {
  const [name, setName] = useState(label.name);
  const [into, setInto] = useState("");
  const rename = async () => {
    await call("changeLabel", { variables, json: { name } });
    done();
  };
  const merge = async () => {
    await call("changeLabel", { variables, json: { mergeInto: Number(into) } });
    done();
  };
  const remove = async () => {
    const question = t("labels.sure", { name: label.name, count: number(label.numExamples) });
    if (!(await ask(question, { action: t("labels.remove") }))) return;
    await call("removeLabel", { variables });
    done();
  };
  return html`
    <div class="card inset">
      <div class="row">
        <${Field} label=${t("labels.name")}>
          <input value=${name} onInput=${(e) => setName(e.target.value)} />
        <//>
        <${Action} disabled=${!name || name === label.name} run=${rename}>${t("labels.rename")}<//>
      </div>
      <div class="row">
        <${Field} label=${t("labels.into")}>
          <select value=${into} onChange=${(e) => setInto(e.target.value)}>
            <option value="">${t("labels.choose")}</option>
            ${others.map((one) => html`<option value=${one.id}>${one.name}</option>`)}
          </select>
        <//>
        <${Action} disabled=${!into} run=${merge}>${t("labels.merge")}<//>
      </div>
      <${Action} kind="danger" run=${remove}>${t("labels.remove")}<//>
    </div>
  `;
}
