/** A setting's value as configuration files hold it. */
export type SettingValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly SettingValue[]
  | { readonly [key: string]: SettingValue };

const SECRET_KEY_REGEXP =
  /pass|pwd|secret|token|key|credential|private|authorization|connection_?string|dsn|sas|signature|^sig$/i;

/** Whether the name of a setting says that its value is secret. */
export function isSecretKey(name: string): boolean {
  return SECRET_KEY_REGEXP.test(name);
}

/**
 * The secret texts among settings, however deep they stand: values whose names say so, and in every URL its password and
 * the parameters whose names say so; each also as it stands in a URL, in JSON and in SQL.
 */
export function secretTexts(settings: { readonly [key: string]: SettingValue }): readonly string[] {
  const found = new Set<string>();
  const visit = (value: SettingValue, secret: boolean): void => {
    if (isList(value)) return value.forEach((member) => visit(member, secret));
    if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) visit(member, secret || isSecretKey(key));
      return;
    }
    if (typeof value === "string") { for (const part of secretsOfUrl(value)) addForms(found, part); }
    if (secret && value !== null && typeof value !== "boolean") addForms(found, String(value));
  };
  visit(settings, false);
  return [...found];
}

/** The password of a URL and its secret parameters, as they stand there; of any other text nothing. */
function secretsOfUrl(text: string): readonly string[] {
  const [, password, query = ""] = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*?:([^/?#]*)@)?[^?#]*\??([^#]*)/i.exec(text) ?? [];
  const secrets = password === undefined ? [] : [password];
  for (const pair of query.split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (isSecretKey(name)) secrets.push(value.join("="));
  }
  return secrets;
}

function addForms(texts: Set<string>, text: string): void {
  for (const form of secretForms(text)) texts.add(form);
}

/** A secret text in every form in which it may have been sent, or may stand within a message. */
export function secretForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const forms = [text, decoded(text), json, text.replaceAll("'", "''"), ...urlForms(text), ...urlForms(decoded(text))];
  return [...new Set(forms)].filter((form) => form !== "");
}

/** How programs write a text within a URL: they differ in which signs they encode, and in the case of the digits. */
function urlForms(text: string): readonly string[] {
  const whole = text.toWellFormed();
  const component = encodeURIComponent(whole);
  const form = new URLSearchParams([["", whole]]).toString().slice(1);
  const forms = [component, encoded(component, /'/g), encoded(component, /[!'()*]/g), form, encodeURI(whole)];
  return [...forms, ...forms.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase()))];
}

function encoded(text: string, signs: RegExp): string {
  return text.replaceAll(signs, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isList(value: SettingValue): value is readonly SettingValue[] {
  return Array.isArray(value);
}
