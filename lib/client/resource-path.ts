import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { describeCall } from './call.js';

/** What is addressed within a kind: a collection, an object or a subresource. */
export interface ResourceTarget {
  readonly verb: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

// A request of any other verb without a name would reach the whole collection: a delete of it.
const collectionVerbs: ReadonlySet<string> = new Set([
  ...['list', 'watch', 'create', 'deletecollection'],
]);

/** Parameters of a request; those undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * `/api/v1/namespaces/default/configmaps/web?limit=1`. The namespace of a cluster-scoped kind is
 * left out; that of a namespaced one must be there when an object is addressed.
 * @throws OperatorError `InvalidObject`: no namespace or name, or one that cannot stand in a path.
 */
export function resourcePath(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  query: Query = {},
): string {
  const { name, subresource, verb } = target;
  if (typeof name !== 'string' && (subresource !== undefined || !collectionVerbs.has(verb))) {
    throw invalid(type, target, `name: want a text, got ${typeof name}`);
  }
  const root = type.group === '' ? '/api' : `/apis/${type.group}`;
  let path = `${root}/${type.version}`;
  if (type.namespaced && target.namespace !== undefined) {
    path += `/namespaces/${segment(type, target, target.namespace)}`;
  } else if (type.namespaced && name !== undefined) {
    throw invalid(type, target, 'metadata.namespace is missing, the kind is namespaced');
  }
  path += `/${type.plural}`;
  if (name !== undefined) path += `/${segment(type, target, name)}`;
  if (subresource !== undefined) path += `/${subresource}`;
  return path + queryString(query);
}

function queryString(query: Query): string {
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

// An empty name would address the whole collection; a dot segment something else altogether.
function segment(
  type: ResourceType<KubernetesObject>,
  target: ResourceTarget,
  value: string,
): string {
  if (typeof value !== 'string') {
    throw invalid(type, target, `namespace: want a text, got ${typeof value}`);
  }
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw invalid(type, target, `${JSON.stringify(value)} is no name`);
  }
  return encodeURIComponent(value);
}

function invalid(
  type: ResourceType<KubernetesObject>,
  { verb, namespace, name }: ResourceTarget,
  reason: string,
): OperatorError {
  const call = describeCall({ verb, kind: type.kind, namespace, name });
  return new OperatorError('InvalidObject', `${call}: ${reason}`);
}
