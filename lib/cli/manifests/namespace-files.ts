import { join } from 'node:path';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import type { WantedManifests } from './wanted-manifests.js';
import { generatedFile, isGenerated } from './generated-file.js';
import { namespacedRolesPath, namespacesFolder } from './role-path.js';
import { normalRules } from './role-rules.js';
import type { RoleRule } from './role-rules.js';

const from = 'what the controllers declare';
const rbac = 'rbac.authorization.k8s.io';

/**
 * What an operator may do in namespaces other than its own: a Role in each. They are apart, for
 * `config/default` has kustomize put all that it holds into the operator's namespace.
 * @param name - of the operator
 */
export async function namespaceFiles(
  folder: string,
  name: string,
  rulesOf: ReadonlyMap<string, readonly RoleRule[]>,
): Promise<WantedManifests> {
  const list = `${namespacesFolder}/kustomization.yaml`;
  if (rulesOf.size === 0) {
    return { wanted: await goingOnes(folder, [list, namespacedRolesPath]), notes: [] };
  }
  const kind = 'Kustomization';
  const kustomization = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind, resources: ['roles.yaml'] },
  };
  const objects = [...rulesOf].flatMap(([namespace, rules]) => roleIn(namespace, { name, rules }));
  const wanted = [
    await generatedFile(folder, { path: list, from, objects: [kustomization] }),
    await generatedFile(folder, { path: namespacedRolesPath, from, objects }),
  ];
  const names = [...rulesOf.keys()].join(', ');
  const note = `roles in other namespaces (${names}) are in ${namespacesFolder}: apply it beside config/default; build-installer and helm have them`;
  return { wanted, notes: [note] };
}

function roleIn(
  namespace: string,
  { name, rules }: { readonly name: string; readonly rules: readonly RoleRule[] },
): readonly object[] {
  const apiVersion = `${rbac}/v1`;
  const roleRef = { apiGroup: rbac, kind: 'Role', name: `${name}-manager-role` };
  // As config/default calls it.
  const subject = {
    ...{ kind: 'ServiceAccount', name: `${name}-controller-manager`, namespace: `${name}-system` },
  };
  return [
    {
      ...{ apiVersion, kind: 'Role', metadata: { name: roleRef.name, namespace } },
      rules: normalRules(rules),
    },
    {
      ...{ apiVersion, kind: 'RoleBinding' },
      metadata: { name: `${name}-manager-rolebinding`, namespace },
      ...{ roleRef, subjects: [subject] },
    },
  ];
}

async function goingOnes(folder: string, paths: readonly string[]): Promise<readonly WantedFile[]> {
  const going: WantedFile[] = [];
  for (const path of paths) {
    const text = await textIfExists(join(folder, path));
    if (text !== undefined && isGenerated(text)) going.push({ type: 'delete', path });
  }
  return going;
}
