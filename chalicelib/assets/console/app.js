// Entry point of the console: sign-in, routing by the address, and the page frame.

import { render } from "./preact.module.js";
import { useEffect, useErrorBoundary, useState } from "./hooks.module.js";
import { BASE_PATH, watchService } from "./api.js";
import { Upload } from "./upload.js";
import { Classify } from "./classify.js";
import { Compare } from "./compare.js";
import { DatasetPage } from "./dataset.js";
import { Dialogs } from "./dialog.js";
import { Datasets } from "./datasets.js";
import { ModelPage } from "./model.js";
import { Models } from "./models.js";
import { LabelNext } from "./label_next.js";
import { restoreSession, session, takeTokenFromAddress } from "./session.js";
import { Settings } from "./settings.js";
import { LinkOffer, SignIn } from "./sign_in.js";
import { Try } from "./try.js";
import { html } from "./ui.js";
import { Usage } from "./usage.js";
import { t } from "./words.js";

const PAGES = {
  datasets: Datasets,
  upload: Upload,
  dataset: DatasetPage,
  models: Models,
  model: ModelPage,
  compare: Compare,
  next: LabelNext,
  try: Try,
  classify: Classify,
  usage: Usage,
  settings: Settings,
};
const MENU = ["datasets", "models", "try", "classify", "usage", "settings"];
const WITHIN = {
  upload: "datasets",
  dataset: "datasets",
  model: "models",
  compare: "models",
  next: "models",
};
const THEMES = ["auto", "light", "dark"];

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // malformed
  }
}

/** Split the address after `#` into page name, path parts and query. */
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  return {
    name: Object.hasOwn(PAGES, name) ? name : "datasets",
    rest,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function useAddress() {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
    const change = () => {
      takeTokenFromAddress();
      setAddress(readAddress());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return address;
}

function Theme() {
  const [theme, setTheme] = useState(() => document.documentElement.dataset.theme ?? "auto");
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const switchTheme = () => {
    setTheme(next);
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
  };
  return html`
    <button type="button" class="button quiet small" onClick=${switchTheme}>${t(`theme.${theme}`)}</button>
  `;
}

function Frame({ address, children }) {
  const shown = WITHIN[address.name] ?? address.name;
  return html`
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick=${(e) => {
          e.preventDefault();
          document.getElementById("main").focus();
        }}
      >
        ${t("frame.skip")}
      </a>
      <aside class="side">
        <p class="brand"><span class="mark" aria-hidden="true"></span>Presage</p>
        <nav aria-label=${t("frame.menu")}>
          ${MENU.map(
            (name) => html`
              <a href=${`#/${name}`} class="menu" aria-current=${shown === name ? "page" : undefined}>
                <span class=${`icon ${name}`} aria-hidden="true"></span>
                ${t(`menu.${name}`)}
              </a>
            `,
          )}
        </nav>
        <div class="side-foot">
          ${session.email && html`<p class="muted small cut" title=${session.email}>${session.email}</p>`}
          <a class="small" href=${`${BASE_PATH}/v2/docs`}>${t("frame.docs")}</a>
          <${Theme} />
          <button type="button" class="button quiet small" onClick=${() => session.signOut()}>
            ${t("frame.signOut")}
          </button>
        </div>
      </aside>
      <main id="main" tabindex="-1">${children}</main>
    </div>
  `;
}

/** The current page. An error in it leaves the frame usable. */
function Page({ address }) {
  const [error, retry] = useErrorBoundary((problem) => console.error(problem));
  if (error)
    return html`
      <div class="card">
        <h1>${t("page.broken")}</h1>
        <p>${String(error)}</p>
        <button type="button" class="button" onClick=${retry}>${t("page.again")}</button>
      </div>
    `;
  const Content = PAGES[address.name];
  return html`<${Content} rest=${address.rest} query=${address.query} />`;
}

function App() {
  const address = useAddress();
  const [, redraw] = useState(0);
  const [isUnreachable, setUnreachable] = useState(false);
  useEffect(() => watchService(setUnreachable), []);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    session.listeners.add(listener);
    return () => session.listeners.delete(listener);
  }, []);
  const banner = isUnreachable && html`<p class="banner" role="alert">${t("network.unreachable")}</p>`;
  // After the page, which sets the focus: the dialog then gives it back.
  const offer = session.offered && html`<${LinkOffer} key=${session.offered} />`;
  if (!session.token) return html`${banner}<${SignIn} />${offer}`;
  // When the token expires the page stays mounted but hidden, so that its unsaved state survives the new sign-in.
  return html`
    ${banner}
    <div hidden=${session.expired}>
      <${Frame} address=${address}>
        <${Page} key=${`${session.account}/${address.name}/${address.rest.slice(0, 2)}`} address=${address} />
      <//>
    </div>
    <${Dialogs} />
    ${session.expired && html`<${SignIn} />`}
    ${offer}
  `;
}

const root = document.getElementById("app");
// A file that is dropped next to a drop zone must not replace the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
restoreSession();
takeTokenFromAddress();
// Without this the placeholder, which is seen before the scripts, can stay below the page.
root.replaceChildren();
render(html`<${App} />`, root);
