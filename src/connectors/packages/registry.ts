import { PzError } from "../../errors/mod.ts";
import { isIntegrity } from "./integrity.ts";
import { collect, MAX_TARBALL_BYTES } from "./tarball.ts";
import { chosenVersion } from "./versions.ts";

/** Where npm packages come from unless the user says otherwise. */
export const DEFAULT_REGISTRY = "https://registry.npmjs.org";

const MAX_METADATA_BYTES = 128 << 20;
const TIMEOUT_MS = 120_000;
const METADATA_TYPE = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8";

/** A version of a package as its registry describes it. */
export type Resolved = { readonly version: string; readonly tarball: string; readonly integrity: string };

/**
 * The version of an npm package that the first registry which has the package offers for a version or range.
 *
 * @throws {PzError} PZ0320 where no registry has it, PZ0323 for a version that is none, PZ0328 for a registry that can't
 * be reached
 */
export async function resolvePackage(id: string, wanted: string, registries: readonly string[]): Promise<Resolved> {
  chosenVersion(id, wanted, []);
  for (const registry of registries) {
    const url = `${registry.replace(/\/+$/, "")}/${id.replace("/", "%2f")}`;
    const bytes = await fetchBytes(url, METADATA_TYPE, MAX_METADATA_BYTES);
    if (bytes === undefined) continue;
    const versions = versionsOf(id, url, bytes);
    const version = chosenVersion(id, wanted, Object.keys(versions));
    if (version !== undefined) return resolvedOf(id, version, versions[version], url);
    throw new PzError("PZ0320", `no version of package '${id}' fits '${wanted}'`, {
      file: "project.yml",
      hint: newest(Object.keys(versions)),
    });
  }
  throw new PzError("PZ0320", `no registry has a package '${id}'`, {
    file: "project.yml",
    hint: `looked in ${registries.map(shownUrl).join(", ")}; write the path of a folder with ./ in front`,
  });
}

/**
 * The bytes of a tarball.
 *
 * @throws {PzError} PZ0320 where it is not there or too large, PZ0328 where it can't be reached
 */
export async function fetchTarball(id: string, url: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await fetchBytes(url, "application/octet-stream, */*", MAX_TARBALL_BYTES);
  if (bytes !== undefined) return bytes;
  throw new PzError("PZ0320", `the tarball of package '${id}' is not at ${shownUrl(url)}`);
}

/** A URL, or a text that was meant for one, without what may be secret in it. */
export function shownUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) {
    return `${parsed.origin}${parsed.pathname === "/" ? "" : parsed.pathname}`;
  }
  return url.slice(url.lastIndexOf("@") + 1).split(/[?#]/, 1)[0] ?? "";
}

/** @returns undefined for 404 */
async function fetchBytes(url: string, accept: string, limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const unreachable = (why: string, cause?: unknown) =>
    new PzError("PZ0328", `${shownUrl(url)} can't be reached: ${why}`, {
      cause,
      hint: "see that this machine may reach it; --feeds or PZ_FEEDS name other registries",
    });
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw unreachable("it is no http or https URL");
  const target = new URL(url);
  const headers = new Headers({ accept });
  if (target.username !== "" || target.password !== "") {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.set("authorization", `Basic ${btoa(pair)}`);
    target.username = "";
    target.password = "";
  }
  let status: string;
  try {
    const response = await fetch(target, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok && response.body !== null) return await collect(response.body, limit);
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    status = `it answers ${response.status}`;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new PzError("PZ0320", `${shownUrl(url)} gives more than ${limit >> 20} MiB`, { cause: error });
    }
    throw unreachable(reasonOf(error), error);
  }
  throw unreachable(status);
}

/** The runtime's own words hold the whole URL. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${TIMEOUT_MS / 1000} s`;
  const text = error instanceof Error
    ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ""}`
    : "";
  if (/dns|resolve|lookup/i.test(text)) return "its name is unknown";
  if (/refused/i.test(text)) return "the connection was refused";
  if (/certificate|tls|ssl/i.test(text)) return "its certificate is not trusted";
  return "the connection failed";
}

function versionsOf(id: string, url: string, bytes: Uint8Array): { readonly [version: string]: unknown } {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isRecord(value) && isRecord(value["versions"])) return value["versions"];
  } catch { /* told below */ }
  throw new PzError("PZ0320", `${shownUrl(url)} does not describe package '${id}' as a registry does`);
}

function resolvedOf(id: string, version: string, described: unknown, url: string): Resolved {
  const dist = isRecord(described) ? described["dist"] : undefined;
  const tarball = isRecord(dist) ? dist["tarball"] : undefined;
  const hashes = isRecord(dist) && typeof dist["integrity"] === "string" ? dist["integrity"].split(/\s+/) : [];
  const integrity = hashes.find(isIntegrity);
  if (typeof tarball !== "string" || !URL.canParse(tarball) || integrity === undefined) {
    throw new PzError("PZ0320", `${shownUrl(url)} gives no tarball with a SHA-512 for version ${version} of '${id}'`);
  }
  return { version, tarball: withAccess(tarball, url), integrity };
}

/** A tarball at the registry's own origin is fetched with the registry's credentials. */
function withAccess(tarball: string, registry: string): string {
  const target = new URL(tarball);
  const from = new URL(registry);
  if (target.origin !== from.origin) return tarball;
  target.username = from.username;
  target.password = from.password;
  return target.href;
}

function newest(versions: readonly string[]): string {
  const last = versions.at(-1);
  return last === undefined ? "it has no versions" : `such as ${last}`;
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
