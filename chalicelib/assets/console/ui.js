// Shared building blocks of all pages: templates, hooks, and small components.

import { h } from "./preact.module.js";
import { useCallback, useEffect, useRef, useState } from "./hooks.module.js";
import htm from "./htm.module.js";
import { t } from "./words.js";

export const html = htm.bind(h);

/** Load the data of a component. `reload` loads it again and keeps the old data until then. */
export function useLoad(load, inputs) {
  const [state, setState] = useState({ data: null, error: null });
  const latest = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++latest.current;
    try {
      const data = await load();
      if (mine === latest.current) setState({ data, error: null });
    } catch (error) {
      if (mine === latest.current) setState((old) => ({ ...old, error }));
    }
  }, inputs);
  useEffect(() => {
    setState({ data: null, error: null });
    reload();
    return () => {
      latest.current++;
    };
  }, inputs);
  return { ...state, reload };
}

/** Call `act` at an interval while `active`, never twice at the same time. */
export function useEvery(milliseconds, active, act) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!active) return undefined;
    let timer,
      over = false;
    const round = async () => {
      if (!document.hidden) await latest.current();
      if (!over) timer = setTimeout(round, milliseconds);
    };
    timer = setTimeout(round, milliseconds);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [milliseconds, active]);
}

/** Focus an element as soon as it is rendered and `ready`. */
export function useFocus(ready = true) {
  const element = useRef(null);
  useEffect(() => {
    if (ready) element.current?.focus({ preventScroll: true });
  }, [ready]);
  return element;
}

/** A button that is busy while `run` is pending, and shows its error. */
export function Action({
  run,
  children,
  kind = "",
  small = false,
  focused = false,
  disabled = false,
  ...rest
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const element = useFocus(focused && !disabled);
  const press = async () => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await run();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return html`
    <span class="action">
      <button
        type="button"
        ref=${element}
        class=${`button ${kind} ${small ? "small" : ""}`}
        onClick=${press}
        disabled=${disabled}
        aria-busy=${busy}
        ...${rest}
      >
        ${children}
      </button>
      ${error && html`<${Problem} error=${error} />`}
    </span>
  `;
}

/** An error message. */
export function Problem({ error }) {
  const detail = typeof error.detail === "string" ? error.detail : "";
  return html`<p class="notice bad" role="alert">${error.message}${detail && ` ${detail}`}</p>`;
}

const Waiting = ({ text = t("page.loading") }) => html`
  <p class="waiting" role="status"><span class="spinner" aria-hidden="true"></span>${text}</p>
`;

/** The state of a load: its error, a spinner, or its content. */
export function Loaded({ of, children }) {
  if (of.data === null) return of.error ? html`<${Problem} error=${of.error} />` : html`<${Waiting} />`;
  return html`${of.error && html`<${Problem} error=${of.error} />`}${children(of.data)}`;
}

/** A horizontal bar with its label and text. */
export function Bar({ label, value, most, text, hue }) {
  const fraction = most ? Math.max(0, Math.min(1, value / most)) : 0;
  return html`
    <div class="bar">
      <span class="bar-name" dir="auto" title=${label}>${label}</span>
      <span class="bar-track">
        <span
          class="bar-fill"
          style=${{ width: `${fraction * 100}%`, ...(hue === undefined ? {} : { background: colour(hue) }) }}
        ></span>
      </span>
      <span class="bar-text">${text}</span>
    </div>
  `;
}

export function Progress({ value, label }) {
  const percent = Math.round((value || 0) * 100);
  return html`
    <div class="progress">
      <div class="progress-text"><span>${label}</span><span>${percent} %</span></div>
      <progress max="100" value=${percent} aria-label=${label}></progress>
    </div>
  `;
}

/** The header of a page: title, back link, tags and actions. */
export function Head({ title, back, tags = [], children }) {
  return html`
    <header class="head">
      ${back && html`<a class="back" href=${back.href}>${`← ${back.text}`}</a>`}
      <div class="head-row">
        <h1 dir="auto">${title}</h1>
        ${tags.map((tag) => html`<span class="tag">${tag}</span>`)}
        <div class="head-actions">${children}</div>
      </div>
    </header>
  `;
}

/** What a page shows when there is nothing yet, with a button that changes it. */
export function Empty({ text, href, action }) {
  return html`
    <div class="empty">
      <p>${text}</p>
      <a class="button primary" href=${href}>${action}</a>
    </div>
  `;
}

export function Field({ label, hint, children }) {
  return html`
    <label class="field">
      <span class="field-name">${label}</span>
      ${children}
      ${hint && html`<span class="hint">${hint}</span>`}
    </label>
  `;
}

/** The colour of the n-th label. Steps of the golden angle keep neighbours apart. */
export const colour = (index) => `hsl(${(index * 137.5 + 210) % 360} 55% var(--label-lightness))`;

// What a call can send; the page has buttons for it.
const CALL_ONLY = / Send (?:header=[^.]*|[^.]* to be sure)\./g;
// Fields of calls that a chooser of the page sets.
const CONTROLS = /'(textColumn|labelColumn|header|delimiter|encoding|sheet)'/g;

/** Return a message of the service with the page's choosers in place of the fields of calls. */
export const nameControls = (message) =>
  message
    .replace(CALL_ONLY, "")
    .replace(/\b([Ss])end (?='(?:textColumn|labelColumn|header|delimiter|encoding|sheet)')/g, (_, s) =>
      s === "S" ? "Choose " : "choose ",
    )
    .replace(CONTROLS, (_, name) => `“${t(`control.${name}`)}”`);

/** A table that scrolls sideways on a narrow screen. `heads` are the cells of its head. */
export function Table({ label, heads, kind = "", children }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${label}>
      <table class=${kind}>
        <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
        <tbody>${children}</tbody>
      </table>
    </div>
  `;
}

export const number = (value) => (value ?? 0).toLocaleString("en");
export const percent = (value, digits = 0) => `${((value ?? 0) * 100).toFixed(digits)}\u00a0%`;
export const when = (text) =>
  new Date(text).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
export const day = (text) =>
  new Date(text).toLocaleDateString("en", { dateStyle: "medium", timeZone: "UTC" });
export const bytes = (count) => {
  const power = count ? Math.min(3, Math.floor(Math.log10(count) / 3)) : 0;
  return `${(count / 1000 ** power).toFixed(power > 1 ? 1 : 0)} ${["bytes", "kB", "MB", "GB"][power]}`;
};
export const familyOf = (type) => (type?.startsWith("text") ? "language" : "vision");
export const go = (place) => {
  location.hash = place;
};
