import type { LabelSelector } from '../../object/index.js';

/** An operator: controllers that work together. */
export interface OperatorSpec {
  /** 1 to 255. */
  readonly controllers: readonly ControllerSpec[];
}

/** A pipeline from sources through stages to a target. */
export interface ControllerSpec {
  /** The name, unique in its operator. */
  readonly name: string;
  /** The sources, at least one. */
  readonly sources: readonly SourceSpec[];
  /** A stage or a list of stages, in YAML form; absent: documents pass unchanged. */
  readonly pipeline?: unknown;
  readonly target: TargetSpec;
}

/** A kind of objects. */
export interface ResourceSpec {
  /** `''`: the core group. Absent: a view of the same operator. */
  readonly apiGroup?: string | undefined;
  /** Absent: the server's preferred version; `v1alpha1` for a view. */
  readonly version?: string | undefined;
  readonly kind: string;
}

/** A source of documents. */
export interface SourceSpec extends ResourceSpec {
  /** `Watcher` watches objects; the other types trigger with one document of their own. */
  readonly type: SourceType;
  /** Name in the documents of a join. @defaultValue the kind */
  readonly as?: string | undefined;
  /** Selects the objects of one namespace. Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Selects objects by their labels. Absent: all objects. */
  readonly labelSelector?: LabelSelector | undefined;
  /** Selects the changes that trigger. Absent: all changes. */
  readonly predicate?: PredicateSpec | undefined;
  /** Period of a `Periodic` source in milliseconds; otherwise 0. */
  readonly periodMs: number;
}

export const sourceTypes = ['Watcher', 'OneShot', 'Periodic'] as const;
/** Type of a source. */
export type SourceType = (typeof sourceTypes)[number];

/** Selects the relevant changes of an object. */
export type PredicateSpec =
  | { readonly type: 'basic'; readonly name: BasicPredicate }
  | { readonly type: 'and' | 'or'; readonly predicates: readonly PredicateSpec[] }
  | { readonly type: 'not'; readonly predicate: PredicateSpec };

/** Names of the built-in predicates. */
export const basicPredicates = [
  'GenerationChanged',
  'ResourceVersionChanged',
  'LabelChanged',
  'AnnotationChanged',
] as const;
/** Name of a built-in predicate. */
export type BasicPredicate = (typeof basicPredicates)[number];

/** The destination of documents. */
export interface TargetSpec extends ResourceSpec {
  readonly type: TargetType;
}

/** Types of targets: `Updater` owns whole objects, `Patcher` owns single fields of other objects. */
export const targetTypes = ['Updater', 'Patcher'] as const;
/** Type of a target. */
export type TargetType = (typeof targetTypes)[number];

/** Returns the API group of the views of an operator. */
export function viewGroupOf(operator: string): string {
  return `${operator}.view.dcontroller.io`;
}

/** Returns the operator of a group of views; undefined: not a group of views. */
export function operatorOfViewGroup(group: string): string | undefined {
  const suffix = '.view.dcontroller.io';
  return group.endsWith(suffix) ? group.slice(0, -suffix.length) : undefined;
}

/** Whether `group` is a group of views. */
export function isViewGroup(group: string): boolean {
  return operatorOfViewGroup(group) !== undefined;
}
