import { DataType } from "../util/arrow.ts";

/** Whether two Arrow types hold the same values in the same form, whatever their children are called. */
export function isSameType(a: DataType, b: DataType | undefined): boolean {
  if (b === undefined || a.typeId !== b.typeId) return false;
  if (DataType.isDecimal(a) && DataType.isDecimal(b) && a.bitWidth !== b.bitWidth) return false;
  const children = childTypes(a);
  const others = childTypes(b);
  // The text of a type with children is that of theirs and their names.
  if (children.length === 0) return String(a) === String(b);
  if (DataType.isFixedSizeList(a) && DataType.isFixedSizeList(b) && a.listSize !== b.listSize) return false;
  return children.length === others.length && children.every((child, index) => isSameType(child, others[index]));
}

function childTypes(type: DataType): readonly DataType[] {
  return type.children?.map((field) => field.type) ?? [];
}
