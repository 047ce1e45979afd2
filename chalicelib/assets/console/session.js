// The signed-in user. A reload keeps the access token, which the tab stores until sign-out; the key is only in memory.

import { call, setCredentials } from "./api.js";
import { t } from "./words.js";

const LIFE_SECONDS = 3600;
const AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"; // every deployment accepts it, whatever its host name
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const STORED = "presage.session";
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** Return when an access token expires, in milliseconds, or NaN if it does not say so. */
function expiryOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).exp * 1000;
  } catch {
    return NaN;
  }
}

/** Store an access token and its expiry for a reload of this tab. API keys, which last, are not stored. */
function store(token) {
  const expiresAt = expiryOf(token);
  if (expiresAt > Date.now()) sessionStorage.setItem(STORED, JSON.stringify({ token, expiresAt }));
  else sessionStorage.removeItem(STORED);
}

export const session = {
  token: "",
  email: "",
  /** The private key that signs assertions. It is not extractable, so scripts cannot read it. */
  key: null,
  /** Whether a page waits for a new sign-in. */
  expired: false,
  offered: "", // a link's token
  account: 0, // counts switches
  listeners: new Set(),
  waiting: [],

  notify() {
    for (const listener of this.listeners) listener();
  },

  /** Set the token. Calls that wait for one resume, or end if it is another account's. */
  signIn(token, email = "", key = null, isOther = false) {
    if (isOther) {
      this.account++;
      location.hash = "#/";
    }
    Object.assign(this, { token, email: email || this.email, key, expired: false });
    store(token);
    for (const resume of this.waiting.splice(0)) resume(!isOther);
    this.notify();
  },

  offer(token) {
    this.offered = token;
    this.notify();
  },

  signOut() {
    this.account++;
    Object.assign(this, { token: "", email: "", key: null, expired: false });
    store("");
    for (const resume of this.waiting.splice(0)) resume(false);
    this.notify();
  },

  /** Replace an expired token by the key, or by asking the user. Return whether it worked. */
  async renew(expiredToken) {
    // Another call has renewed it meanwhile.
    if (this.token !== expiredToken) return Boolean(this.token);
    if (this.key) {
      try {
        this.token = await requestToken(this.email, this.key);
        store(this.token);
        return true;
      } catch {
        this.key = null;
      }
    }
    if (!this.token) return false;
    this.expired = true;
    store("");
    this.notify();
    return new Promise((resume) => this.waiting.push(resume));
  },
};

setCredentials(session);

/** Continue the session of this tab after a reload. The sign-in form gets the email for when the token ends. */
export async function restoreSession() {
  const { token, expiresAt } = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  if (!(expiresAt > Date.now())) return store("");
  session.token = token;
  const { email } = await call("whoami").catch(() => session);
  if (session.token !== token) return undefined;
  session.email = email;
  return session.notify();
}

let place = "#/";

/** Take the token out of the page's address and the browser history. The page stays. */
export function takeTokenFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) place = location.hash;
  else {
    history.replaceState(null, "", location.pathname + place);
    session.offer(found);
  }
}

/** Sign in with the content of a PEM key file. */
export async function signInWithKey(email, pem) {
  const key = await importKey(pem);
  const isOther = session.email && session.email !== email;
  session.signIn(await requestToken(email, key), email, key, isOther);
}

async function requestToken(email, key) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: email, aud: AUDIENCE, exp: now + LIFE_SECONDS };
  const head = `${encoded({ alg: "RS256", typ: "JWT" })}.${encoded(claims)}`;
  const signature = await crypto.subtle.sign(RSA.name, key, new TextEncoder().encode(head));
  const fields = { grant_type: GRANT, assertion: `${head}.${base64url(new Uint8Array(signature))}` };
  return (await call("createToken", { fields })).access_token;
}

/** Import an RSA private key in PEM, PKCS#1 or PKCS#8. */
async function importKey(pem) {
  if (!globalThis.crypto?.subtle) throw new Error(t("signIn.insecure"));
  if (pem.includes("ENCRYPTED")) throw new Error(t("signIn.encrypted"));
  const found = /-----BEGIN (RSA )?PRIVATE KEY-----([\s\S]+?)-----END/.exec(pem);
  if (!found) throw new Error(pem.includes("PUBLIC KEY") ? t("signIn.publicKey") : t("signIn.noKey"));
  try {
    const der = Uint8Array.from(atob(found[2].replace(/\s/g, "")), (c) => c.charCodeAt(0));
    return await crypto.subtle.importKey("pkcs8", found[1] ? pkcs8(der) : der, RSA, false, ["sign"]);
  } catch {
    throw new Error(t("signIn.damaged"));
  }
}

/** Wrap a PKCS#1 RSA key in PKCS#8, the only form that Web Crypto imports. */
function pkcs8(key) {
  // Version 0 and the algorithm identifier rsaEncryption.
  const head = [
    0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
    0x00,
  ];
  return encodeDer(0x30, [...head, ...encodeDer(0x04, key)]);
}

/** Encode a DER value: tag, length, content. */
function encodeDer(tag, content) {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return new Uint8Array([tag, ...length, ...content]);
}

const base64url = (array) =>
  btoa(String.fromCharCode(...array))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
const encoded = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));
