// Upload data: a file is validated and previewed before a dataset is created.

import { call } from "./api.js";
import { datasetUrl } from "./datasets.js";
import { DropZone } from "./drop.js";
import { MAX_BYTES } from "./folder.js";
import { applyChanges, removeExamples } from "./label_changes.js";
import { Preview } from "./preview.js";
import { fieldsOf, rememberTexts } from "./reading.js";
import { Action, bytes, familyOf, Field, go, Head, html, Problem, Progress } from "./ui.js";
import { useReading } from "./use_reading.js";
import { t } from "./words.js";

const TYPES = ["text-intent", "text-sentiment", "image", "image-multi-label", "image-detection"];

const TABLES_AND_ZIPS = ".csv,.tsv,.json,.jsonl,.xlsx,.zip,.txt,.yml,.yaml";

export function Upload({ query }) {
  const reading = useReading();
  const { file, type, options, parts, found } = reading;
  const create = async (name, changes, removals) => {
    const family = familyOf(type);
    const fields = { ...fieldsOf(options), ...parts.fields };
    if (query.to) {
      const variables = { family: query.family, dataset_id: query.to };
      await call("addUpload", { variables, fields, file: parts.file });
      return go(`#/dataset/${query.family}/${query.to}/uploads`);
    }
    const made = await call("upload", {
      variables: { family },
      fields: { type, name, ...fields },
      file: parts.file,
    });
    rememberTexts(made.id, options, found);
    await applyChanges(family, made, changes);
    await removeExamples(family, made, removals);
    return go(datasetUrl(made));
  };
  return html`
    <${Head}
      title=${query.to ? t("upload.add") : t("upload.title")}
      back=${{ href: "#/datasets", text: t("menu.datasets") }}
    />
    <${FileChooser} reading=${reading} kinds=${t("upload.kinds")} />
    ${
      file &&
      html`
        <${Field} label=${t("upload.type")}>
          <select value=${type} onChange=${(e) => reading.setType(e.target.value)}>
            ${TYPES.map((name) => html`<option value=${name}>${t(`type.${name}`)}</option>`)}
          </select>
        <//>
      `
    }
    <${ReadingState} reading=${reading} />
    ${
      found &&
      html`
        <${Preview} key=${file} ...${reading} busy=${reading.sent !== null} create=${create} isNew=${!query.to} />
      `
    }
  `;
}

/** Where a file, zip archive or folder is dropped. */
export function FileChooser({ reading: { file, choose }, kinds, accept = TABLES_AND_ZIPS, multiple }) {
  return html`
    <${DropZone}
      choose=${choose}
      title=${file ? html`<bdi>${file.name}</bdi> · ${bytes(file.size)}` : t("upload.drop")}
      kinds=${kinds}
      accept=${accept}
      multiple=${multiple}
      folder
      focused
    />
  `;
}

/** The progress of a reading, and its error if the preview does not show it. */
export function ReadingState({ reading: { file, found, sent, error, again } }) {
  return html`
    ${
      sent !== null &&
      html`<${Progress} value=${sent} label=${sent < 1 ? t("upload.sending") : t("upload.checking")} />`
    }
    ${error && !found?.refusal && html`<${Problem} error=${error} />`}
    ${
      error &&
      !found &&
      file &&
      file.size <= MAX_BYTES &&
      html`<${Action} kind="primary" run=${again}>${t("page.again")}<//>`
    }
  `;
}
