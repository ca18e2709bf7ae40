import { describeObject } from '../object/describe-object.js';
import { ConfigMap, PersistentVolumeClaim, Secret, ServiceAccount } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { Candidate } from './candidate.js';
import type { Chain } from './chain.js';
import { readObject } from './context.js';
import type { RunContext } from './context.js';
import { refId } from './dependencies.js';
import { isKind, podTemplatePath } from './kind-traits.js';
import { podReferencesOf, podTemplateIn } from './pod-references.js';

/** What {@link stillInUse} looks at. */
export interface Uses {
  readonly chain: Chain;
  readonly orphans: readonly Candidate[];
  /** Workloads that are about to be something else than they are, by id. @defaultValue none */
  readonly becoming?: ReadonlyMap<string, UnstructuredObject>;
}

/**
 * Which of `orphans` the live workloads of the chain still refer to, and which one does. While a
 * workload waits for its turn to be updated, its pods would not start again without them.
 */
export async function stillInUse(
  context: RunContext,
  { chain, orphans, becoming = new Map() }: Uses,
): Promise<ReadonlyMap<Candidate, string>> {
  const uses = new Map<Candidate, string>();
  const needed = orphans.filter(({ object }) => isNeededByPods(object));
  if (needed.length === 0) return uses;
  const workloads = chain.objects.filter(({ ref }) => podTemplatePath(ref) !== undefined);
  const live = await Promise.all(
    workloads.map(
      async ({ type, ref }) => becoming.get(refId(ref)) ?? (await readObject(context, type, ref)),
    ),
  );
  for (const candidate of needed) {
    const user = live.find((workload) => workload !== undefined && refersTo(workload, candidate));
    if (user !== undefined) uses.set(candidate, `${describeObject(user)} still refers to it`);
  }
  return uses;
}

function isNeededByPods(object: UnstructuredObject): boolean {
  return [ConfigMap, Secret, ServiceAccount, PersistentVolumeClaim].some((type) =>
    isKind(object, type),
  );
}

function refersTo(workload: UnstructuredObject, { object }: Candidate): boolean {
  const template = podTemplateIn(workload);
  if (template === undefined || workload.metadata.namespace !== object.metadata.namespace) {
    return false;
  }
  const { configMaps, secrets, pullSecrets, claims, serviceAccount } = podReferencesOf(template);
  const { name = '' } = object.metadata;
  if (isKind(object, ConfigMap)) return configMaps.includes(name);
  if (isKind(object, Secret)) return secrets.includes(name) || pullSecrets.includes(name);
  if (isKind(object, PersistentVolumeClaim)) return claims.includes(name);
  return serviceAccount === name;
}
