import type { LabelSelector } from '../../object/label-selector.js';

/** An operator: controllers that work together. */
export interface OperatorSpec {
  /** 1 to 255. */
  readonly controllers: readonly ControllerSpec[];
}

/** One pipeline: from sources by stages to a target. */
export interface ControllerSpec {
  /** Unique in its operator. */
  readonly name: string;
  /** At least one. */
  readonly sources: readonly SourceSpec[];
  /** A stage or a list of stages, as it was written; absent: documents pass through. */
  readonly pipeline?: unknown;
  readonly target: TargetSpec;
}

/** A kind of objects. */
export interface ResourceSpec {
  /** `''`: the core group. Absent: a view of the same operator. */
  readonly apiGroup?: string | undefined;
  /** Absent: the server's preferred one; of a view `v1alpha1`. */
  readonly version?: string | undefined;
  readonly kind: string;
}

/** Where documents come from. */
export interface SourceSpec extends ResourceSpec {
  /** What it does: `Watcher` follows objects; the others have one object of their own as a trigger. */
  readonly type: SourceType;
  /** Its name in the documents of a join. @defaultValue the kind */
  readonly as?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelector | undefined;
  readonly predicate?: PredicateSpec | undefined;
  /** Of a `Periodic` source, in milliseconds; else 0. */
  readonly periodMs: number;
}

/** What a source does. */
export const sourceTypes = ['Watcher', 'OneShot', 'Periodic'] as const;
/** What a source does. */
export type SourceType = (typeof sourceTypes)[number];

/** Which changes of an object matter. */
export type PredicateSpec =
  | { readonly type: 'basic'; readonly name: BasicPredicate }
  | { readonly type: 'and' | 'or'; readonly predicates: readonly PredicateSpec[] }
  | { readonly type: 'not'; readonly predicate: PredicateSpec };

/** The predicates that are built in. */
export const basicPredicates = [
  'GenerationChanged',
  'ResourceVersionChanged',
  'LabelChanged',
  'AnnotationChanged',
] as const;
/** A predicate that is built in. */
export type BasicPredicate = (typeof basicPredicates)[number];

/** Where documents go. */
export interface TargetSpec extends ResourceSpec {
  readonly type: TargetType;
}

/** How documents are written: `Updater` owns whole objects, `Patcher` single fields of others'. */
export const targetTypes = ['Updater', 'Patcher'] as const;
/** How documents are written. */
export type TargetType = (typeof targetTypes)[number];

/** The group of the views of an operator. */
export function viewGroupOf(operator: string): string {
  return `${operator}.view.dcontroller.io`;
}

/** The operator whose views a group holds; undefined: it holds none. */
export function operatorOfViewGroup(group: string): string | undefined {
  const suffix = '.view.dcontroller.io';
  return group.endsWith(suffix) ? group.slice(0, -suffix.length) : undefined;
}
