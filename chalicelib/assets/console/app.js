// Starts the console: who is signed in, which page the address names, and the frame around it.

import { render } from "./preact.module.js";
import { useEffect, useErrorBoundary, useState } from "./hooks.module.js";
import { PLACE, watchService } from "./api.js";
import { Bring } from "./bring.js";
import { Compare } from "./compare.js";
import { DatasetPage } from "./dataset.js";
import { Datasets } from "./datasets.js";
import { ModelPage } from "./model.js";
import { Models } from "./models.js";
import { Next } from "./next.js";
import { session, tokenFromAddress } from "./session.js";
import { SignIn } from "./sign_in.js";
import { Try } from "./try.js";
import { html } from "./ui.js";
import { Usage } from "./usage.js";
import { Webhooks } from "./webhooks.js";
import { t } from "./words.js";

const PAGES = { datasets: Datasets, bring: Bring, dataset: DatasetPage, models: Models, model: ModelPage, compare: Compare, next: Next, try: Try, usage: Usage, webhooks: Webhooks };
const MENU = ["datasets", "models", "try", "usage"];
const WITHIN = { bring: "datasets", dataset: "datasets", model: "models", compare: "models", next: "models", webhooks: "usage" };
const THEMES = ["auto", "light", "dark"];

/** Splits the address behind # into the page's name, what it shows, and its options. */
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  return { name: name in PAGES ? name : "datasets", rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

function useAddress() {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const change = () => { tokenFromAddress(); setAddress(readAddress()); scrollTo(0, 0); };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return address;
}

function Theme() {
  const [theme, setTheme] = useState(() => document.documentElement.dataset.theme ?? "auto");
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const turn = () => {
    setTheme(next);
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
  };
  return html`<button type="button" class="button quiet small" onClick=${turn}>${t(`theme.${theme}`)}</button>`;
}

function Frame({ address, children }) {
  const shown = WITHIN[address.name] ?? address.name;
  return html`<div class="frame">
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById("main").focus(); }}>${t("frame.skip")}</a>
    <aside class="side">
      <p class="brand"><span class="mark" aria-hidden="true"></span>Presage</p>
      <nav aria-label=${t("frame.menu")}>${MENU.map((name) => html`
        <a href=${`#/${name}`} class="menu" aria-current=${shown === name ? "page" : undefined}><span class=${`icon ${name}`} aria-hidden="true"></span>${t(`menu.${name}`)}</a>`)}
      </nav>
      <div class="side-foot">
        ${session.email && html`<p class="muted small cut" title=${session.email}>${session.email}</p>`}
        <a class="small" href=${`${PLACE}/v2/docs`}>${t("frame.docs")}</a>
        <${Theme} />
        <button type="button" class="button quiet small" onClick=${() => session.leave()}>${t("frame.signOut")}</button>
      </div>
    </aside>
    <main id="main" tabindex="-1">${children}</main>
  </div>`;
}

/** A page; what nobody foresaw in it leaves the frame standing. */
function Page({ address }) {
  const [error, again] = useErrorBoundary((problem) => console.error(problem));
  if (error) return html`<div class="card"><h1>${t("page.broken")}</h1><p>${String(error)}</p><button type="button" class="button" onClick=${again}>${t("page.again")}</button></div>`;
  const Shown = PAGES[address.name];
  return html`<${Shown} rest=${address.rest} query=${address.query} />`;
}

function App() {
  const address = useAddress();
  const [, redraw] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => watchService(setLost), []);
  useEffect(() => {
    const told = () => redraw((count) => count + 1);
    session.listeners.add(told);
    return () => session.listeners.delete(told);
  }, []);
  const lost = isLost && html`<p class="banner" role="alert">${t("network.gone")}</p>`;
  if (!session.token) return html`${lost}<${SignIn} />`;
  // A page whose token died stays as it was, below the question for a new one.
  return html`${lost}
    <div hidden=${session.expired}><${Frame} address=${address}><${Page} key=${`${address.name}/${address.rest.slice(0, 2)}`} address=${address} /><//></div>
    ${session.expired && html`<${SignIn} />`}`;
}

tokenFromAddress();
render(html`<${App} />`, document.getElementById("app"));
