import type { RequestInfo } from '../requests/request-info.js';
import { parseFieldSelector } from '../../object/field-selector.js';
import { isOperatorError } from '../../system/operator-error.js';

/** The attributes of a request that authorization checks. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  /** The plural of the resource. */
  readonly resource: string;
  /** The subresource; empty for the resource itself. */
  readonly subresource: string;
  /** The namespace; empty for the whole cluster. */
  readonly namespace: string;
  /** The name of the object; empty for a collection. */
  readonly name: string;
  /** A path that names no resource. If set, the other fields except the verb do not matter. */
  readonly path?: string | undefined;
}

/** Returns the attributes of a request. */
export function attributesOf(info: RequestInfo): AccessAttributes {
  if (info.type === 'plain') {
    return pathAttributes(info.method.toLowerCase(), info.path);
  }
  const { verb, group, resource, subresource = '', name } = info;
  // A namespace counts as inside itself: a role in the namespace can allow reading it.
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

/** Returns the attributes of a request for a path that names no resource. */
export function pathAttributes(verb: string, path: string): AccessAttributes {
  return { verb, path, group: '', resource: '', subresource: '', namespace: '', name: '' };
}

/**
 * Returns the name in the field selector of a list or watch: a rule for that name also allows the
 * request.
 */
function selectedName(verb: string, query: URLSearchParams): string {
  const selector = query.get('fieldSelector') ?? '';
  if (selector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const term = parseFieldSelector(selector).find(({ field }) => field === 'metadata.name');
    return term?.operator === '=' ? term.value : '';
  } catch (error) {
    // The code that reads the selector reports the error.
    if (isOperatorError(error, 'InvalidSelector')) return '';
    throw error;
  }
}

/**
 * Returns the message of a refusal:
 * `User "x" cannot list resource "pods" in API group "" in the namespace "n"`.
 */
export function describeAccess(username: string, attributes: AccessAttributes): string {
  const { verb, group, resource, subresource, namespace, path } = attributes;
  const who = `User ${JSON.stringify(username)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`;
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const where =
    namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}

/** Reviews that a client may create about itself: resources by group. */
export const selfReviews: Readonly<Record<string, readonly string[]>> = {
  'authorization.k8s.io': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  'authentication.k8s.io': ['selfsubjectreviews'],
};

const openPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)\/?$/;

/** Returns whether every known client may read a path: discovery, schemas, the version, health. */
export function isOpenPath(path: string): boolean {
  return openPath.test(path);
}

/**
 * Returns whether a request is a client's review of its own identity or rights, which every known
 * client may create.
 */
export function isSelfReview(
  asked: Pick<AccessAttributes, 'verb' | 'group' | 'resource'>,
): boolean {
  return asked.verb === 'create' && selfReviews[asked.group]?.includes(asked.resource) === true;
}
