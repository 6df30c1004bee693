import { type ConfigValue, ConnectorError } from "../../contract/mod.ts";

/**
 * The sandbox's self-test: tries exactly what the option names, `read:PATH`, `net:HOST:PORT`, `run:PROGRAM` or
 * `env:NAME`, none of which this connector is ever granted. The runtime's refusal is thrown as it comes; success is
 * thrown as an error of its own, since it means that the sandbox leaks.
 */
export async function tryForbidden(attempt: ConfigValue): Promise<never> {
  const parts = typeof attempt === "string" ? /^(read|net|run|env):(.+)$/s.exec(attempt) : null;
  const [, kind, target] = parts ?? [];
  if (kind === undefined || target === undefined) {
    throw new ConnectorError(
      `Option "attempt" is ${
        JSON.stringify(String(attempt))
      }: expected read:PATH, net:HOST:PORT, run:PROGRAM or env:NAME`,
      { transient: false, code: "PZ0301" },
    );
  }
  await reach(kind, target);
  throw new ConnectorError(`The sandbox let the connector use ${kind} ${target}, which nobody granted`, {
    transient: false,
    code: "PZ0742",
  });
}

async function reach(kind: string, target: string): Promise<void> {
  switch (kind) {
    case "read":
      await Deno.readFile(target);
      return;
    case "env":
      Deno.env.get(target);
      return;
    case "run":
      await new Deno.Command(target).output();
      return;
    case "net": {
      const colon = target.lastIndexOf(":");
      const connection = await Deno.connect({
        hostname: target.slice(0, colon),
        port: Number(target.slice(colon + 1)),
      });
      connection.close();
    }
  }
}
