/** The bounds of an incremental read, as texts that a parameter can hold; undefined: there is none. */
export type Window = { readonly watermark?: string | undefined; readonly windowUpper?: string | undefined };

/** A call in a parameter's value, such as `{{ watermark }}`. */
const CALL = /\{\{\s*(\w+)(?:\(\))?\s*\}\}/g;

/** The names of the calls in a parameter's value. */
export function callsIn(value: string): readonly string[] {
  return [...value.matchAll(CALL)].map(([, name = ""]) => name);
}

/** Parameters with their calls filled in; one whose call has no value, as on a first run, is left out. */
export function withinWindow(
  query: readonly (readonly [string, string])[],
  window: Window,
): readonly (readonly [string, string])[] {
  const values: { readonly [name: string]: string | undefined } = {
    watermark: window.watermark,
    window_upper: window.windowUpper,
  };
  return query.flatMap(([name, text]) => {
    if (callsIn(text).some((call) => values[call] === undefined)) return [];
    return [[name, text.replaceAll(CALL, (_, call: string) => values[call] ?? "")] as const];
  });
}
