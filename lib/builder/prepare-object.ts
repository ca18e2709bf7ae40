import { isJsonObject } from '../object/json.js';
import { Service } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { BuilderSettings } from './builder-options.js';
import type { Chain, ChainedObject } from './chain.js';
import { completeObject } from './complete-object.js';
import { refId, scaleTargetOf } from './dependencies.js';
import { isKind, rollsPods } from './kind-traits.js';
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
  const complete = withSelector(completeObject(settings, chained), chained, chain);
  validateObject(complete);
  return { chained, complete, replicasExternal: hasExternalReplicas(chained, chain) };
}

function hasExternalReplicas(chained: ChainedObject, chain: Chain): boolean {
  if (chained.link.workload?.replicasExternal === true) return true;
  const id = refId(chained.ref);
  return chain.objects.some((other) => scaleTargetOf(other).includes(id));
}

// A Service that says nothing of a selector selects the pods of the workload of its name: a Service
// without one would select nothing.
function withSelector(
  object: UnstructuredObject,
  { link }: ChainedObject,
  chain: Chain,
): UnstructuredObject {
  const { spec } = object;
  if (!isKind(object, Service) || !isJsonObject(spec) || link.selects === undefined) return object;
  if (spec['selector'] !== undefined || spec['type'] === 'ExternalName') return object;
  const selector = selectorOfWorkload(chain, link.selects);
  return selector === undefined ? object : { ...object, spec: { ...spec, selector } };
}

function selectorOfWorkload(
  { objects }: Chain,
  name: string,
): Readonly<Record<string, string>> | undefined {
  const workload = objects.find(({ ref }) => rollsPods(ref) && ref.name === name);
  const { selector } = (workload?.link.object['spec'] ?? {}) as {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
  return selector?.matchLabels;
}
