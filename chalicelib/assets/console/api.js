// The API operations that the console uses, and the HTTP client that calls them.

import { t } from "./words.js";

export const BASE_PATH = location.pathname.replace(/\/console\/?$/, "");

export const CALLS = {
  createToken: "POST /v2/oauth2/token",
  whoami: "GET /v2/whoami",
  usage: "GET /v2/apiusage",
  health: "GET /v2/health",
  datasets: "GET /v2/{family}/datasets",
  dataset: "GET /v2/{family}/datasets/{dataset_id}",
  renameDataset: "PUT /v2/{family}/datasets/{dataset_id}",
  deleteDataset: "DELETE /v2/{family}/datasets/{dataset_id}",
  validate: "POST /v2/{family}/datasets/validate",
  upload: "POST /v2/{family}/datasets/upload",
  addUpload: "PUT /v2/{family}/datasets/{dataset_id}/upload",
  uploadForm: "POST /v2/uploads",
  receipts: "GET /v2/{family}/datasets/{dataset_id}/receipts",
  browse: "GET /v2/{family}/datasets/{dataset_id}/browse",
  changeLabel: "PUT /v2/{family}/datasets/{dataset_id}/labels/{label_id}",
  removeLabel: "DELETE /v2/{family}/datasets/{dataset_id}/labels/{label_id}",
  changeExample: "PUT /v2/{family}/datasets/{dataset_id}/examples/{example_id}",
  addExample: "POST /v2/{family}/datasets/{dataset_id}/examples",
  removeExample: "DELETE /v2/{family}/datasets/{dataset_id}/examples/{example_id}",
  correct: "POST /v2/{family}/datasets/{dataset_id}/corrections",
  createExport: "POST /v2/{family}/datasets/{dataset_id}/exports",
  export: "GET /v2/{family}/datasets/{dataset_id}/exports/{export_id}",
  datasetModels: "GET /v2/{family}/datasets/{dataset_id}/models",
  models: "GET /v2/{family}/models",
  deleteModel: "DELETE /v2/{family}/models/{model_id}",
  train: "POST /v2/{family}/train",
  retrain: "POST /v2/{family}/retrain",
  training: "GET /v2/{family}/train/{model_id}",
  importModel: "POST /v2/{family}/models/import",
  createModelExport: "POST /v2/{family}/models/{model_id}/exports",
  modelExport: "GET /v2/{family}/models/{model_id}/exports/{export_id}",
  curve: "GET /v2/{family}/models/{model_id}/lc",
  metrics: "GET /v2/{family}/models/{model_id}",
  evaluation: "GET /v2/{family}/models/{model_id}/evaluation",
  versions: "GET /v2/{family}/models/{model_id}/versions",
  serveVersion: "PUT /v2/{family}/models/{model_id}/versions/{version}/serve",
  compareVersions: "POST /v2/{family}/models/{model_id}/compare",
  card: "GET /v2/{family}/models/{model_id}/card",
  adjust: "POST /v2/language/models/{model_id}/adjust",
  intent: "POST /v2/language/intent",
  sentiment: "POST /v2/language/sentiment",
  classify: "POST /v2/vision/predict",
  detect: "POST /v2/vision/detect",
  read: "POST /v2/vision/ocr",
  rank: "POST /v2/{family}/rankings",
  createBatch: "POST /v2/{family}/batches",
  batch: "GET /v2/{family}/batches/{batch_id}",
  batches: "GET /v2/{family}/batches",
  keys: "GET /v2/keys",
  createKey: "POST /v2/keys",
  deleteKey: "DELETE /v2/keys/{key_id}",
  webhooks: "GET /v2/webhooks",
  createWebhook: "POST /v2/webhooks",
  changeWebhook: "PUT /v2/webhooks/{webhook_id}",
  deleteWebhook: "DELETE /v2/webhooks/{webhook_id}",
  rotateWebhook: "POST /v2/webhooks/{webhook_id}/rotate",
  testWebhook: "POST /v2/webhooks/{webhook_id}/test",
  deliveries: "GET /v2/webhooks/{webhook_id}/deliveries",
};

// A deployed service accepts about 4.5 MB in one call; the form's other fields need some of it.
const MAX_CALL_BYTES = 4_000_000;
// Tries of a call that the service answers with 503 or a rate limit.
const MAX_TRIES = 6;
const REPEATED = ["rate_exceeded", "idempotency_key_under_way"];

/** An error answer of the service, or a failed connection (status 0). */
export class CallError extends Error {
  /** `date` is the service's time at the answer, in milliseconds. */
  constructor(message, status = 0, code = "", detail = "", date = NaN) {
    super(message);
    Object.assign(this, { status, code, detail, date });
  }
}

const listeners = new Set();
let unreachable = false;

/** Call `listener` with whether the service is unreachable, now and on changes; return what stops it. */
export function watchService(listener) {
  listeners.add(listener);
  listener(unreachable);
  return () => listeners.delete(listener);
}

function setUnreachable(isUnreachable) {
  if (isUnreachable === unreachable) return;
  unreachable = isUnreachable;
  for (const listener of listeners) listener(isUnreachable);
}

