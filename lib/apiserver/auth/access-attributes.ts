import type { RequestInfo } from '../requests/request-info.js';
import { parseFieldSelector } from '../../object/field-selector.js';
import { isOperatorError } from '../../system/operator-error.js';

/** What a request asks to be allowed. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  /** The plural. */
  readonly resource: string;
  /** Empty: the resource itself. */
  readonly subresource: string;
  /** Empty: the whole cluster. */
  readonly namespace: string;
  /** Empty: a collection. */
  readonly name: string;
  /** A path that names no resource; the rest does not matter then. */
  readonly path?: string | undefined;
}

/** What `info` asks to be allowed. */
export function attributesOf(info: RequestInfo): AccessAttributes {
  if (info.type === 'plain') {
    return pathAttributes(info.method.toLowerCase(), info.path);
  }
  const { verb, group, resource, subresource = '', name } = info;
  // A namespace is in itself: a role of the namespace can allow reading it.
  const own = group === '' && resource === 'namespaces';
  return {
    verb,
    group,
    resource,
    subresource,
    namespace: own ? name : info.namespace,
    name: name === '' ? selectedName(verb, info.query) : name,
  };
}

/** Of a request for a path that names no resource. */
export function pathAttributes(verb: string, path: string): AccessAttributes {
  return { verb, path, group: '', resource: '', subresource: '', namespace: '', name: '' };
}

/** A list or watch of one object by its name is allowed by the name, too. */
function selectedName(verb: string, query: URLSearchParams): string {
  const selector = query.get('fieldSelector') ?? '';
  if (selector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const term = parseFieldSelector(selector).find(({ field }) => field === 'metadata.name');
    return term?.operator === '=' ? term.value : '';
  } catch (error) {
    // What is wrong with it is said by who reads the selector.
    if (isOperatorError(error, 'InvalidSelector')) return '';
    throw error;
  }
}

/** `User "x" cannot list resource "pods" in API group "" in the namespace "n"`. */
export function describeAccess(username: string, attributes: AccessAttributes): string {
  const { verb, group, resource, subresource, namespace, path } = attributes;
  const who = `User ${JSON.stringify(username)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`;
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const where =
    namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}

/** Reviews of the client itself: resources by group. */
export const selfReviews: Readonly<Record<string, readonly string[]>> = {
  'authorization.k8s.io': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  'authentication.k8s.io': ['selfsubjectreviews'],
};

const openPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)\/?$/;

/** Whether each known client may read a path: discovery, schemas, the version, health. */
export function isOpenPath(path: string): boolean {
  return openPath.test(path);
}

/** Whether a request asks who the client is and what it may do: each known client may. */
export function isSelfReview(
  asked: Pick<AccessAttributes, 'verb' | 'group' | 'resource'>,
): boolean {
  return asked.verb === 'create' && selfReviews[asked.group]?.includes(asked.resource) === true;
}
