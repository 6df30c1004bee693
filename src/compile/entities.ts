import { PzError } from "../errors/mod.ts";
import type { Connection, Project, ReadBlock, SourcePosition, WriteBlock } from "../project/mod.ts";
import { type Canonical, canonicalJson, ordinal } from "../util/mod.ts";
import type { SinkCall, SourceCall } from "../template/mod.ts";
import { entityKey, sourceRelation } from "./names.ts";
import type { PipelineLinks } from "./links.ts";
import { outputName, type PipelineQuery } from "./query.ts";

/** A source that at least one pipeline with a node reads. */
export type SourceEntity = {
  readonly connection: Connection;
  readonly entity: string;
  readonly relation: string;
  readonly read: ReadBlock;
  readonly position: SourcePosition;
};

/** One output and the pipeline that fills it. */
export type SinkEntity = {
  readonly connection: Connection;
  readonly entity: string;
  readonly pipeline: string;
  readonly write: WriteBlock;
  readonly position: SourcePosition;
};

/** Where a key of an output's write stands: in connections.yml, or else the call that declares it. */
export function placeInWrite(
  { connection, entity, position }: Pick<SinkEntity, "connection" | "entity" | "position">,
  key: string,
): SourcePosition {
  const declared = ownValue(connection.entities, entity);
  return declared?.write === undefined ? position : ownValue(declared.places?.write, key) ?? position;
}

