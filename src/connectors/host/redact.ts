import { isSecretKey, type Mask, maskOf, secretTexts } from "../../util/mod.ts";
import type { ConfigMap, ConfigValue } from "../contract/mod.ts";

/** Takes a connection's settings out of texts that come from its connector. */
export class Redactor {
  readonly #all: Mask;
  readonly #secret: Mask;

  constructor(config: ConfigMap) {
    const secrets = secretTexts(config);
    this.#all = maskOf([...textsOf(config), ...secrets], 3);
    // A password that is also the user's name, say, stays masked where it stands as a value.
    this.#secret = maskOf(secrets, undefined, { plain: textsOf(plainOf(config)) });
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

/** The settings whose own names do not say that they are secret. */
function plainOf(config: ConfigMap): ConfigMap {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !isSecretKey(name)));
}

function textsOf(value: ConfigValue): readonly string[] {
  if (value === null || typeof value === "boolean") return [];
  if (typeof value === "object") return Object.values(value).flatMap(textsOf);
  const text = String(value);
  return text.length < 3 ? [] : [text];
}
