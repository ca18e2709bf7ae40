import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { ResolvedControllerOptions } from './controller-options.js';
import type { Reconciler } from './reconciler.js';
import type { Source } from './source.js';

/** A kind that a controller declares, and its role. */
export interface ControllerKind {
  readonly type: TypeReference<KubernetesObject>;
  /** The reconciled kind, a kind that the controller creates, or a kind that it only watches. */
  readonly role: 'reconciled' | 'owned' | 'watched';
}

/** Returns the kinds that a controller owns. */
export function ownedTypes({
  kinds,
}: Pick<ControllerDefinition, 'kinds'>): readonly TypeReference<KubernetesObject>[] {
  return kinds.filter(({ role }) => role === 'owned').map(({ type }) => type);
}

/** The definition of a controller. */
export interface ControllerDefinition {
  /** The kind whose objects are reconciled. */
  readonly type: TypeReference<KubernetesObject>;
  readonly options: ResolvedControllerOptions;
  readonly sources: readonly Source[];
  /** The reconciled kind, then the owned and watched kinds in the order of their declaration. */
  readonly kinds: readonly ControllerKind[];
  readonly reconciler: Reconciler;
}
