import { CAPABILITIES, type Capability, ConnectorError } from "../contract/mod.ts";
import { countMember, type Message, PROTOCOL_MAJOR, textMember } from "../protocol/messages.ts";
import { printable } from "./tail.ts";

/** Who is expected to answer a greeting. */
export type Expected = {
  readonly connector: string;
  /** What it must say that it can; undefined: whatever it says. */
  readonly capabilities?: ReadonlySet<Capability> | undefined;
};

/** @throws {ConnectorError} PZ0356 when another answers than the one expected, or one that can do something else */
export function checkGreeting(messages: readonly Message[], { connector, capabilities }: Expected): void {
  const hello = messages.find(({ m }) => m === "Hello") ?? { m: "Hello" };
  const name = textMember(hello, "name");
  const major = countMember(hello, "protocolMajor");
  if (name !== connector || major !== PROTOCOL_MAJOR) {
    throw refusal(
      `Connector '${connector}' answers as '${printable(name)}' with protocol ${major}: expected '${connector}' with ` +
        `protocol ${PROTOCOL_MAJOR}`,
    );
  }
  if (capabilities !== undefined) compareCapabilities(connector, capabilities, hello["capabilities"]);
}

/** A plan that counts on what the connector can't do would be wrong. */
function compareCapabilities(connector: string, declared: ReadonlySet<string>, bits: unknown): void {
  const can = typeof bits === "string" && /^\d{1,20}$/.test(bits) ? BigInt(bits) : 0n;
  const known = Object.entries(CAPABILITIES);
  const names = (isMeant: (name: string, isSaid: boolean) => boolean) =>
    known.filter(([name, bit]) => isMeant(name, (can & bit) !== 0n)).map(([name]) => name).join(", ");
  const manifestOnly = names((name, isSaid) => declared.has(name) && !isSaid);
  const codeOnly = names((name, isSaid) => !declared.has(name) && isSaid);
  const differences = [
    ...(manifestOnly === "" ? [] : [`pz.connector.json names ${manifestOnly} and its code (connector.ts) does not`]),
    ...(codeOnly === "" ? [] : [`its code (connector.ts) names ${codeOnly} and pz.connector.json does not`]),
  ];
  if (differences.length === 0) return;
  throw refusal(
    `Connector '${connector}' tells its capabilities differently in two places: ${differences.join("; ")}`,
    'make "capabilities" the same in both, then run pz connector build',
  );
}

function refusal(message: string, hint?: string): ConnectorError {
  return new ConnectorError(message, { transient: false, code: "PZ0356", hint });
}
