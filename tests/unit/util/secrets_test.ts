import assert from "node:assert/strict";
import { isSecretKey, maskOf, secretTexts } from "../../../src/util/mod.ts";

Deno.test("names of settings tell secrets from the rest", () => {
  const secret = [
    "password",
    "PWD",
    "client_secret",
    "access_token",
    "apiKey",
    "api_key",
    "account_key",
    "private_key_file",
    "credentials",
    "Authorization",
    "connectionString",
    "connection_string",
    "dsn",
    "sas",
    "signature",
    "sig",
  ];
  assert.deepEqual(secret.filter((name) => !isSecretKey(name)), []);
  const plain = ["host", "port", "user", "url", "root", "database", "connection", "schema", "sslmode", "design"];
  assert.deepEqual(plain.filter(isSecretKey), []);
});

Deno.test("everything below a secret name is secret, numbers too, and nothing else is", () => {
  const settings = {
    host: "db.example",
    port: 5432,
    auth: { token: ["t-1", 42, { deep: 7n }], enabled: true, password: null },
    note: "plain",
  };
  assert.deepEqual(secretTexts(settings).toSorted(), ["42", "7", "t-1"]);
});

Deno.test("a URL gives its password and its secret parameters, whatever its setting is called", () => {
  const settings = {
    url: "https://user:p%40ss@db.example:8443/x?api_key=k-9&page=2&sig=s%3D1#f",
    list: ["postgres://only-user@h/d", "mailto:a:b@c", "redis://:secret1@h"],
    path: "/data/a?token=never",
  };
  assert.deepEqual(secretTexts(settings).toSorted(), [
    "k-9",
    "p%2540ss",
    "p%40ss",
    "p@ss",
    "s%253D1",
    "s%3D1",
    "s%3d1",
    "s=1",
    "secret1",
  ]);
});

Deno.test("a secret is known in the forms in which messages show it", () => {
  const mask = maskOf(secretTexts({ password: `it's "5 %"` }));
  const shown = [`it's "5 %"`, `'it''s "5 %"'`, JSON.stringify(`it's "5 %"`), encodeURIComponent(`it's "5 %"`)];
  assert.deepEqual(shown.map(mask), ["***", "'***'", '"***"', "***"]);
});

Deno.test("a secret is known in every form in which a URL holds it", () => {
  const secret = `s3cr%20 "t'(!)*~/ü+x`;
  const [text = "", ...others] = [
    secret,
    new URL(`http://host/?key=${encodeURIComponent(secret)}`).search.slice("?key=".length),
    new URLSearchParams({ key: secret }).toString().slice("key=".length),
    new URL(`http://host/${encodeURIComponent(secret)}`).pathname.slice(1),
    encodeURI(secret),
    encodeURIComponent(secret).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
    encodeURIComponent(secret).toLowerCase(),
  ];
  const texts = new Set(secretTexts({ password: text }));
  assert.deepEqual([text, ...others].filter((form) => !texts.has(form)), []);
  assert.ok(!secretTexts({ password: "\ud800" }).includes(""));
});