// session.js, which imports this module, supplies them.
let credentials = { token: "", account: 0, renew: async () => false };

/** Set where calls get their token, and what renews an expired one. */
export function setCredentials(source) {
  credentials = source;
}

// randomUUID needs https or localhost.
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Return the number of the signed-in account, which calls that are sent later name as `account`. */
export const currentAccount = () => credentials.account;

/** Return the HTTP method and the URL of a call. */
export function address(name, variables = {}, query = {}) {
  const [method, template] = CALLS[name].split(" ");
  const path = template.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(variables[key]));
  const given = Object.entries(query).filter(
    ([, value]) => value !== "" && value !== undefined && value !== null,
  );
  const search = new URLSearchParams(given).toString();
  return { method, url: `${BASE_PATH}${path}${search ? `?${search}` : ""}` };
}

/**
 * Make a call and return the JSON object of its answer.
 * `fields` are sent as a form, `json` as JSON, `file` as the form part that `part` names.
 */
export async function call(name, options = {}) {
  const { variables, query, fields, json, file, part = "data", onProgress } = options;
  const { method, url } = address(name, variables, query);
  // One key for all tries: a repeated write is done once.
  const repeatKey = method === "POST" || method === "PUT" ? randomKey() : "";
  const { account = credentials.account } = options;
  const body = () => {
    if (json) return JSON.stringify(json);
    if (!fields && !file) return undefined;
    const form = new FormData();
    for (const [key, value] of Object.entries(fields ?? {}))
      if (value !== undefined && value !== "") form.append(key, value);
    if (file) form.append(part, file, file.name);
    return form;
  };
  for (let tries = 1; ; tries++) {
    // A call of the former account must not be made for the new one.
    if (credentials.account !== account) throw new CallError(t("network.failed"), 401);
    const token = options.token ?? credentials.token;
    let answer;
    try {
      answer = await send(method, url, body(), json && "application/json", token, onProgress, repeatKey);
    } catch {
      setUnreachable(true);
      // Only a read is safe to repeat: a write may have arrived before the connection broke.
      if (method !== "GET") throw new CallError(t("network.failed"));
      await pause(Math.min(5000, 500 * tries));
      continue;
    }
    setUnreachable(false);
    if (answer.status < 300) return answer.record;
    const mayRenew = answer.status === 401 && name !== "createToken" && !options.token;
    if (mayRenew && (await credentials.renew(token))) continue;
    if ((answer.status === 503 || REPEATED.includes(answer.record?.code)) && tries < MAX_TRIES) {
      await pause(1000 * Math.min(30, answer.after || tries));
      continue;
    }
    throw new CallError(
      answer.record?.message ?? t("network.unexpected", { status: answer.status }),
      answer.status,
      answer.record?.code,
      answer.record?.detail,
      answer.date,
    );
  }
}

/** Send one request. It uses XMLHttpRequest because fetch reports no upload progress. */
function send(method, url, body, type, token, onProgress, repeatKey) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    if (type) request.setRequestHeader("Content-Type", type);
    if (repeatKey) request.setRequestHeader("Idempotency-Key", repeatKey);
    if (onProgress) request.upload.onprogress = (event) => onProgress(event.loaded / event.total);
    request.onload = () => {
      let record = null;
      try {
        record = JSON.parse(request.responseText);
      } catch {
        /* not every answer is JSON */
      }
      if (request.status === 0) reject(new Error("no answer"));
      else
        resolve({
          status: request.status,
          record,
          after: Number(/^retry-after: (\d+)/im.exec(request.getAllResponseHeaders())?.[1]),
          date: Date.parse(/^date: (.+)$/im.exec(request.getAllResponseHeaders())?.[1]),
        });
    };
    request.onerror = request.onabort = () => reject(new Error("no answer"));
    request.send(body);
  });
}

/** Upload a file that is too large for one call to the bucket. Return the file or the fields that refer to it. */
export async function uploadIfLarge(file, onProgress) {
  if (file.size <= MAX_CALL_BYTES) return { file };
  const form = await call("uploadForm", { json: { name: file.name } });
  if (file.size > form.maxBytes)
    throw new CallError(t("upload.tooLarge", { limit: form.maxBytes / 2 ** 30 }));
  const data = new FormData();
  for (const [key, value] of Object.entries(form.fields)) data.append(key, value);
  data.append("file", file, file.name);
  let answer;
  try {
    answer = await send("POST", form.url, data, null, null, onProgress);
  } catch {
    throw new CallError(t("network.upload"));
  }
  if (answer.status >= 300) throw new CallError(t("network.upload"), answer.status);
  return { fields: { path: form.path } };
}

/** Read a JSON lines file from the bucket. */
export async function readLines(url) {
  const answer = await fetch(url).catch(() => null);
  if (!answer?.ok) throw new CallError(t("network.failed"));
  return (await answer.text())
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Read all items of a paged list, at most `most`. */
export async function readAll(name, options = {}, most = 1000, page = 25) {
  const found = [];
  while (found.length < most) {
    const { data } = await call(name, {
      ...options,
      query: { ...options.query, offset: found.length, count: page },
    });
    found.push(...data);
    if (data.length < page) break;
  }
  return found;
}
