// A place to drop files, or to choose them by a button.

import { useState } from "./hooks.module.js";
import { listDropped, withPath } from "./folder.js";
import { html, useFocus } from "./ui.js";
import { t } from "./words.js";

/** `choose` receives the files with their paths; with `folder` a folder can be chosen too, with `multiple` several. */
export function DropZone({
  choose,
  title,
  kinds,
  accept,
  multiple = false,
  folder = false,
  focused = false,
}) {
  const [over, setOver] = useState(false);
  const first = useFocus(focused);
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    choose(await listDropped(event.dataTransfer));
  };
  // A second choice of the same file is reported only if the input was emptied.
  const pick = ({ target }) => {
    const files = [...target.files].map(withPath);
    target.value = "";
    choose(files);
  };
  return html`
    <div
      class=${`drop ${over ? "over" : ""}`}
      onDragOver=${(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave=${() => setOver(false)}
      onDrop=${drop}
    >
      <p class="drop-title">${title}</p>
      ${kinds && html`<p class="muted small">${kinds}</p>`}
      <div class="row">
        <label class=${`button ${folder ? "primary" : ""}`}>
          ${t("upload.choose")}
          <input
            ref=${first}
            class="hidden-input"
            type="file"
            accept=${accept}
            multiple=${multiple}
            onChange=${pick}
          />
        </label>
        ${
          folder &&
          html`
            <label class="button">
              ${t("upload.folder")}
              <input class="hidden-input" type="file" webkitdirectory onChange=${pick} />
            </label>
          `
        }
      </div>
    </div>
  `;
}
