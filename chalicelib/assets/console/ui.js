// What every page is made of: markup, loading, and the small parts that look the same everywhere.

import { h } from "./preact.module.js";
import { useCallback, useEffect, useRef, useState } from "./hooks.module.js";
import htm from "./htm.module.js";
import { t } from "./words.js";

export const html = htm.bind(h);

/** Runs a request for what a page shows; `again` runs it anew and keeps what is shown meanwhile. */
export function useLoad(load, inputs) {
  const [state, setState] = useState({ data: null, error: null });
  const latest = useRef(0);
  const again = useCallback(async () => {
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
    again();
    return () => { latest.current++; };
  }, inputs);
  return { ...state, again };
}

/** Calls `act` every so many milliseconds while `active`, and never two at the same time. */
export function useEvery(milliseconds, active, act) {
  const held = useRef(act);
  held.current = act;
  useEffect(() => {
    if (!active) return undefined;
    let timer, over = false;
    const round = async () => {
      if (!document.hidden) await held.current();
      if (!over) timer = setTimeout(round, milliseconds);
    };
    timer = setTimeout(round, milliseconds);
    return () => { over = true; clearTimeout(timer); };
  }, [milliseconds, active]);
}

/** Puts the keyboard on an element as soon as it is there. */
export function useFocus(ready = true) {
  const element = useRef(null);
  useEffect(() => { if (ready) element.current?.focus({ preventScroll: true }); }, [ready]);
  return element;
}

/** A button that cannot be pressed twice while its work goes on, and shows what went wrong. */
export function Action({ run, children, kind = "", small = false, focused = false, disabled = false, ...rest }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const element = useFocus(focused && !disabled);
  const press = async () => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try { await run(); } catch (problem) { setError(problem); } finally { setBusy(false); }
  };
  return html`<span class="action">
    <button type="button" ref=${element} class=${`button ${kind} ${small ? "small" : ""}`} onClick=${press}
      disabled=${disabled} aria-busy=${busy} ...${rest}>${children}</button>
    ${error && html`<${Problem} error=${error} />`}
  </span>`;
}

/** What went wrong, in the service's own words. */
export function Problem({ error }) {
  return html`<p class="notice bad" role="alert">${error.message}${error.detail ? ` ${error.detail}` : ""}</p>`;
}

export const Waiting = ({ text = t("wait") }) => html`<p class="waiting" role="status"><span class="spinner" aria-hidden="true"></span>${text}</p>`;

/** What a load came to: an error, a wait, or what is shown. */
export function Loaded({ of, children }) {
  if (of.data === null) return of.error ? html`<${Problem} error=${of.error} />` : html`<${Waiting} />`;
  return html`${of.error && html`<${Problem} error=${of.error} />`}${children(of.data)}`;
}

/** A bar of a share, with its words beside it. */
export function Bar({ label, value, most, text, hue }) {
  const share = most ? Math.max(0, Math.min(1, value / most)) : 0;
  return html`<div class="bar"><span class="bar-name" dir="auto" title=${label}>${label}</span>
    <span class="bar-track"><span class="bar-fill" style=${{ width: `${share * 100}%`, ...(hue === undefined ? {} : { background: colour(hue) }) }}></span></span>
    <span class="bar-text">${text}</span></div>`;
}

export function Progress({ value, label }) {
  const percent = Math.round((value || 0) * 100);
  return html`<div class="progress"><div class="progress-text"><span>${label}</span><span>${percent} %</span></div>
    <progress max="100" value=${percent} aria-label=${label}></progress></div>`;
}

/** The head of a page: its name, what leads back, and what can be done. */
export function Head({ title, back, tags = [], children }) {
  return html`<header class="head">
    ${back && html`<a class="back" href=${back.href}>${`← ${back.text}`}</a>`}
    <div class="head-row"><h1 dir="auto">${title}</h1>${tags.map((tag) => html`<span class="tag">${tag}</span>`)}
      <div class="head-actions">${children}</div></div>
  </header>`;
}

export function Field({ label, hint, children }) {
  return html`<label class="field"><span class="field-name">${label}</span>${children}${hint && html`<span class="hint">${hint}</span>`}</label>`;
}

/** The colour of the n-th label; neighbours differ much. */
export const colour = (index) => `hsl(${(index * 137.5 + 210) % 360} 55% var(--label-lightness))`;

export const number = (value) => (value ?? 0).toLocaleString("en");
export const percent = (value, digits = 0) => `${((value ?? 0) * 100).toFixed(digits)}\u00a0%`;
export const when = (text) => new Date(text).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
export const bytes = (count) => {
  const power = count ? Math.min(3, Math.floor(Math.log10(count) / 3)) : 0;
  return `${(count / 1000 ** power).toFixed(power > 1 ? 1 : 0)} ${["bytes", "kB", "MB", "GB"][power]}`;
};
export const familyOf = (type) => (type?.startsWith("text") ? "language" : "vision");
export const go = (place) => { location.hash = place; };
