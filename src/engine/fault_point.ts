/** A place where a process may die at the worst moment. */
export type FaultPoint = "folder_put_aside" | "folder_in_place";

/** Does nothing. Tests put another module in the place of this one, to end the process at a named point. */
export function faultPoint(_name: FaultPoint): void {}
