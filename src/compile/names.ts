/** The bare name of the relation in schema `staging` that a source's rows land in. */
export function sourceRelation(connection: string, entity: string): string {
  return `src_${connection}__${entity.replaceAll(/[^A-Za-z0-9_]/g, "_")}`;
}

/** The name that an ephemeral pipeline has as a CTE of its consumers. */
export function ephemeralRelation(pipeline: string): string {
  return `__pz_cte__${pipeline}`;
}

/** A key for a pair of connection and entity; neither can hold a line end. */
export function entityKey(connection: string, entity: string): string {
  return `${connection}\n${entity}`;
}
