// The sign-in form: with a key file, which never leaves the browser, or with a token.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Dialog } from "./dialog.js";
import { session, signInWithKey } from "./session.js";
import { t } from "./words.js";
import { Field, html, Loaded, Problem, useFocus, useLoad } from "./ui.js";

const MAX_CLOCK_MINUTES = 5;

/** Guess why a sign-in was refused: a wrong clock is visible by the answer's date. */
function explainRefusal({ date }) {
  const minutes = Math.round((Date.now() - date) / 60_000);
  if (minutes > MAX_CLOCK_MINUTES) return t("signIn.ahead", { minutes });
  if (minutes < -MAX_CLOCK_MINUTES) return t("signIn.behind", { minutes: -minutes });
  return t("signIn.refused");
}

const questionOf = (from, to) => t(from && from !== to ? "offer.switch" : "offer.signIn", { from, to });

/** Ask whether to use a link's token; "No" has the focus. */
export function LinkOffer() {
  const { offered, token, email } = session;
  const close = () => session.offer("");
  const loaded = useLoad(async () => {
    const to = await call("whoami", { token: offered });
    return { to, from: token && (await call("whoami", { token }).catch(() => ({ email }))) };
  }, []);
  const use = ({ from, to }) => {
    close();
    session.signIn(offered, to.email, null, from && from.email !== to.email);
  };
  return html`
    <${Dialog} label=${t("offer.title")} close=${close}>
      ${
        loaded.error?.status === 401
          ? html`
            <h2>${t("offer.expired")}</h2>
            <p role="alert">${t("offer.expiredWhy")}</p>
            <button class="button" onClick=${close}>${token ? t("offer.stay") : t("offer.other")}</button>
          `
          : html`
            <${Loaded} of=${loaded}>
              ${({ from, to }) => html`
                <h2>${questionOf(from.email, to.email)}</h2>
                <p>${t("offer.why")}</p>
              `}
            <//>
            <div class="row">
              <button class="button" onClick=${close}>${t("offer.no")}</button>
              ${
                loaded.data &&
                html`<button class="button" onClick=${() => use(loaded.data)}>${t("offer.yes")}</button>`
              }
            </div>
          `
      }
    <//>
  `;
}

export function SignIn() {
  const [email, setEmail] = useState(session.email);
  const [pem, setPem] = useState("");
  const [token, setToken] = useState("");
  const [method, setMethod] = useState("key");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const first = useFocus();
  const enter = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (method === "token") session.signIn(token.trim());
      else await signInWithKey(email.trim(), pem);
    } catch (problem) {
      setError(
        problem.status === 400 || problem.status === 401
          ? { message: explainRefusal(problem), detail: problem.message }
          : problem,
      );
    } finally {
      setBusy(false);
    }
  };
  const readFile = async (file) => {
    if (file) setPem(await file.text());
  };
  return html`
    <main class="sign-in" tabindex="-1">
      <form class="card" onSubmit=${enter}>
        <p class="brand"><span class="mark" aria-hidden="true"></span>Presage</p>
        <h1>${session.expired ? t("signIn.again") : t("signIn.title")}</h1>
        <p class="muted">${session.expired ? t("signIn.expired") : t("signIn.lead")}</p>
        <div class="switch" role="group" aria-label=${t("signIn.method")}>
          ${["key", "token"].map(
            (name) => html`
              <button type="button" aria-pressed=${method === name} onClick=${() => setMethod(name)}>
                ${t(`signIn.${name}`)}
              </button>
            `,
          )}
        </div>
        ${
          method === "key"
            ? html`
              <${Field} label=${t("signIn.email")}>
                <input
                  type="email"
                  required
                  autocomplete="username"
                  ref=${first}
                  value=${email}
                  onInput=${(e) => setEmail(e.target.value)}
                />
              <//>
              <${Field} label=${t("signIn.file")} hint=${t("signIn.fileHint")}>
                <input
                  type="file"
                  accept=".pem,.key,.txt"
                  required
                  onChange=${(e) => readFile(e.target.files[0])}
                />
              <//>
            `
            : html`
              <${Field} label=${t("signIn.token")} hint=${t("signIn.tokenHint")}>
                <input
                  type="password"
                  required
                  autocomplete="off"
                  value=${token}
                  onInput=${(e) => setToken(e.target.value)}
                />
              <//>
            `
        }
        <button class="button primary wide" disabled=${busy}>${t("signIn.enter")}</button>
        ${error && html`<${Problem} error=${error} />`}
        <p class="muted small">${t("signIn.local")}</p>
      </form>
    </main>
  `;
}
