// Dialogs in the page: questions that a person confirms, or answers with a name.

import { useEffect, useRef, useState } from "./hooks.module.js";
import { Field, html } from "./ui.js";
import { t } from "./words.js";

let show = null;

/** A modal dialog. Escape closes it. */
export function Dialog({ label, close, children }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} class="card" aria-label=${label} onClose=${close}>${children}</dialog>`;
}

/**
 * Ask a question. Return whether it was confirmed, or, given a `value` to edit, the new value or null.
 * `action` is the text of the button that confirms.
 */
export function ask(question, { action, value, danger = true } = {}) {
  return new Promise((answer) => show({ question, action, value, danger, answer }));
}

/** Shows the questions of `ask`. The page has one. */
export function Questions() {
  const [asked, setAsked] = useState(null);
  useEffect(() => {
    show = setAsked;
  }, []);
  return asked && html`<${Question} key=${asked.question} ...${asked} done=${() => setAsked(null)} />`;
}

function Question({ question, action, value, danger, answer, done }) {
  const hasValue = value !== undefined;
  const [text, setText] = useState(value);
  const end = (result) => {
    answer(result);
    done();
  };
  const cancel = () => end(hasValue ? null : false);
  const confirm = (event) => {
    event.preventDefault();
    end(hasValue ? text.trim() || null : true);
  };
  return html`
    <${Dialog} label=${question} close=${cancel}>
      <form onSubmit=${confirm}>
        ${
          hasValue
            ? html`
              <${Field} label=${question}>
                <input value=${text} maxlength="180" onInput=${(e) => setText(e.target.value)} />
              <//>
            `
            : html`<p dir="auto">${question}</p>`
        }
        <div class="row">
          ${!hasValue && html`<button type="button" class="button" onClick=${cancel}>${t("dialog.cancel")}</button>`}
          <button class=${`button ${danger && !hasValue ? "danger" : "primary"}`}>${action}</button>
          ${hasValue && html`<button type="button" class="button" onClick=${cancel}>${t("dialog.cancel")}</button>`}
        </div>
      </form>
    <//>
  `;
}
