// Sign in: with the key file, which stays in this page, or with a token.

import { useState } from "./hooks.module.js";
import { session, signInWithKey } from "./session.js";
import { t } from "./words.js";
import { Field, html, Problem, useFocus } from "./ui.js";

const MOST_MINUTES = 5;

/** The service tells nobody why it refuses a signature; a wrong clock can be seen, the others are named. */
function causeOf({ date }) {
  const minutes = Math.round((Date.now() - date) / 60_000);
  if (minutes > MOST_MINUTES) return t("signIn.ahead", { minutes });
  if (minutes < -MOST_MINUTES) return t("signIn.behind", { minutes: -minutes });
  return t("signIn.refused");
}

export function SignIn() {
  const [email, setEmail] = useState(session.email);
  const [pem, setPem] = useState("");
  const [token, setToken] = useState("");
  const [way, setWay] = useState("key");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const first = useFocus();
  const enter = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (way === "token") session.enter(token.trim());
      else await signInWithKey(email.trim(), pem);
    } catch (problem) {
      setError(problem.status === 400 || problem.status === 401 ? { message: causeOf(problem), detail: problem.message } : problem);
    } finally { setBusy(false); }
  };
  const take = async (file) => { if (file) setPem(await file.text()); };
  return html`<main class="sign-in" tabindex="-1"><form class="card" onSubmit=${enter}>
    <p class="brand"><span class="mark" aria-hidden="true"></span>Presage</p>
    <h1>${session.expired ? t("signIn.again") : t("signIn.title")}</h1>
    <p class="muted">${session.expired ? t("signIn.expired") : t("signIn.lead")}</p>
    <div class="switch" role="group" aria-label=${t("signIn.way")}>
      ${["key", "token"].map((name) => html`<button type="button" aria-pressed=${way === name} onClick=${() => setWay(name)}>${t(`signIn.${name}`)}</button>`)}
    </div>
    ${way === "key" ? html`
      <${Field} label=${t("signIn.email")}><input type="email" required autocomplete="username" ref=${first} value=${email} onInput=${(e) => setEmail(e.target.value)} /><//>
      <${Field} label=${t("signIn.file")} hint=${t("signIn.fileHint")}><input type="file" accept=".pem,.key,.txt" required onChange=${(e) => take(e.target.files[0])} /><//>`
    : html`<${Field} label=${t("signIn.token")} hint=${t("signIn.tokenHint")}><input type="password" required autocomplete="off" value=${token} onInput=${(e) => setToken(e.target.value)} /><//>`}
    <button class="button primary wide" disabled=${busy}>${t("signIn.enter")}</button>
    ${error && html`<${Problem} error=${error} />`}
    <p class="muted small">${t("signIn.local")}</p>
  </form></main>`;
}
