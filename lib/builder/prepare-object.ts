import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { BuilderSettings } from './builder-options.js';
import type { Chain, ChainedObject } from './chain.js';
import { completeObject } from './complete-object.js';
import { refId } from './dependencies.js';
import { validateObject } from './validate-object.js';

/** An object that lacks nothing but the hashes that it is rolled on. */
export interface PreparedObject {
  readonly chained: ChainedObject;
  readonly complete: UnstructuredObject;
  readonly replicasExternal: boolean;
}

/**
 * Completes and checks an object of a chain.
 * @throws OperatorError `InvalidObject`, `AlreadyOwned`.
 */
export function prepareObject(
  settings: BuilderSettings,
  chain: Chain,
  chained: ChainedObject,
): PreparedObject {
  const complete = completeObject(settings, chained);
  validateObject(complete);
  return { chained, complete, replicasExternal: hasExternalReplicas(chained, chain) };
}

function hasExternalReplicas(chained: ChainedObject, chain: Chain): boolean {
  if (chained.link.workload?.replicasExternal === true) return true;
  return chain.scaled.has(refId(chained.ref));
}
