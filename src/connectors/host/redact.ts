import { type Mask, maskOf } from "../../util/mod.ts";
import type { ConfigMap, ConfigValue } from "../contract/mod.ts";

const SECRET_KEY = /pass|secret|token|key|credential|sas|dsn|url|uri|connection/i;

/** Takes a connection's settings out of texts that come from its connector. */
export class Redactor {
  readonly #all: Mask;
  readonly #secret: Mask;

  constructor(config: ConfigMap) {
    const all = new Set<string>();
    const secret = new Set<string>();
    for (const [key, value] of Object.entries(config)) collect(value, SECRET_KEY.test(key), all, secret);
    this.#all = maskOf(all, 3);
    this.#secret = maskOf(secret, 1);
  }

  /** Without any setting of three letters or more: for logs and the output of a process. */
  strict(text: string): string {
    return this.#all(text);
  }

  /** Without the settings whose names say that they are secret: for error messages, which may name hosts and paths. */
  lenient(text: string): string {
    return this.#secret(text);
  }
}

function collect(value: ConfigValue, isSecret: boolean, all: Set<string>, secret: Set<string>): void {
  if (typeof value === "string" || typeof value === "bigint" || typeof value === "number") {
    const text = String(value);
    if (text.length >= 3) all.add(text);
    if (isSecret && text !== "") secret.add(text);
  } else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      collect(member, isSecret || SECRET_KEY.test(key), all, secret);
    }
  }
}
