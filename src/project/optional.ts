/** The members that may be undefined become optional, so that an absent one is absent. */
export type WithoutUndefined<T> =
  & { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The object without its members that are undefined. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  // The type says what the filter does.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as WithoutUndefined<T>;
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** A record whose look-ups find only what was put in, whatever a user called it. */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): { readonly [name: string]: T } {
  const record: { [name: string]: T } = Object.create(null);
  for (const [name, value] of entries) record[name] = value;
  return record;
}
