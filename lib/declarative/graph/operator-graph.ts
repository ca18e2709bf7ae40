import { writtenStages } from '../engine/compile-pipeline.js';
import { operatorOfViewGroup, viewGroupOf } from '../spec/operator-spec.js';
import type {
  ControllerSpec,
  OperatorSpec,
  ResourceSpec,
  SourceSpec,
  SourceType,
  TargetType,
} from '../spec/operator-spec.js';
import { compileContext } from '../spec-problem.js';

/** An operator and its name, by which other operators refer to its views. */
export interface NamedOperator {
  readonly name: string;
  readonly spec: OperatorSpec;
}

/** Operators with their sources, stages and targets; JSON. See {@link operatorGraph}. */
export interface OperatorGraph {
  /** The operators, in the given order. */
  readonly operators: readonly GraphOperator[];
  /** Every kind that is read or written, sorted by group and kind. */
  readonly resources: readonly GraphResource[];
  /** The dependencies between controllers. */
  readonly links: readonly GraphLink[];
}

/** An operator in a graph. */
export interface GraphOperator {
  readonly name: string;
  readonly controllers: readonly GraphController[];
}

export interface GraphController {
  /** `<operator>/<name>`. */
  readonly id: string;
  readonly name: string;
  readonly sources: readonly GraphSource[];
  /** Empty: documents pass unchanged. */
  readonly stages: readonly GraphStage[];
  readonly target: GraphTarget;
}

export type GraphSource =
  | {
      readonly type: Extract<SourceType, 'Watcher'>;
      /** The id of a {@link GraphResource}. */
      readonly resource: string;
      readonly as?: string | undefined;
      readonly namespace?: string | undefined;
      readonly labelSelector?: SourceSpec['labelSelector'];
      readonly predicate?: SourceSpec['predicate'];
    }
  | {
      readonly type: Exclude<SourceType, 'Watcher'>;
      readonly kind: string;
      /** Period of a `Periodic` source in milliseconds; otherwise 0. */
      readonly periodMs: number;
    };

/** A stage in its YAML form. */
export interface GraphStage {
  /** The name of the operator of the stage, for example `@select`. */
  readonly name: string;
  readonly argument: unknown;
}

export interface GraphTarget {
  /** The id of a {@link GraphResource}. */
  readonly resource: string;
  readonly type: TargetType;
}

/** A kind; all its versions are one resource. */
export interface GraphResource {
  /** `<group>/<kind>`. */
  readonly id: string;
  /** `''`: the core group. */
  readonly apiGroup: string;
  readonly kind: string;
  /** The operator that owns the view, possibly not in the graph; undefined: not a view. */
  readonly viewOf?: string | undefined;
}

/** A controller reads what another controller, or the same one, writes. */
export interface GraphLink {
  /** The id of the writing controller. */
  readonly from: string;
  /** The id of the reading controller. */
  readonly to: string;
  /** The id of the resource. */
  readonly resource: string;
}

/**
 * Returns the sources, stages and targets of operators, and a link for each controller that reads a kind
 * that a controller writes, including views of other operators.
 * @param operators - valid ones with distinct names: unknown stages are omitted
 */
export function operatorGraph(operators: readonly NamedOperator[]): OperatorGraph {
  const resources = new Map<string, GraphResource>();
  const graphed = operators.map(({ name, spec }) => ({
    name,
    controllers: spec.controllers.map((controller) => graphController(name, controller, resources)),
  }));
  return {
    operators: graphed,
    // Unlike localeCompare, the order is the same on every machine.
    resources: [...resources.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    links: linksOf(graphed.flatMap(({ controllers }) => controllers)),
  };
}

function graphController(
  operator: string,
  { name, sources, pipeline, target }: ControllerSpec,
  resources: Map<string, GraphResource>,
): GraphController {
  const resourceId = (resource: ResourceSpec): string => {
    const found = graphResource(operator, resource);
    resources.set(found.id, found);
    return found.id;
  };
  return {
    id: `${operator}/${name}`,
    name,
    sources: sources.map((source) => graphSource(source, resourceId)),
    stages: writtenStages(pipeline, compileContext([])).map((stage) => ({
      name: stage.name,
      argument: stage.argument,
    })),
    target: { resource: resourceId(target), type: target.type },
  };
}

function graphResource(operator: string, { apiGroup, kind }: ResourceSpec): GraphResource {
  const group = apiGroup ?? viewGroupOf(operator);
  const viewOf = operatorOfViewGroup(group);
  const id = `${group}/${kind}`;
  return { id, apiGroup: group, kind, ...(viewOf !== undefined && { viewOf }) };
}

function graphSource(
  source: SourceSpec,
  resourceId: (resource: ResourceSpec) => string,
): GraphSource {
  const { type, kind, as, namespace, labelSelector, predicate, periodMs } = source;
  if (type !== 'Watcher') return { type, kind, periodMs };
  return {
    type,
    resource: resourceId(source),
    ...(as !== undefined && { as }),
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(predicate !== undefined && { predicate }),
  };
}

function linksOf(controllers: readonly GraphController[]): GraphLink[] {
  return controllers.flatMap(({ id: from, target: { resource } }) =>
    controllers
      .filter(({ sources }) => sources.some((source) => reads(source, resource)))
      .map(({ id: to }) => ({ from, to, resource })),
  );
}

function reads(source: GraphSource, resource: string): boolean {
  return source.type === 'Watcher' && source.resource === resource;
}
