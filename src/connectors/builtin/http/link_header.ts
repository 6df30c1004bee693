/** The address of `rel="next"` in a `Link` header (RFC 8288), as it stands there; undefined: there is none. */
export function nextLink(header: string | null): string | undefined {
  for (
    const [, target = "", params = ""] of (header ?? "").matchAll(
      /<([^>]*)>((?:\s*;\s*[^\s=;,]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]*))?)*)/g,
    )
  ) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))/i.exec(params) ?? [];
    const relations = (quoted ?? plain ?? "").toLowerCase().split(/\s+/);
    if (relations.includes("next")) return target;
  }
  return undefined;
}
