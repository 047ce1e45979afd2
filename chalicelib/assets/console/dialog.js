// Dialogs in the page: questions that a person confirms, or answers with a name.

import { useEffect, useRef, useState } from "./hooks.module.js";
import { Field, html } from "./ui.js";
import { t } from "./words.js";

let show = null;

/** A modal dialog. Escape closes it; then what had the focus before has it again. */
export function Dialog({ label, close, children }) {
  const dialog = useRef(null);
  const isOpen = useRef(true);
  useEffect(() => {
    const node = dialog.current;
    node.showModal();
    return () => {
      isOpen.current = false;
      node.close();
    };
  }, []);
  const closed = () => isOpen.current && close();
  return html`<dialog ref=${dialog} class="card" aria-label=${label} onClose=${closed}>${children}</dialog>`;
}

/** Open a dialog. `content` renders it, given what closes it with a result; return that result. */
export function openDialog(content) {
  return new Promise((answer) => show({ content, answer }));
}

/**
 * Ask a question. Return whether it was confirmed, or, given a `value` to edit, the new value or null.
 * `action` is the text of the button that confirms.
 */
export function ask(question, options) {
  return openDialog((end) => html`<${Question} question=${question} ...${options} end=${end} />`);
}

/** Shows the dialogs that are opened. The page has one. */
export function Dialogs() {
  const [open, setOpen] = useState(null);
  useEffect(() => {
    show = setOpen;
  }, []);
  const end = (result) => {
    open.answer(result);
    setOpen(null);
  };
  return open && open.content(end);
}

function Question({ question, action, value, end }) {
  const hasValue = value !== undefined;
  const [text, setText] = useState(value);
  const cancel = () => end(hasValue ? null : false);
  const confirm = (event) => {
    event.preventDefault();
    end(hasValue ? text.trim() || null : true);
  };
  const no = html`<button type="button" class="button" onClick=${cancel}>${t("dialog.cancel")}</button>`;
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
          ${!hasValue && no}
          <button class=${`button ${hasValue ? "primary" : "danger"}`}>${action}</button>
          ${hasValue && no}
        </div>
      </form>
    <//>
  `;
}
