import type { Client } from '../../client/client.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { AccessVerb, RequiredAccess } from './required-access.js';

/** A verb on a resource that an account may not use. */
export interface MissingAccess {
  readonly group: string;
  /** Includes the subresource, such as `pods/status`. */
  readonly resource: string;
  readonly verb: AccessVerb;
  /** `''` for all namespaces or a cluster-scoped resource. */
  readonly namespace: string;
  /** @defaultValue all objects */
  readonly name?: string | undefined;
}

interface SelfSubjectAccessReview extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

// Concurrent reviews. Reviews are cheap, but many operators may start at once.
const maxAtOnce = 10;

/**
 * Returns the part of `required` that the account of `client` may not do, by SelfSubjectAccessReviews. Omits
 * unserved kinds, whose resource names are unknown.
 * @throws the error of a review.
 */
export async function missingAccess(
  client: Client,
  required: readonly RequiredAccess[],
  signal?: AbortSignal,
): Promise<readonly MissingAccess[]> {
  const asked = await accessOf(client, required);
  const waiting = [...asked.values()];
  const missing: MissingAccess[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (!(await isAllowed(client, next, signal))) missing.push(next);
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
  const order = [...asked.keys()];
  return missing.sort((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b)));
}

/** Returns each verb once. */
async function accessOf(
  client: Client,
  required: readonly RequiredAccess[],
): Promise<ReadonlyMap<string, MissingAccess>> {
  const all = new Map<string, MissingAccess>();
  for (const { type, verbs, subresource, namespace = '', names = [undefined] } of required) {
    const served = await client.resourceType(type).catch((error: unknown) => {
      if (isOperatorError(error, 'UnknownKind')) return undefined;
      throw error;
    });
    if (served === undefined) continue;
    const { group, plural } = served;
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    const place = { group, resource, namespace: served.namespaced ? namespace : '' };
    for (const verb of verbs) {
      for (const name of names) {
        const access = { ...place, verb, ...(name !== undefined && { name }) };
        all.set(nameOf(access), access);
      }
    }
  }
  return all;
}

function nameOf({ group, resource, verb, namespace, name = '' }: MissingAccess): string {
  return [group, resource, verb, namespace, name].join(' ');
}

async function isAllowed(
  client: Client,
  { group, resource, verb, namespace, name }: MissingAccess,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const [plural = '', subresource = ''] = resource.split('/');
  const resourceAttributes = { group, resource: plural, subresource, verb, namespace, name };
  const answer = await client.create<SelfSubjectAccessReview>(
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes },
    },
    { signal },
  );
  return answer.status?.allowed === true;
}
