import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import { OperatorError } from '../system/operator-error.js';
import { describeCall } from './call.js';

/** The target of a request within a kind: a collection, an object or a subresource. */
export interface ResourceTarget {
  readonly verb: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

// With any other verb, a request without a name would address the whole collection, and a delete would delete
// it.
const collectionVerbs: ReadonlySet<string> = new Set([
  ...['list', 'watch', 'create', 'deletecollection'],
]);

/** Parameters of a request; undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Returns a path such as `/api/v1/namespaces/default/configmaps/web?limit=1`. It omits the namespace of a
 * cluster-scoped kind; an object of a namespaced kind needs one.
 * @throws OperatorError `InvalidObject`: the namespace or name is missing, or cannot be part of a path.
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

// An empty name would address the whole collection; a dot segment, another path.
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
