// Reads zip archives in the browser: lists the files, and extracts each on demand.

import { CallError } from "./api.js";
import { t } from "./words.js";

const END = 0x06054b50,
  END_BYTES = 22,
  MAX_COMMENT_BYTES = 0xffff;
const LOCATOR = 0x07064b50,
  LOCATOR_BYTES = 20,
  BIG_END_BYTES = 56;
const ENTRY = 0x02014b50,
  ENTRY_BYTES = 46,
  HEAD_BYTES = 30;
const HUGE = 0xffffffff;
const ENCRYPTED = 1,
  STORED = 0,
  DEFLATED = 8;
const JUNK = /(^|\/)(__MACOSX\/|\.|thumbs\.db$)/i;

const view = async (file, from, to) => new DataView(await file.slice(from, to).arrayBuffer());
const big = (data, at) => Number(data.getBigUint64(at, true));
const unreadable = () => new CallError(t("next.noZip"));

/** List the files of an archive with their paths; `open` extracts one. */
export async function listZip(file) {
  const { start, size, shift } = await findDirectory(file);
  const data = await view(file, start, start + size);
  const found = [];
  for (let at = 0; at + ENTRY_BYTES <= size && data.getUint32(at, true) === ENTRY;) {
    const nameSize = data.getUint16(at + 28, true),
      extraSize = data.getUint16(at + 30, true);
    const name = decodeName(new Uint8Array(data.buffer, at + ENTRY_BYTES, nameSize));
    const path = cleanPath(name);
    const entry = {
      isEncrypted: Boolean(data.getUint16(at + 8, true) & ENCRYPTED),
      method: data.getUint16(at + 10, true),
      ...readSizes(data, at, at + ENTRY_BYTES + nameSize, extraSize),
      shift,
    };
    if (!name.endsWith("/") && !JUNK.test(path)) found.push({ path, open: () => extract(file, entry, path) });
    at += ENTRY_BYTES + nameSize + extraSize + data.getUint16(at + 32, true);
  }
  return found;
}

/** Find the central directory. `shift` is the number of bytes before the archive, as in self-extracting files. */
async function findDirectory(file) {
  const tailAt = Math.max(0, file.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await view(file, tailAt, file.size);
  let at = tail.byteLength - END_BYTES;
  while (at >= 0 && tail.getUint32(at, true) !== END) at--;
  if (at < 0) throw unreadable();
  let stop = tailAt + at,
    size = tail.getUint32(at + 12, true),
    offset = tail.getUint32(at + 16, true);
  const locator = at - LOCATOR_BYTES - BIG_END_BYTES;
  if (locator >= 0 && tail.getUint32(at - LOCATOR_BYTES, true) === LOCATOR) {
    stop = tailAt + locator;
    [size, offset] = [big(tail, locator + 40), big(tail, locator + 48)];
  }
  const start = stop - size;
  if (start < offset) throw unreadable();
  return { start, size, shift: start - offset };
}

/** Remove empty and "." steps, as the service does. */
const cleanPath = (name) =>
  name
    .split("/")
    .filter((step) => !["", "."].includes(step))
    .join("/");

/** Decode a file name: some tools write UTF-8 without the flag, others the system's encoding. */
function decodeName(raw) {
  let name;
  try {
    name = new TextDecoder("utf-8", { fatal: true }).decode(raw);
  } catch {
    name = new TextDecoder("windows-1252").decode(raw);
  }
  return name.replaceAll("\\", "/");
}

/** Read sizes and offset of an entry; values that need 64 bits are in an extra field. */
function readSizes(data, at, extraAt, extraSize) {
  const found = {
    size: data.getUint32(at + 24, true),
    packed: data.getUint32(at + 20, true),
    offset: data.getUint32(at + 42, true),
  };
  for (let field = extraAt; field + 4 <= extraAt + extraSize; field += 4 + data.getUint16(field + 2, true)) {
    if (data.getUint16(field, true) !== 1) continue;
    let wide = field + 4;
    for (const name of Object.keys(found))
      if (found[name] === HUGE) {
        found[name] = big(data, wide);
        wide += 8;
      }
  }
  return found;
}

async function extract(file, { isEncrypted, method, packed, offset, shift }, path) {
  if (isEncrypted || ![STORED, DEFLATED].includes(method)) throw unreadable();
  const head = await view(file, offset + shift, offset + shift + HEAD_BYTES);
  if (head.byteLength < HEAD_BYTES) throw unreadable();
  const from = offset + shift + HEAD_BYTES + head.getUint16(26, true) + head.getUint16(28, true);
  let content = file.slice(from, from + packed);
  if (method === DEFLATED) {
    try {
      content = await new Response(
        content.stream().pipeThrough(new DecompressionStream("deflate-raw")),
      ).blob();
    } catch {
      throw unreadable();
    }
  }
  return new File([content], path.split("/").at(-1), {
    type: /\.png$/i.test(path) ? "image/png" : "image/jpeg",
  });
}
