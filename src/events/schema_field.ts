type Text = {
  readonly type: "text";
  /** A regular expression that every value matches. */
  readonly pattern?: string;
  /** The text may be empty. */
  readonly empty?: true;
};
/** A whole number from 0 to 2^53 - 1. */
type Count = { readonly type: "count" };
type Flag = { readonly type: "flag" };
type Word<W extends string> = { readonly type: "word"; readonly words: { readonly [Word in W]: true } };

/** What the value of a field can be. */
export type EventShape =
  | Text
  | Count
  | Flag
  | Word<string>
  | { readonly type: "list"; readonly of: EventShape }
  | { readonly type: "object"; readonly members: { readonly [name: string]: EventField } };

type Presence = {
  /** One sentence for the reader of an event. */
  readonly doc: string;
  /** The key is absent where the field does not apply; otherwise it always stands there. */
  readonly optional?: true;
  /** The value may be null. */
  readonly nullable?: true;
  /** A nullable field of an event that is null exactly when another field has another value. */
  readonly setWhen?: { readonly field: string; readonly is: string };
};

/** One field of an event, or one member of an object in it. */
export type EventField = EventShape & Presence;

type ShapeOf<T> = [T] extends [boolean] ? Flag
  : [T] extends [number] ? Count
  : [T] extends [string] ? (string extends T ? Text : Word<T>)
  : T extends readonly (infer Item)[] ? { readonly type: "list"; readonly of: ShapeOf<Item> }
  : { readonly type: "object"; readonly members: EventFields<T> };

type Nullable<T> = null extends T
  ? { readonly nullable: true; readonly setWhen?: { readonly field: string; readonly is: string } }
  : { readonly nullable?: never; readonly setWhen?: never };

type Optional<T, K extends keyof T> = T extends Required<Pick<T, K>> ? { readonly optional?: never }
  : { readonly optional: true };

/** The only definitions that fit the type of an event: each field with its own type and presence. */
export type EventFields<T> = {
  readonly [K in keyof T]-?: ShapeOf<NonNullable<T[K]>> & { readonly doc: string } & Nullable<T[K]> & Optional<T, K>;
};
