import { createHash, createHmac } from "node:crypto";

/**
 * Whether a request is signed as version 4 of the protocol's signatures asks: computed from what has arrived, by nothing
 * that pz uses.
 */
export function isSigned(request: Request, body: Uint8Array, secret: string): boolean {
  const { headers, method } = request;
  const authorization = headers.get("authorization") ?? "";
  const [, scope = "", names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ??
      [];
  const signed = names.split(";");
  if (!signed.includes("host") || !signed.includes("x-amz-date")) return false;
  const digest = headers.get("x-amz-content-sha256") ?? "";
  if (digest !== "UNSIGNED-PAYLOAD" && digest !== createHash("sha256").update(body).digest("hex")) return false;
  const url = new URL(request.url);
  const query = url.search.slice(1).split("&").filter((pair) => pair !== "").map((pair) => {
    const [name = "", value = ""] = pair.split("=");
    return `${encode(name)}=${encode(value)}`;
  }).sort();
  const canonical = [
    method,
    url.pathname,
    query.join("&"),
    ...signed.map((name) => `${name}:${(headers.get(name) ?? "").trim().replaceAll(/\s+/g, " ")}`),
    "",
    names,
    digest,
  ].join("\n");
  const [date = "", region = "", service = "", end = ""] = scope.split("/");
  const text = [
    "AWS4-HMAC-SHA256",
    headers.get("x-amz-date"),
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ]
    .join("\n");
  const key = [date, region, service, end].reduce<string | Uint8Array>(
    (last, part) => createHmac("sha256", last).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac("sha256", key).update(text).digest("hex") === signature;
}

function encode(text: string): string {
  return encodeURIComponent(decodeURIComponent(text.replaceAll("+", " "))).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
