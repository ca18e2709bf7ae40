import {
  completeObject,
  desiredObject,
  podTemplateIn,
  readObject,
  refId,
  validateObject,
  withPodTemplate,
} from '../apply/index.js';
import type { DesiredObject, WantedObject } from '../apply/index.js';
import { describeObject } from '../object/describe-object.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { OperatorError } from '../system/operator-error.js';
import type { BuilderSettings } from './builder-options.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { changedSources, stampTemplate, stampVariables } from './stamp.js';
import type { Stamp } from './stamp.js';

/** A complete object without the hashes of its ConfigMaps and Secrets. */
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
  const complete = completeObject(settings, wantedOf(chained));
  validateObject(complete);
  return { chained, complete, replicasExternal: hasExternalReplicas(chained, chain) };
}

function hasExternalReplicas(chained: ChainedObject, chain: Chain): boolean {
  if (chained.link.workload?.replicasExternal === true) return true;
  return chain.scaled.has(refId(chained.ref));
}

function wantedOf({ type, ref, link }: ChainedObject): WantedObject {
  return { type, ref, object: link.object, options: link.options };
}

/** Adds the hashes of ConfigMaps and Secrets, and the hash of the object itself. */
export function finishObject(
  context: RunContext,
  { chained, complete, replicasExternal }: PreparedObject,
  stamps: readonly Stamp[],
): DesiredObject {
  const template = podTemplateIn(complete);
  const variables = template === undefined ? [] : stampVariables(template, stamps);
  const object =
    template === undefined
      ? complete
      : withPodTemplate(complete, stampTemplate(template, variables));
  const { namespace } = chained.ref;
  return desiredObject({
    ...{ ...wantedOf(chained), object, replicasExternal },
    causesOf: (live: UnstructuredObject) => changedSources(live, variables, namespace),
    check: () => checkScaleTarget(context, chained),
  });
}

/**
 * Rejects an autoscaler whose workload is neither in the chain nor in the cluster.
 * @throws OperatorError `TargetMissing`
 */
async function checkScaleTarget(
  context: RunContext,
  { link: { scaleTarget }, ref }: ChainedObject,
): Promise<void> {
  if (scaleTarget === undefined) return;
  const { hint, name, ...type } = scaleTarget;
  const target = { namespace: ref.namespace, name };
  if ((await readObject(context, type, target)) !== undefined) return;
  const message = `${describeObject(ref)}: scaleTargetRef names ${type.kind} ${name}, which is neither in the chain nor in the cluster; ${hint}; correct the name, or set workload`;
  throw new OperatorError('TargetMissing', message);
}
