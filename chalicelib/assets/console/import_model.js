// Imports a model that another installation exported.

import { useState } from "./hooks.module.js";
import { call, uploadIfLarge } from "./api.js";
import { Action, familyOf, Field, go, html, Progress } from "./ui.js";
import { listZip } from "./unzip.js";
import { t } from "./words.js";

/** Return the family of the model in an archive. Where nothing names a type, the service says what is wrong. */
async function readFamily(file) {
  try {
    const entry = (await listZip(file)).find(({ path }) => path === "model.json");
    return familyOf(JSON.parse(await (await entry.open()).text()).type);
  } catch {
    return "language";
  }
}

export function ImportModel() {
  const [file, setFile] = useState(null);
  const [name, setName] = useState("");
  const [sent, setSent] = useState(null);
  const choose = ([chosen]) => {
    setFile(chosen ?? null);
    if (chosen) setName(chosen.name.replace(/\.zip$/i, ""));
  };
  const start = async () => {
    try {
      const family = await readFamily(file);
      setSent(0);
      const source = await uploadIfLarge(file, setSent);
      const fields = { name: name.trim(), ...source.fields };
      const options = { variables: { family }, fields, file: source.file, onProgress: setSent };
      const model = await call("importModel", options);
      go(`#/model/${family}/${model.modelId}`);
    } finally {
      setSent(null);
    }
  };
  return html`
    <details class="card">
      <summary><h2>${t("import.title")}</h2></summary>
      <p class="muted">${t("import.lead")}</p>
      <div class="row">
        <${Field} label=${t("import.file")}>
          <input type="file" accept=".zip" onChange=${(e) => choose(e.target.files)} />
        <//>
        <${Field} label=${t("import.name")}>
          <input value=${name} maxlength="180" onInput=${(e) => setName(e.target.value)} />
        <//>
      </div>
      <${Action} kind="primary" disabled=${!file || !name.trim()} run=${start}>${t("import.start")}<//>
      ${sent !== null && html`<${Progress} value=${sent} label=${t("upload.sending")} />`}
    </details>
  `;
}
