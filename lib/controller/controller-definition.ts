import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { ResolvedControllerOptions } from './controller-options.js';
import type { Reconciler } from './reconciler.js';
import type { Source } from './source.js';

/** A kind that a controller declares, and as what. */
export interface ControllerKind {
  readonly type: TypeReference<KubernetesObject>;
  /** What it reconciles, what it makes for it, or what it only looks at. */
  readonly role: 'reconciled' | 'owned' | 'watched';
}

/** The kinds that a controller makes objects of. */
export function ownedTypes({
  kinds,
}: Pick<ControllerDefinition, 'kinds'>): readonly TypeReference<KubernetesObject>[] {
  return kinds.filter(({ role }) => role === 'owned').map(({ type }) => type);
}

/** What a controller is. */
export interface ControllerDefinition {
  /** The kind whose objects are reconciled. */
  readonly type: TypeReference<KubernetesObject>;
  readonly options: ResolvedControllerOptions;
  readonly sources: readonly Source[];
  /** What it reconciles, then what it owns and watches, in the order of their links. */
  readonly kinds: readonly ControllerKind[];
  readonly reconciler: Reconciler;
}
