import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-documents.js';
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
 * Returns a Role for each namespace other than the operator's. They are separate from `config/default`, since
 * kustomize puts all objects there into the operator's namespace.
 * @param name - the operator's
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
  const account = await accountOf(folder, name);
  const objects = [...rulesOf].flatMap(([namespace, rules]) =>
    roleIn(namespace, { name, rules, account }),
  );
  const wanted = [
    await generatedFile(folder, { path: list, from, objects: [kustomization] }),
    await generatedFile(folder, { path: namespacedRolesPath, from, objects }),
  ];
  const names = [...rulesOf.keys()].join(', ');
  const note = `roles in other namespaces (${names}) are in ${namespacesFolder}: apply it beside config/default; build-installer and helm have them`;
  return { wanted, notes: [note] };
}

/** Returns the ServiceAccount of the operator with its name in config/default. */
async function accountOf(folder: string, name: string): Promise<object> {
  const path = 'config/default/kustomization.yaml';
  const text = (await textIfExists(join(folder, path))) ?? '';
  const content: unknown = parseDocument(checkYamlDepth(text, path)).toJS();
  const { namespace, namePrefix } = isJsonObject(content) ? content : {};
  const prefix = typeof namePrefix === 'string' ? namePrefix : `${name}-`;
  return {
    ...{ kind: 'ServiceAccount', name: `${prefix}controller-manager` },
    namespace: typeof namespace === 'string' ? namespace : `${name}-system`,
  };
}

/** An operator's rules in a namespace. */
interface NamespacedRules {
  readonly name: string;
  readonly rules: readonly RoleRule[];
  readonly account: object;
}

function roleIn(namespace: string, { name, rules, account }: NamespacedRules): readonly object[] {
  const apiVersion = `${rbac}/v1`;
  const roleRef = { apiGroup: rbac, kind: 'Role', name: `${name}-manager-role` };
  return [
    {
      ...{ apiVersion, kind: 'Role', metadata: { name: roleRef.name, namespace } },
      rules: normalRules(rules),
    },
    {
      ...{ apiVersion, kind: 'RoleBinding' },
      metadata: { name: `${name}-manager-rolebinding`, namespace },
      ...{ roleRef, subjects: [account] },
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
