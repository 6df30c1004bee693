import { ConnectorError } from "../../contract/mod.ts";

/**
 * The root certificate of a connection.
 *
 * @throws {ConnectorError} PZ0301 where no file is at the path
 */
export async function readCertificate(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    const what = error instanceof Deno.errors.NotFound
      ? `There is no certificate file "${path}"`
      : error instanceof Deno.errors.IsADirectory
      ? `The certificate file "${path}" is a folder`
      : undefined;
    if (what === undefined) throw error;
    throw new ConnectorError(what, {
      transient: false,
      code: "PZ0301",
      hint: "check ssl_root_cert of the connection",
      cause: error,
    });
  }
}
