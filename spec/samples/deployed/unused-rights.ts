import type { Client } from '../../../lib/client/index.js';
import { ClusterRole, Role } from '../../../lib/object/kinds.js';
import type { LoggedRequest, OperatorAccount } from './deployed-target.js';

/** Rule of a role. */
export type Rule = NonNullable<Role['rules']>[number];

/** Returns permissions of the account's roles that no request used: `verb resource.group`. */
export async function unusedRights(
  admin: Client,
  { name, namespace }: OperatorAccount,
  requests: readonly LoggedRequest[],
): Promise<readonly string[]> {
  const { rules: ofCluster = [] } = await admin.get(ClusterRole, { name });
  const { rules = [] } = await admin.get(Role, { namespace, name });
  return unusedOf([...ofCluster, ...rules], requests);
}

/** Returns permissions of rules that no request used: `verb resource.group`. */
export function unusedOf(
  rules: readonly Rule[],
  requests: readonly LoggedRequest[],
): readonly string[] {
  const used = new Set(requests.map((each) => rightOf(each.verb, each.group, pathOf(each))));
  const given = rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
    verbs.flatMap((verb) =>
      apiGroups.flatMap((group) => resources.map((each) => rightOf(verb, group, each))),
    ),
  );
  // Server-side apply creates by PATCH, and the server also requires the permission to create.
  const implied = (right: string): boolean => used.has(right.replace(/^create /, 'patch '));
  return given.filter((right) => !used.has(right) && !implied(right));
}

function rightOf(verb: string, group: string, path: string): string {
  return `${verb} ${path}${group === '' ? '' : `.${group}`}`;
}

function pathOf({ resource, subresource = '' }: LoggedRequest): string {
  return subresource === '' ? resource : `${resource}/${subresource}`;
}
