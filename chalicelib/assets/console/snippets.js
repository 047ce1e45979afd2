// The last call as curl or Python code to copy, and its answer.

import { useState } from "./hooks.module.js";
import { address } from "./api.js";
import { html } from "./ui.js";
import { t } from "./words.js";

const KINDS = ["curl", "python", "json"];

const quoteForShell = (text) => `'${String(text).replace(/'/g, "'\\''")}'`;

/** Write the call as a curl command. The token is in a variable, so that it is not copied into scripts. */
function asCurl(name, fields, file) {
  const { url } = address(name);
  const parts = Object.entries(fields).map(
    ([key, value]) => `  --form-string ${quoteForShell(`${key}=${value}`)}`,
  );
  if (file) parts.push(`  -F ${quoteForShell(`sampleContent=@"${file.replace(/["\\]/g, "\\$&")}"`)}`);
  return [
    `curl -H "Authorization: Bearer $TOKEN"`,
    ...parts,
    `  ${quoteForShell(location.origin + url)}`,
  ].join(" \\\n");
}

function asPython(name, fields, file) {
  const { url } = address(name);
  const data = Object.entries(fields).map(
    ([key, value]) => `        ${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  );
  return [
    "import os",
    "import httpx",
    "",
    "answer = httpx.post(",
    `    ${JSON.stringify(location.origin + url)},`,
    `    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},`,
    "    data={",
    ...data,
    "    },",
    ...(file ? [`    files={"sampleContent": open(${JSON.stringify(file)}, "rb")},`] : []),
    "    timeout=60,",
    ")",
    "print(answer.json())",
  ].join("\n");
}

export function Snippets({ call, fields, file, answer }) {
  const [kind, setKind] = useState("curl");
  const [copied, setCopied] = useState(false);
  const text =
    kind === "json"
      ? JSON.stringify(answer, null, 2)
      : (kind === "curl" ? asCurl : asPython)(call, fields, file);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return html`
    <section class="card">
      <div class="row">
        <div class="switch" role="group" aria-label=${t("snippet.title")}>
          ${KINDS.map(
            (name) => html`
              <button type="button" aria-pressed=${kind === name} onClick=${() => setKind(name)}>
                ${t(`snippet.${name}`)}
              </button>
            `,
          )}
        </div>
        <button type="button" class="button small" onClick=${copy}>
          ${copied ? t("snippet.copied") : t("snippet.copy")}
        </button>
      </div>
      <pre tabindex="0" dir="ltr">${text}</pre>
    </section>
  `;
}
