// Reads a chosen file or folder: sends it once, and validates it again with each change of the options.

import { useRef, useState } from "./hooks.module.js";
import { call, CallError, uploadIfLarge } from "./api.js";
import { MAX_BYTES, zipFiles } from "./folder.js";
import { fieldsOf } from "./reading.js";
import { familyOf } from "./ui.js";
import { listZip } from "./unzip.js";
import { t } from "./words.js";

const EMPTY = {
  file: null,
  type: "text-intent",
  options: {},
  parts: null,
  found: null,
  sent: null,
  error: null,
};

const REFUSED = [400, 415];

/** Return the dataset types that a file may have, by its name: the first one that reads it is used. */
const typesOf = (name) =>
  /\.zip$/i.test(name) ? ["image", "image-detection", "text-intent"] : ["text-intent"];

/**
 * Return the state of a reading: `file`, `type`, `options`, `parts` (of a call that sends the file), `found` (the
 * answer, or what a refusal shows), `sent` (the fraction, null at the end) and `error`; and what changes it.
 * `isRead` tells the types that are sent and validated. `collect` makes one file of the chosen ones, or nothing.
 */
export function useReading(isRead = () => true, collect = () => null) {
  const [state, setState] = useState(EMPTY);
  const latest = useRef(0);

  /** Read a file. `parts` are known if only type or options have changed; `others` are types to try then. */
  const read = async (file, type, options = {}, parts = null, others = []) => {
    const mine = ++latest.current;
    // What comes after a later choice is dropped.
    const set = (change) => mine === latest.current && setState((old) => ({ ...old, ...change }));
    set({ file, type, options, error: null, ...(!parts && { parts: null, found: null }) });
    try {
      if (file.size > MAX_BYTES) throw new Error(t("upload.tooLarge", { limit: 2 }));
      if (!isRead(type)) return;
      set({ sent: 0 });
      const where = parts ?? (await uploadIfLarge(file, (sent) => set({ sent })));
      set({ parts: where, sent: 1 });
      const validate = async (one) => ({
        type: one,
        found: await call("validate", {
          variables: { family: familyOf(one) },
          fields: { type: one, preview: "true", ...fieldsOf(options), ...where.fields },
          file: where.file,
        }),
      });
      const first = validate(type);
      const orElse = (one) => (error) => {
        if (!REFUSED.includes(error.status)) throw error;
        return validate(one);
      };
      set(await others.reduce((before, one) => before.catch(orElse(one)), first).catch(() => first));
    } catch (error) {
      // A refusal shows the columns, so that the person can say what they hold.
      const found = error.detail?.preview ? { ...error.detail, refusal: error.message } : null;
      set({ error, found });
    } finally {
      set({ sent: null });
    }
  };
  const choose = async (files) => {
    if (!files.length) return;
    const setSent = (sent) => setState((old) => ({ ...old, sent }));
    try {
      const isFolder = files.length > 1 || files[0].path.includes("/");
      const file = collect(files) ?? (isFolder ? await zipFiles(files, setSent) : files[0].file);
      const [type, ...others] = typesOf(file.name);
      read(file, type, {}, null, others);
    } catch (error) {
      setState((old) => ({ ...old, error, sent: null }));
    }
  };
  /** Pack the archive again without some files, by their paths, and read it. */
  const leaveOut = async (isLeftOut) => {
    const { file, type, options } = state;
    const mine = ++latest.current;
    const set = (change) => mine === latest.current && setState((old) => ({ ...old, ...change }));
    try {
      set({ sent: 0, error: null });
      const files = await listZip(file);
      if (!files.some(({ path }) => isLeftOut(path))) throw new CallError(t("upload.noneLeftOut"));
      const packed = await zipFiles(files, (sent) => set({ sent }), {
        shrink: (one) => one,
        isPacked: (path) => !isLeftOut(path),
      });
      // Another file may have been chosen while this one was packed.
      if (mine === latest.current)
        await read(new File([packed], file.name, { type: packed.type }), type, options);
    } catch (error) {
      set({ error, sent: null });
    }
  };
  return {
    ...state,
    choose,
    leaveOut,
    setOptions: (options) => setState((old) => ({ ...old, options })),
    change: (options) => read(state.file, state.type, options, state.parts),
    setType: (type, options = {}) => read(state.file, type, options, state.parts),
    again: () => read(state.file, state.type, state.options),
  };
}
