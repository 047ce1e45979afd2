// Makes an archive of a folder's files, in the browser; pictures over the limit are scaled down first.

import { CallError } from "./api.js";
import { t } from "./words.js";

export const MOST_BYTES = 2 * 2 ** 30;
const MOST_FILES = 100_000;
const AT_ONCE_BYTES = 4_000_000;
const OLD_MOST_FILES = 0xffff; // an archive with more says so in a second end record
const PICTURE_BYTES = 1_000_000;
const SIDE = 1600, LEAST_SIDE = 200;
const SMALLER = 0.8; // of the sides of a picture that is still too large, as leaves and sand are
const LISTED = /\.(png|jpe?g|csv|json|txt|xml|ya?ml|names)$/i;
export const PICTURE = /\.(png|jpe?g|webp|heic)$/i;

const TABLE = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function checksum(data) {
  let value = 0xffffffff;
  for (let at = 0; at < data.length; at++) value = TABLE[(value ^ data[at]) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** Returns a picture within the limits; one that is already is left as it is. */
export async function fitted(file, most = PICTURE_BYTES) {
  if (file.size <= most && /\.(png|jpe?g)$/i.test(file.name)) return file;
  let picture;
  try { picture = await createImageBitmap(file); } catch { return file; }
  const longest = Math.max(picture.width, picture.height);
  for (let side = Math.min(SIDE, longest); ; side *= SMALLER) {
    const scale = side / longest;
    const canvas = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const made = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.9 });
    if (made.size > most && side > LEAST_SIDE) continue;
    picture.close();
    return new File([made], file.name.replace(/\.\w+$/, ".jpg"));
  }
}

/** Lists the files that were dropped, those of folders too, each with its path. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files].map(listed);
  const found = [];
  const walk = async (entry) => {
    if (found.length > MOST_FILES) return;
    if (entry.isFile) {
      found.push({ file: await new Promise((done, fail) => entry.file(done, fail)), path: entry.fullPath.slice(1) });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const part = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!part.length) return;
      for (const inner of part) await walk(inner);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

export const listed = (file) => ({ file, path: file.webkitRelativePath || file.name });

/** Writes files as a zip without compression: pictures have theirs; `packed` gets each by its name in it. A file that lies in another archive is opened when it is its turn. */
export async function zipped(files, onProgress, packed) {
  if (files.length > MOST_FILES) throw new CallError(t("bring.tooMany", { limit: MOST_FILES.toLocaleString("en") }));
  const wanted = files.filter(({ path }) => LISTED.test(path) || PICTURE.test(path));
  if (!wanted.length) throw new CallError(t("bring.noFiles"));
  const hasBoxes = wanted.some(({ path }) => !PICTURE.test(path)); // they are in pixels of the picture as it is
  const parts = [], directory = [];
  const written = []; // goes out of the page's memory in large pieces; each costs the browser time
  let offset = 0, stored = 0;
  for (const [index, { file: here, path, open }] of wanted.entries()) {
    const file = here ?? (await open());
    const kept = hasBoxes ? file : await fitted(file);
    const place = path.replace(/[^/]*$/, kept.name);
    packed?.set(place, kept);
    const name = new TextEncoder().encode(place);
    const data = new Uint8Array(await kept.arrayBuffer());
    const entry = { sum: checksum(data), size: data.length, nameSize: name.length, offset };
    written.push(head(entry, false), name, data);
    if (offset - stored > AT_ONCE_BYTES) { parts.push(new Blob(written.splice(0))); stored = offset; }
    directory.push(head(entry, true), name);
    offset += 30 + name.length + data.length;
    if (offset > MOST_BYTES) throw new CallError(t("bring.tooLarge", { limit: MOST_BYTES / 2 ** 30 }));
    onProgress?.(index / wanted.length);
  }
  const listing = new Blob(directory);
  const folder = wanted[0].path.includes("/") ? wanted[0].path.split("/")[0] : "pictures";
  return new File([...parts, ...written, listing, ...ends(wanted.length, listing.size, offset)], `${folder}.zip`, { type: "application/zip" });
}

/** Writes what stands at the end: where the directory is, and how much is in it. */
function ends(count, size, offset) {
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, Math.min(count, OLD_MOST_FILES), true);
  end.setUint16(10, Math.min(count, OLD_MOST_FILES), true);
  end.setUint32(12, size, true);
  end.setUint32(16, offset, true);
  if (count < OLD_MOST_FILES) return [end.buffer];
  const big = new DataView(new ArrayBuffer(56)), locator = new DataView(new ArrayBuffer(20));
  big.setUint32(0, 0x06064b50, true);
  big.setBigUint64(4, 44n, true);
  big.setUint16(12, 45, true);
  big.setUint16(14, 45, true);
  for (const [at, value] of [[24, count], [32, count], [40, size], [48, offset]]) big.setBigUint64(at, BigInt(value), true);
  locator.setUint32(0, 0x07064b50, true);
  locator.setBigUint64(8, BigInt(offset + size), true);
  locator.setUint32(16, 1, true);
  return [big.buffer, locator.buffer, end.buffer];
}

/** Writes what stands before a file, or for it in the directory. */
function head({ sum, size, nameSize, offset }, inDirectory) {
  const view = new DataView(new ArrayBuffer(inDirectory ? 46 : 30));
  view.setUint32(0, inDirectory ? 0x02014b50 : 0x04034b50, true);
  if (inDirectory) view.setUint16(4, 20, true);
  const at = inDirectory ? 6 : 4;
  view.setUint16(at, 20, true);
  view.setUint16(at + 2, 0x0800, true); // names are UTF-8
  view.setUint16(at + 8, 33, true); // 1980-01-01
  view.setUint32(at + 10, sum, true);
  view.setUint32(at + 14, size, true);
  view.setUint32(at + 18, size, true);
  view.setUint16(at + 22, nameSize, true);
  if (inDirectory) view.setUint32(42, offset, true);
  return view.buffer;
}
