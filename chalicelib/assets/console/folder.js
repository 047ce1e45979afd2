// Packs the files of a folder into a zip archive in the browser; large images are scaled down first.

import { CallError } from "./api.js";
import { t } from "./words.js";

export const MAX_BYTES = 2 * 2 ** 30;
const MAX_FILES = 100_000;
// How much is collected before it goes into a Blob, which the browser may store on disk.
const FLUSH_BYTES = 4_000_000;
// An archive with more files needs a ZIP64 end record.
const MAX_ZIP32_FILES = 0xffff;
const MAX_IMAGE_BYTES = 1_000_000;
const SIDE = 1600,
  MIN_SIDE = 200;
// Opacity of pixels that count as content, and its luminance above which the background is black.
const VISIBLE = 128,
  LIGHT = 191;
// Applied to the sides of an image that is still too large: fine textures compress badly.
const SHRINK_FACTOR = 0.8;
const ANNOTATION_NAME = /\.(png|jpe?g|csv|json|txt|xml|ya?ml|names)$/i;
export const IMAGE_NAME = /\.(png|jpe?g|webp|heic)$/i;
export const DOCUMENT_NAME = /\.(pdf|png|jpe?g|webp|heic)$/i;

const isExample = (path) => ANNOTATION_NAME.test(path) || IMAGE_NAME.test(path);

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

/** Scale an image down to at most `most` bytes; return it unchanged if it is small enough, or not an image. */
export async function shrinkImage(file, most = MAX_IMAGE_BYTES, longestSide = SIDE) {
  if (file.size <= most && /\.(png|jpe?g)$/i.test(file.name)) return file;
  let image;
  try {
    image = await createImageBitmap(file);
  } catch {
    return file;
  }
  const longest = Math.max(image.width, image.height);
  for (let side = Math.min(longestSide, longest); ; side *= SHRINK_FACTOR) {
    const scale = side / longest;
    const canvas = new OffscreenCanvas(Math.round(image.width * scale), Math.round(image.height * scale));
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    fillBackground(context);
    const made = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.9 });
    if (made.size > most && side > MIN_SIDE) continue;
    image.close();
    return new File([made], file.name.replace(/\.\w+$/, ".jpg"));
  }
}

/** Put an image on white, or on black if its visible content is light; JPEG has no transparency. */
function fillBackground(context) {
  const { width, height } = context.canvas;
  const { data } = context.getImageData(0, 0, width, height);
  let sum = 0,
    count = 0,
    isOpaque = true;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 255) isOpaque = false;
    if (data[at + 3] < VISIBLE) continue;
    sum += 0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2];
    count++;
  }
  if (isOpaque) return;
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = sum > LIGHT * count ? "black" : "white";
  context.fillRect(0, 0, width, height);
}

/** List dropped files, including those in folders, with their paths. */
export async function listDropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files].map(withPath);
  const found = [];
  const walk = async (entry) => {
    if (found.length > MAX_FILES) return;
    if (entry.isFile) {
      found.push({
        file: await new Promise((done, fail) => entry.file(done, fail)),
        path: entry.fullPath.slice(1),
      });
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

export const withPath = (file) => ({ file, path: file.webkitRelativePath || file.name });

/**
 * Write files into an uncompressed zip, because images are compressed already.
 * `packed` receives each file by its name in the archive. Files of another archive are opened one at a time.
 * `shrink` makes an image smaller, and `isPacked` tells the paths that are packed.
 */
export async function zipFiles(
  files,
  onProgress,
  { packed, shrink = shrinkImage, isPacked = isExample } = {},
) {
  if (files.length > MAX_FILES)
    throw new CallError(t("upload.tooMany", { limit: MAX_FILES.toLocaleString("en") }));
  const wanted = files.filter(({ path }) => isPacked(path));
  if (!wanted.length) throw new CallError(t("upload.noFiles"));
  // Boxes are in pixels of the original image.
  const hasBoxes = wanted.some(({ path }) => isExample(path) && !IMAGE_NAME.test(path));
  const parts = [],
    directory = [];
  // Flushed to Blobs in large chunks: each Blob costs the browser time, and memory is limited.
  const written = [];
  let offset = 0,
    stored = 0;
  for (const [index, { file: loaded, path: original, open }] of wanted.entries()) {
    const file = loaded ?? (await open());
    const packedFile = hasBoxes ? file : await shrink(file);
    const path = original.replace(/[^/]*$/, packedFile.name);
    packed?.set(path, packedFile);
    const name = new TextEncoder().encode(path);
    const data = new Uint8Array(await packedFile.arrayBuffer());
    const entry = { sum: checksum(data), size: data.length, nameSize: name.length, offset };
    written.push(writeHeader(entry, false), name, data);
    if (offset - stored > FLUSH_BYTES) {
      parts.push(new Blob(written.splice(0)));
      stored = offset;
    }
    directory.push(writeHeader(entry, true), name);
    offset += 30 + name.length + data.length;
    if (offset > MAX_BYTES) throw new CallError(t("upload.tooLarge", { limit: MAX_BYTES / 2 ** 30 }));
    onProgress?.(index / wanted.length);
  }
  const listing = new Blob(directory);
  const folder = wanted[0].path.includes("/") ? wanted[0].path.split("/")[0] : "pictures";
  return new File(
    [...parts, ...written, listing, ...writeEnd(wanted.length, listing.size, offset)],
    `${folder}.zip`,
    { type: "application/zip" },
  );
}

/** Write the end records: position and size of the central directory. */
function writeEnd(count, size, offset) {
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, Math.min(count, MAX_ZIP32_FILES), true);
  end.setUint16(10, Math.min(count, MAX_ZIP32_FILES), true);
  end.setUint32(12, size, true);
  end.setUint32(16, offset, true);
  if (count < MAX_ZIP32_FILES) return [end.buffer];
  const big = new DataView(new ArrayBuffer(56)),
    locator = new DataView(new ArrayBuffer(20));
  big.setUint32(0, 0x06064b50, true);
  big.setBigUint64(4, 44n, true);
  big.setUint16(12, 45, true);
  big.setUint16(14, 45, true);
  for (const [at, value] of [
    [24, count],
    [32, count],
    [40, size],
    [48, offset],
  ])
    big.setBigUint64(at, BigInt(value), true);
  locator.setUint32(0, 0x07064b50, true);
  locator.setBigUint64(8, BigInt(offset + size), true);
  locator.setUint32(16, 1, true);
  return [big.buffer, locator.buffer, end.buffer];
}

/** Write the local header of a file, or its entry in the central directory. */
function writeHeader({ sum, size, nameSize, offset }, inDirectory) {
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