const NO_READ: ReadBlock = { options: {} };
const DEFAULT_WRITE: WriteBlock = {
  strategy: "append",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

/**
 * The sources that the pipelines read, ordered by relation. Options in two places are PZ0341, two entities that share a
 * relation PZ0110, a pipeline of that name PZ0230.
 */
export function sourceEntities(
  project: Project,
  queries: Iterable<PipelineQuery>,
  links: readonly PipelineLinks[],
): { readonly sources: readonly SourceEntity[]; readonly errors: readonly PzError[] } {
  const errors: PzError[] = [];
  const declared = new Map<string, SourceCall>();
  for (const query of queries) {
    for (const call of query.rendered.sources) {
      if (call.read === undefined) continue;
      const key = entityKey(call.connection, call.entity);
      const error = readSurfaceError(project, call, declared.get(key));
      if (error !== undefined) errors.push(error);
      else if (!declared.has(key)) declared.set(key, call);
    }
  }
  const found = new Map<string, SourceEntity>();
  for (const { sources } of links) {
    for (const call of sources) {
      const key = entityKey(call.connection, call.entity);
      const connection = ownValue(project.connections, call.connection);
      if (connection === undefined || found.has(key)) continue;
      const entity = ownValue(connection.entities, call.entity);
      const kwargs = declared.get(key);
      found.set(key, {
        connection,
        entity: call.entity,
        relation: sourceRelation(call.connection, call.entity),
        read: entity?.read ?? kwargs?.read ?? NO_READ,
        position: entity?.read === undefined ? (kwargs ?? call).position : entity.position,
      });
    }
  }
  const sources = [...found.values()].sort((a, b) => ordinal(a.relation, b.relation) || ordinal(a.entity, b.entity));
  errors.push(...collisions(project, sources));
  return { sources, errors };
}

function readSurfaceError(project: Project, call: SourceCall, earlier: SourceCall | undefined): PzError | undefined {
  const name = `${call.connection}.${call.entity}`;
  const entity = ownValue(ownValue(project.connections, call.connection)?.entities, call.entity);
  if (entity?.read !== undefined) {
    return new PzError("PZ0341", `the read of '${name}' is declared twice: in this call and in ${place(entity)}`, {
      ...call.position,
      hint: "keep the options in one of the two places",
    });
  }
  if (earlier?.read !== undefined && readText(earlier.read) !== readText(call.read ?? NO_READ)) {
    return new PzError(
      "PZ0341",
      `source('${call.connection}', '${call.entity}') has other options in ${place(earlier)}`,
      {
        ...call.position,
        hint: `declare the read of '${name}' once, under 'entities:' of '${call.connection}' in connections.yml`,
      },
    );
  }
  return undefined;
}

function readText(read: ReadBlock): string {
  const { columns, sync, retry, options } = read;
  return canonicalJson(
    { columns, sync, retry, options } satisfies Canonical,
  );
}

function collisions(project: Project, sources: readonly SourceEntity[]): readonly PzError[] {
  const errors: PzError[] = [];
  const byRelation = new Map<string, SourceEntity>();
  for (const source of sources) {
    const folded = source.relation.toLowerCase();
    const other = byRelation.get(folded);
    if (other === undefined) byRelation.set(folded, source);
    else {
      errors.push(
        new PzError(
          "PZ0110",
          `sources '${sourceName(other)}' and '${sourceName(source)}' share the relation 'staging.${source.relation}'`,
          {
            ...source.position,
            hint: "rename one of the two entities, or read one of them through a connection of another name",
          },
        ),
      );
    }
  }
  for (const pipeline of project.pipelines) {
    const source = byRelation.get(pipeline.name.toLowerCase());
    if (source === undefined || pipeline.materialization === "ephemeral") continue;
    errors.push(
      new PzError(
        "PZ0230",
        `pipeline '${pipeline.name}' has the name of the relation that '${sourceName(source)}' lands in`,
        {
          file: pipeline.file,
          hint: "rename the pipeline's file; names that begin with 'src_' are best left to sources",
        },
      ),
    );
  }
  return errors;
}

/** The outputs in the order of their names. Options in two places are PZ0341, two pipelines for one output PZ0206. */
export function sinkEntities(
  project: Project,
  links: readonly PipelineLinks[],
): { readonly sinks: readonly SinkEntity[]; readonly errors: readonly PzError[] } {
  const errors: PzError[] = [];
  const found = new Map<string, { sink: SinkEntity; call: SinkCall }>();
  const ordered = [...links].sort((a, b) => ordinal(pipelineName(a), pipelineName(b)));
  for (const link of ordered) {
    for (const call of link.query.rendered.sinks) {
      const key = entityKey(call.connection, call.entity);
      const connection = ownValue(project.connections, call.connection);
      if (connection === undefined) continue;
      const owner = found.get(key);
      if (owner !== undefined) {
        if (owner.sink.pipeline === pipelineName(link)) continue;
        errors.push(
          new PzError(
            "PZ0206",
            `pipelines '${owner.sink.pipeline}' and '${pipelineName(link)}' both load '${outputName(call)}'`,
            {
              ...call.position,
              hint: "give each an output of its own, or UNION ALL both in one pipeline",
            },
          ),
        );
        continue;
      }
      const entity = ownValue(connection.entities, call.entity);
      if (entity?.write !== undefined && call.write !== undefined) {
        errors.push(
          new PzError(
            "PZ0341",
            `the write of '${outputName(call)}' is declared twice: in this call and in ${place(entity)}`,
            {
              ...call.position,
              hint: "keep the options in one of the two places",
            },
          ),
        );
      }
      found.set(key, {
        call,
        sink: {
          connection,
          entity: call.entity,
          pipeline: pipelineName(link),
          write: entity?.write ?? call.write ?? DEFAULT_WRITE,
          position: call.position,
        },
      });
    }
  }
  const sinks = [...found.values()].map(({ sink }) => sink);
  return { sinks: sinks.sort((a, b) => ordinal(sinkName(a), sinkName(b))), errors };
}

function pipelineName(link: PipelineLinks): string {
  return link.query.rendered.pipeline.name;
}

function sourceName(source: SourceEntity): string {
  return `${source.connection.name}.${source.entity}`;
}

function sinkName(sink: SinkEntity): string {
  return `${sink.connection.name}.${sink.entity}`;
}

function place({ position }: { readonly position: SourcePosition }): string {
  return `${position.file}:${position.line}`;
}

/** A member of a map that came from a file, never one of the prototype's. */
export function ownValue<T>(map: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
