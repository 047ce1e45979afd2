// Who is signed in. Token and key live in this page's memory alone: a reload forgets both.

import { call } from "./api.js";
import { t } from "./words.js";

const LIFE_SECONDS = 3600;
const AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"; // every deployment accepts it, whatever its host
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

export const session = {
  token: "",
  email: "",
  /** Signs assertions; the page itself cannot read it out. */
  key: null,
  /** True while a page waits for somebody to sign in again. */
  expired: false,
  listeners: new Set(),
  waiting: [],

  tell() { for (const listener of this.listeners) listener(); },

  /** Takes a token, and lets those go on who waited for one. */
  enter(token, email = "", key = null) {
    Object.assign(this, { token, email: email || this.email, key, expired: false });
    for (const go of this.waiting.splice(0)) go(true);
    this.tell();
  },

  leave() {
    Object.assign(this, { token: "", email: "", key: null, expired: false });
    for (const go of this.waiting.splice(0)) go(false);
    this.tell();
  },

  /** Gets a new token in place of one that died: with the key by itself, otherwise by asking. */
  async renew(dead) {
    if (this.token !== dead) return Boolean(this.token);
    if (this.key) {
      try {
        this.token = await requestToken(this.email, this.key);
        return true;
      } catch { this.key = null; }
    }
    if (!this.token) return false;
    this.expired = true;
    this.tell();
    return new Promise((go) => this.waiting.push(go));
  },
};

/** Takes a token out of the address, and the address out of the history. */
export function tokenFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) return false;
  history.replaceState(null, "", `${location.pathname}#/`);
  session.enter(found);
  return true;
}

/** Signs in with the text of a key file. */
export async function signInWithKey(email, pem) {
  const key = await importKey(pem);
  session.enter(await requestToken(email, key), email, key);
}

async function requestToken(email, key) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: email, aud: AUDIENCE, exp: now + LIFE_SECONDS };
  const head = `${encoded({ alg: "RS256", typ: "JWT" })}.${encoded(claims)}`;
  const signature = await crypto.subtle.sign(RSA.name, key, new TextEncoder().encode(head));
  const fields = { grant_type: GRANT, assertion: `${head}.${base64url(new Uint8Array(signature))}` };
  return (await call("createToken", { fields })).access_token;
}

/** Reads a private key in PEM, as PKCS#1 or PKCS#8. */
export async function importKey(pem) {
  if (!globalThis.crypto?.subtle) throw new Error(t("signIn.insecure"));
  if (pem.includes("ENCRYPTED")) throw new Error(t("signIn.encrypted"));
  const found = /-----BEGIN (RSA )?PRIVATE KEY-----([\s\S]+?)-----END/.exec(pem);
  if (!found) throw new Error(pem.includes("PUBLIC KEY") ? t("signIn.publicKey") : t("signIn.noKey"));
  try {
    const der = Uint8Array.from(atob(found[2].replace(/\s/g, "")), (c) => c.charCodeAt(0));
    return await crypto.subtle.importKey("pkcs8", found[1] ? pkcs8(der) : der, RSA, false, ["sign"]);
  } catch { throw new Error(t("signIn.damaged")); }
}

/** Puts an RSA key of PKCS#1 into the envelope of PKCS#8. */
function pkcs8(key) {
  const head = [0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
  return tagged(0x30, [...head, ...tagged(0x04, key)]);
}

/** Writes a value of DER: its tag, its length, its bytes. */
function tagged(tag, content) {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return new Uint8Array([tag, ...length, ...content]);
}

const base64url = (array) => btoa(String.fromCharCode(...array)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const encoded = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));
