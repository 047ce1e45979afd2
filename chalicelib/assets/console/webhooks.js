// Webhooks: create, test and delete them, and see their deliveries.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { ask } from "./dialog.js";
import { Action, Field, html, Loaded, number, Table, useEvery, useLoad, when } from "./ui.js";
import { t } from "./words.js";

const EVENTS = [
  "dataset.ready",
  "dataset.failed",
  "training.succeeded",
  "training.failed",
  "deletion.done",
  "batch.done",
  "batch.failed",
  "export.ready",
  "quota.80",
  "quota.100",
];
const POLL_MILLISECONDS = 1500;

export function Webhooks() {
  const loaded = useLoad(async () => (await call("webhooks")).data, []);
  const [secret, setSecret] = useState(null);
  const showSecret = async (hook) => {
    setSecret(hook);
    await loaded.reload();
  };
  return html`
    <p class="muted">${t("webhooks.lead")}</p>
    ${
      secret &&
      html`
        <${Secret}
          title=${t("webhooks.secret")}
          lead=${t("webhooks.once", { url: secret.url })}
          secret=${secret.secret}
          close=${() => setSecret(null)}
        />
      `
    }
    <${Loaded} of=${loaded}>
      ${(hooks) => html`
        ${hooks.length === 0 && html`<p class="empty">${t("webhooks.none")}</p>`}
        <ul class="rows">
          ${hooks.map(
            (hook) => html`
              <${Webhook} key=${hook.id} hook=${hook} showSecret=${showSecret} reload=${loaded.reload} />
            `,
          )}
        </ul>
      `}
    <//>
    <${NewWebhook} showSecret=${showSecret} />
  `;
}

/** A secret. The service returns it only once. */
export function Secret({ title, lead, secret, close }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return html`
    <section class="card" role="status">
      <h2>${title}</h2>
      <p>${lead}</p>
      <pre tabindex="0" dir="ltr">${secret}</pre>
      <div class="row">
        <${Action} run=${copy}>${copied ? t("snippet.copied") : t("snippet.copy")}<//>
        <button type="button" class="button" onClick=${close}>${t("webhooks.saved")}</button>
      </div>
    </section>
  `;
}

function Webhook({ hook, showSecret, reload }) {
  const variables = { webhook_id: hook.id };
  const [open, setOpen] = useState(false);
  const [sent, setSent] = useState(0);
  const remove = async () => {
    const question = t("webhooks.sure", { url: hook.url });
    if (!(await ask(question, { action: t("webhooks.delete") }))) return;
    await call("deleteWebhook", { variables });
    await reload();
  };
  const rotate = async () => {
    if (await ask(t("webhooks.rotateSure"), { action: t("webhooks.rotate") }))
      await showSecret(await call("rotateWebhook", { variables }));
  };
  const enable = async () => {
    await call("changeWebhook", { variables, json: { enabled: hook.status === "DISABLED" } });
    await reload();
  };
  const test = async () => {
    await call("testWebhook", { variables });
    setOpen(true);
    setSent(sent + 1);
  };
  return html`
    <li class="card">
      <h2><bdi class="wrap">${hook.url}</bdi></h2>
      <p>
        <span class=${`tag ${hook.status === "DISABLED" ? "FAILED" : ""}`}>${t(`hook.${hook.status}`)}</span>
        ${" "}
        ${hook.description && html`<span dir="auto">${hook.description}</span>`}
      </p>
      <p class="muted small">${hook.events.join(", ")} · ${when(hook.createdAt)}</p>
      ${hook.failureMsg && html`<p class="notice bad">${hook.failureMsg}</p>`}
      <div class="row">
        <${Action} small run=${test}>${t("webhooks.test")}<//>
        <button type="button" class="button small" aria-expanded=${open} onClick=${() => setOpen(!open)}>
          ${t("webhooks.deliveries")}
        </button>
        <${Action} small run=${rotate}>${t("webhooks.rotate")}<//>
        <${Action} small run=${enable}>
          ${hook.status === "DISABLED" ? t("webhooks.enable") : t("webhooks.disable")}
        <//>
        <${Action} small kind="danger" run=${remove}>${t("webhooks.delete")}<//>
      </div>
      ${open && html`<${Deliveries} variables=${variables} sent=${sent} />`}
    </li>
  `;
}

/** The deliveries of a webhook, newest first. */
function Deliveries({ variables, sent }) {
  const loaded = useLoad(
    async () => (await call("deliveries", { variables })).data,
    [variables.webhook_id, sent],
  );
  useEvery(
    POLL_MILLISECONDS,
    (loaded.data ?? []).some((one) => one.status === "PENDING"),
    loaded.reload,
  );
  return html`
    <${Loaded} of=${loaded}>
      ${(found) =>
        found.length === 0
          ? html`<p class="empty">${t("webhooks.nothing")}</p>`
          : html`
            <${Table}
              label=${t("webhooks.deliveries")}
              heads=${["event", "status", "attempts", "when", "cause"].map((name) => t(`delivery.${name}`))}
            >
                  ${found.map(
                    (one) => html`
                      <tr>
                        <th scope="row">${one.event}</th>
                        <td>${t(`delivery.${one.status}`)}</td>
                        <td>${number(one.attempts)}</td>
                        <td>${when(one.createdAt)}</td>
                        <td>
                          ${one.failureMsg ?? one.responseStatus ?? "–"}
                          ${
                            one.nextAttemptAt &&
                            html`
                          ${" "}
                          <span class="muted small">
                            ${t("delivery.next", { when: when(one.nextAttemptAt) })}
                          </span>
                        `
                          }
                        </td>
                      </tr>
                    `,
                  )}
            <//>
          `}
    <//>
  `;
}

function NewWebhook({ showSecret }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState(["dataset.ready", "training.succeeded", "training.failed"]);
  const toggle = (name) =>
    setEvents(
      events.includes(name)
        ? events.filter((one) => one !== name)
        : EVENTS.filter((one) => one === name || events.includes(one)),
    );
  const create = async () => {
    await showSecret(
      await call("createWebhook", { json: { url: url.trim(), events, ...(description && { description }) } }),
    );
    setUrl("");
    setDescription("");
  };
  return html`
    <section class="card">
      <h2>${t("webhooks.new")}</h2>
      <${Field} label=${t("webhooks.url")} hint=${t("webhooks.urlHint")}>
        <input type="url" value=${url} onInput=${(e) => setUrl(e.target.value)} />
      <//>
      <${Field} label=${t("webhooks.description")}>
        <input value=${description} maxlength="180" onInput=${(e) => setDescription(e.target.value)} />
      <//>
      <fieldset class="checks">
        <legend>${t("webhooks.events")}</legend>
        ${EVENTS.map(
          (name) => html`
            <label>
              <input type="checkbox" checked=${events.includes(name)} onChange=${() => toggle(name)} /> ${name}
            </label>
          `,
        )}
      </fieldset>
      <${Action} kind="primary" disabled=${!url.trim() || !events.length} run=${create}>
        ${t("webhooks.create")}
      <//>
    </section>
  `;
}
