// API keys: create them for programs, and revoke them.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { ask } from "./dialog.js";
import { Action, Field, html, Loaded, Table, useLoad, when } from "./ui.js";
import { Secret } from "./webhooks.js";
import { t } from "./words.js";

const SCOPES = ["all", "predict"];
const HEADS = ["name", "scope", "prefix", "created", "expires", "used"];

export function Keys() {
  const loaded = useLoad(async () => (await call("keys")).data, []);
  // The secret is only in this state: it is gone with the page.
  const [made, setMade] = useState(null);
  const revoke = async ({ id, name }) => {
    if (!(await ask(t("keys.sure", { name }), { action: t("keys.revoke") }))) return;
    await call("deleteKey", { variables: { key_id: id } });
    await loaded.reload();
  };
  const show = async (key) => {
    setMade(key);
    await loaded.reload();
  };
  return html`
    <p class="muted">${t("keys.lead")}</p>
    ${
      made &&
      html`
        <${Secret}
          title=${t("keys.secret")}
          lead=${t("keys.once", { name: made.name })}
          secret=${made.secret}
          close=${() => setMade(null)}
        />
      `
    }
    <${Loaded} of=${loaded}>
      ${(keys) =>
        keys.length === 0
          ? html`<p class="empty">${t("keys.none")}</p>`
          : html`
            <${Table} label=${t("settings.keys")} heads=${[...HEADS.map((name) => t(`keys.${name}`)), ""]}>
              ${keys.map(
                (key) => html`
                  <tr key=${key.id}>
                    <th scope="row" dir="auto">${key.name}</th>
                    <td>${t(`scope.${key.scope}`)}</td>
                    <td><code>${key.prefix}…</code></td>
                    <td>${when(key.createdAt)}</td>
                    <td>${key.expiresAt ? when(key.expiresAt) : t("keys.never")}</td>
                    <td>${key.lastUsedAt ? when(key.lastUsedAt) : t("keys.never")}</td>
                    <td>
                      <${Action}
                        small
                        kind="danger"
                        aria-label=${t("keys.revokeNamed", { name: key.name })}
                        run=${() => revoke(key)}
                      >
                        ${t("keys.revoke")}
                      <//>
                    </td>
                  </tr>
                `,
              )}
            <//>
          `}
    <//>
    <${NewKey} show=${show} />
  `;
}

function NewKey({ show }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState(SCOPES[0]);
  const [day, setDay] = useState("");
  const create = async () => {
    const expiresAt = day && { expiresAt: `${day}T23:59:59Z` };
    await show(await call("createKey", { json: { name: name.trim(), scope, ...expiresAt } }));
    setName("");
  };
  return html`
    <section class="card">
      <h2>${t("keys.new")}</h2>
      <${Field} label=${t("keys.name")}>
        <input value=${name} maxlength="64" onInput=${(e) => setName(e.target.value)} />
      <//>
      <div class="row">
        <${Field} label=${t("keys.scope")}>
          <select value=${scope} onChange=${(e) => setScope(e.target.value)}>
            ${SCOPES.map((one) => html`<option value=${one}>${t(`scope.${one}`)}</option>`)}
          </select>
        <//>
        <${Field} label=${t("keys.until")}>
          <input type="date" value=${day} onInput=${(e) => setDay(e.target.value)} />
        <//>
      </div>
      <${Action} kind="primary" disabled=${!name.trim()} run=${create}>${t("keys.create")}<//>
    </section>
  `;
}
