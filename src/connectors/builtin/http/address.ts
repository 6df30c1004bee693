import { hostAndPort, type HttpConfig } from "./config.ts";
import { refused } from "./trouble.ts";

/** Where a request goes, and whether the connection's secrets may go there too. */
export type Target = { readonly url: URL; readonly isHome: boolean };

/** A path below the connection's address, with parameters in their order. */
export function addressOf(config: HttpConfig, path: string, params: readonly (readonly [string, string])[]): URL {
  const query = params.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  return new URL(`${config.baseUrl}${path}${query === "" ? "" : `?${query}`}`);
}

/**
 * Where a link or a redirect leads.
 *
 * @param what names it in messages, such as `a redirect`
 * @throws {ConnectorError} where it leads to a place that the connection does not allow
 */
export function targetOf(config: HttpConfig, link: string, from: URL, what: string): Target {
  const url = URL.parse(link, from.href);
  if (url === null || !/^https?:$/.test(url.protocol)) throw refused(`${what} leads to no http or https address`);
  url.hash = "";
  if (url.username !== "" || url.password !== "") throw refused(`${what} leads to an address with a user in it`);
  if (url.origin === config.origin) return { url, isHome: true };
  const isWeaker = config.origin.startsWith("https:") && url.protocol !== "https:";
  if (!isWeaker && config.allowed.includes(hostAndPort(url))) return { url, isHome: false };
  throw refused(
    `${what} leads away from ${config.origin}, to ${url.origin}`,
    isWeaker
      ? "ask the server's owner for links by https"
      : `if that is meant, add allow_hosts: [${hostAndPort(url)}] to the connection; its secrets are not sent there`,
  );
}

/** The address with the connection's secret parameter, if it has one and the address is home. */
export function withSecret({ auth }: HttpConfig, { url, isHome }: Target): URL {
  if (auth?.kind !== "param") return url;
  const clean = withoutSecret(auth.name, url);
  if (!isHome) return clean;
  const pair = `${encodeURIComponent(auth.name)}=${encodeURIComponent(auth.value)}`;
  clean.search = clean.search === "" ? pair : `${clean.search}&${pair}`;
  return clean;
}

/** The address without the connection's secret parameter, which servers like to repeat in their links. */
export function publicAddress({ auth }: HttpConfig, url: URL): URL {
  return auth?.kind === "param" ? withoutSecret(auth.name, url) : url;
}

/** Every other parameter stays as the server wrote it. */
function withoutSecret(name: string, url: URL): URL {
  const copy = new URL(url.href);
  if (copy.search === "") return copy;
  copy.search = copy.search.slice(1).split("&").filter((pair) => decoded(pair.split("=")[0] ?? "") !== name).join("&");
  return copy;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
