import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { ResolvedControllerOptions } from './controller-options.js';
import type { Reconciler } from './reconciler.js';
import type { Source } from './source.js';

/** What a controller is. */
export interface ControllerDefinition {
  /** The kind whose objects are reconciled. */
  readonly type: TypeReference<KubernetesObject>;
  readonly options: ResolvedControllerOptions;
  readonly sources: readonly Source[];
  readonly reconciler: Reconciler;
}
