/** An entry of `order_by` of a merge: a column, perhaps with `asc` or `desc` behind it. */
export type OrderTerm = { readonly column: string; readonly direction: "ASC" | "DESC" };

/** What an entry of `order_by` means. */
export function orderTerm(text: string): OrderTerm {
  const [, column = text, direction = "asc"] = /^\s*(.*\S)\s+(asc|desc)\s*$/i.exec(text) ?? [];
  return { column: column.trim(), direction: direction.toLowerCase() === "desc" ? "DESC" : "ASC" };
}
