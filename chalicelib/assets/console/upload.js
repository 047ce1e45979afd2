// Upload data: a file is validated and previewed before a dataset is created.

import { useRef, useState } from "./hooks.module.js";
import { call, uploadIfLarge } from "./api.js";
import { datasetUrl } from "./datasets.js";
import { DropZone } from "./drop.js";
import { MAX_BYTES, zipFiles } from "./folder.js";
import { applyChanges } from "./label_changes.js";
import { Preview } from "./preview.js";
import { fieldsOf } from "./reading.js";
import { Action, bytes, familyOf, Field, go, Head, html, Problem, Progress } from "./ui.js";
import { t } from "./words.js";

const TYPES = ["text-intent", "text-sentiment", "image", "image-multi-label", "image-detection"];

/** Guess the dataset type from the file name. */
const guessType = (name) => (/\.zip$/i.test(name) ? "image" : "text-intent");

export function Upload({ query }) {
  const [file, setFile] = useState(null);
  const [type, setType] = useState("text-intent");
  const [options, setOptions] = useState({});
  const [parts, setParts] = useState(null);
  const [found, setFound] = useState(null);
  const [sent, setSent] = useState(null);
  const [error, setError] = useState(null);
  const latest = useRef(0);

  /** Validate a file. A large one is sent to the bucket once, for each validation and the upload. */
  const read = async (chosen, chosenType, given = {}, known = null) => {
    const mine = ++latest.current;
    // An answer that comes after a later choice is dropped.
    const ifLatest = (act) => mine === latest.current && act();
    setFile(chosen);
    setType(chosenType);
    setOptions(given);
    setError(null);
    if (!known) setFound(null);
    try {
      if (chosen.size > MAX_BYTES) throw new Error(t("upload.tooLarge", { limit: 2 }));
      setSent(0);
      const where = known ?? (await uploadIfLarge(chosen, (value) => ifLatest(() => setSent(value))));
      ifLatest(() => setParts(where));
      setSent(1);
      const answer = await call("validate", {
        variables: { family: familyOf(chosenType) },
        fields: { type: chosenType, preview: "true", ...fieldsOf(given), ...where.fields },
        file: where.file,
      });
      ifLatest(() => setFound(answer));
    } catch (problem) {
      ifLatest(() => {
        setError(problem);
        // A refusal shows the columns, so that the person can say what they hold.
        setFound(problem.detail?.preview ? { ...problem.detail, refusal: problem.message } : null);
      });
    } finally {
      ifLatest(() => setSent(null));
    }
  };
  const choose = async (files) => {
    if (!files.length) return;
    setError(null);
    try {
      const isFolder = files.length > 1 || files[0].path.includes("/");
      const one = isFolder ? await zipFiles(files, setSent) : files[0].file;
      read(one, guessType(one.name));
    } catch (problem) {
      setError(problem);
      setSent(null);
    }
  };
  const create = async (name, changes) => {
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
    await applyChanges(family, made, changes);
    return go(datasetUrl(made));
  };
  const title = file ? html`<bdi>${file.name}</bdi> · ${bytes(file.size)}` : t("upload.drop");
  return html`
    <${Head}
      title=${query.to ? t("upload.add") : t("upload.title")}
      back=${{ href: "#/datasets", text: t("menu.datasets") }}
    />
    <${DropZone}
      choose=${choose}
      title=${title}
      kinds=${t("upload.kinds")}
      accept=".csv,.tsv,.json,.jsonl,.xlsx,.zip,.txt"
      folder
      focused
    />
    ${
      file &&
      html`
        <${Field} label=${t("upload.type")}>
          <select value=${type} onChange=${(e) => read(file, e.target.value, {}, parts)}>
            ${TYPES.map((name) => html`<option value=${name}>${t(`type.${name}`)}</option>`)}
          </select>
        <//>
      `
    }
    ${
      sent !== null &&
      html`<${Progress} value=${sent} label=${sent < 1 ? t("upload.sending") : t("upload.checking")} />`
    }
    ${error && !found && html`<${Problem} error=${error} />`}
    ${
      error &&
      !found &&
      file &&
      file.size <= MAX_BYTES &&
      html`<${Action} kind="primary" run=${() => read(file, type, options)}>${t("page.again")}<//>`
    }
    ${
      found &&
      html`
        <${Preview}
          key=${file}
          found=${found}
          file=${file}
          type=${type}
          options=${options}
          busy=${sent !== null}
          change=${(given) => read(file, type, given, parts)}
          create=${create}
          isNew=${!query.to}
        />
      `
    }
  `;
}
