/** One element: its text, and the elements in it. */
export type XmlElement = { readonly name: string; readonly text: string; readonly children: readonly XmlElement[] };

const ENTITIES: { readonly [name: string]: string } = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!(?!\[CDATA\[|--)[^>]*>|<(\/?)([^\s/>]+)(?:"[^"]*"|'[^']*'|[^>"'])*?(\/?)>|([^<]+)/gy;
const MAX_DEPTH = 32;

type Open = { readonly name: string; text: string; readonly children: XmlElement[] };

/**
 * The outermost element of a document such as stores answer with; prefixes of names and attributes are left out.
 * Undefined for what is no such document, or the start of one.
 */
export function parseXml(document: string): XmlElement | undefined {
  const open: Open[] = [{ name: "", text: "", children: [] }];
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let token = TOKEN.exec(document); token !== null; token = TOKEN.exec(document)) {
    end = TOKEN.lastIndex;
    const [, cdata, closing, name, empty, text] = token;
    const top = open.at(-1);
    if (top === undefined) return undefined;
    if (cdata !== undefined) top.text += cdata;
    else if (text !== undefined) top.text += decodeEntities(text);
    else if (name === undefined) continue;
    else if (closing === "/") {
      if (open.length < 2 || top.name !== localName(name)) return undefined;
      open.pop();
      open.at(-1)?.children.push(top);
    } else if (empty === "/") top.children.push({ name: localName(name), text: "", children: [] });
    else if (open.push({ name: localName(name), text: "", children: [] }) > MAX_DEPTH) return undefined;
  }
  const [root] = open[0]?.children ?? [];
  return open.length === 1 && end === document.length ? root : undefined;
}

/** The elements of a name directly in another. */
export function elements({ children }: XmlElement, name: string): readonly XmlElement[] {
  return children.filter((child) => child.name === name);
}

/** The text of the first element of a name directly in another. */
export function textOf(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}

/** A text as it stands in a document. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
