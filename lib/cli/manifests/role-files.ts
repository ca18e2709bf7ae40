import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { builtinKinds } from '../../apiserver/internal.js';
import type { PolicyRule } from '../../apiserver/internal.js';
import type { Client } from '../../client/index.js';
import { accessRules, Manager, normalRules, operatorWebhooks } from '../../manager/index.js';
import type { AccessRules, OperatorDefinition } from '../../manager/index.js';
import { isJsonObject, apiVersionOf, checkYamlDepth, groupOfType } from '../../object/index.js';
import type { KubernetesObject, ResourceType, TypeReference } from '../../object/index.js';
import { asError, OperatorError, isOperatorError } from '../../system/index.js';
import { unreachableClient } from '../load-operator.js';
import { initFiles } from '../scaffold/init-project.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { generatedFile, isGenerated } from './generated-file.js';
import type { GeneratingCommand, WantedManifests } from './generated-file.js';
import {
  namespacedRolesPath,
  namespacesFolder,
  ownRolePath,
  parseRoleFile,
  rolePath,
} from './role-file.js';

/**
 * Returns the roles of an operator's declared access.
 * @throws as {@link declaredRules} does, and if a file can't be changed
 */
export async function roleFiles(
  folder: string,
  operator: OperatorDefinition,
  command: GeneratingCommand,
): Promise<WantedManifests> {
  const { everywhere, inNamespaces } = await declaredRules(operator);
  const others = new Map(inNamespaces);
  const own = others.get(ownNamespace) ?? [];
  others.delete(ownNamespace);
  const { wanted, notes } = await namespaceFiles(folder, operator.name, others, command);
  const roles = [
    await roleFile(folder, { operator, path: rolePath, rules: everywhere, command }),
    await roleFile(folder, { operator, path: ownRolePath, rules: own, command }),
  ];
  return { wanted: [...roles, ...wanted], notes };
}

interface WantedRole {
  readonly operator: OperatorDefinition;
  readonly path: string;
  readonly rules: readonly PolicyRule[];
  readonly command: GeneratingCommand;
}

async function roleFile(
  folder: string,
  { operator, path, rules, command }: WantedRole,
): Promise<WantedFile> {
  const before = await textIfExists(join(folder, path));
  const text = before ?? (await textAtFirst(path, operator, command));
  return { type: 'edited', path, text: parseRoleFile(text, path).withRules(rules) };
}

/** Returns the file as in a new project. */
async function textAtFirst(
  path: string,
  { name }: OperatorDefinition,
  command: GeneratingCommand,
): Promise<string> {
  const runs = command === 'manifests' ? 'program' : 'declarative';
  const files = await initFiles({ name, domain: '' }, runs);
  return files.find((file) => file.path === path)?.text ?? '';
}

/** The operator's namespace in the files of a project; kustomize replaces it. */
export const ownNamespace = 'system';

/**
 * Collects an operator's declared access with a manager that never runs and has no cluster.
 * @throws OperatorError `InvalidConfig`: its `setup` throws or sends a request, or it declares access to a
 * kind without the path where it is served
 */
export async function declaredRules(operator: OperatorDefinition): Promise<AccessRules> {
  const { name, resources = [] } = operator;
  const client = unreachableClient(name);
  const namespace = ownNamespace;
  const manager = new Manager({
    client,
    // `src/main.ts` of a project passes these options, too.
    cacheOptions: operator.cacheOptions,
    leaderElection: { name, namespace },
    webhooks: operatorWebhooks(operator, { client, namespace }),
  });
  try {
    await operator.setup(manager);
  } catch (error) {
    if (isOperatorError(error, 'InvalidConfig')) throw error;
    const where = '(OPERATOR_BUILDER_DEBUG=1 prints the stack)';
    const message = `setup of the operator ${name} failed: ${asError(error).message}\n${where}`;
    throw new OperatorError('InvalidConfig', message, { cause: error });
  }
  return accessRules(manager.requiredAccess(), servedAt(resources, client));
}

function servedAt(own: readonly ResourceType<KubernetesObject>[], client: Client) {
  return async (type: TypeReference<KubernetesObject>): Promise<ResourceType<KubernetesObject>> => {
    const known = own.find(
      (each) => each.kind === type.kind && apiVersionOf(each) === apiVersionOf(type),
    );
    const place = known ?? builtInPlace(type);
    if (place !== undefined) return place;
    try {
      return await client.resourceType(type);
    } catch (cause) {
      const { kind } = type;
      const what = `the operator works on ${kind} of ${apiVersionOf(type)}`;
      const remedy = `give the type as { group, version, kind: '${kind}', plural, namespaced }`;
      const message = `${what}, whose plural and scope are unknown without a cluster: ${remedy}`;
      throw new OperatorError('InvalidConfig', message, { cause });
    }
  };
}

const sources: Readonly<Record<GeneratingCommand, string>> = {
  manifests: 'what the controllers declare',
  'declarative manifests': 'the operators given to it',
};
const rbac = 'rbac.authorization.k8s.io';

/**
 * Returns a Role for each namespace other than the operator's. They are separate from `config/default`, since kustomize
 * puts all objects there into the operator's namespace.
 * @param name - the name of the operator
 */
export async function namespaceFiles(
  folder: string,
  name: string,
  rulesOf: ReadonlyMap<string, readonly PolicyRule[]>,
  command: GeneratingCommand,
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
    roleIn(namespace, name, rules, account),
  );
  const generated = { from: sources[command], command };
  const wanted = [
    await generatedFile(folder, { ...generated, path: list, objects: [kustomization] }),
    await generatedFile(folder, { ...generated, path: namespacedRolesPath, objects }),
  ];
  const names = [...rulesOf.keys()].join(', ');
  const note = `roles in other namespaces (${names}) are in ${namespacesFolder}: apply this folder in addition to config/default; the output of build-installer and helm contains these roles`;
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

/** Returns the Role with an operator's rules in a namespace, and its binding. */
function roleIn(
  namespace: string,
  name: string,
  rules: readonly PolicyRule[],
  account: object,
): readonly object[] {
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

/** Returns the type of a built-in kind in one of its versions: all have the same plural and scope. */
function builtInPlace(reference: TypeReference<KubernetesObject>): ResourceType | undefined {
  const group = groupOfType(reference);
  const isMeant = (one: ResourceType): boolean =>
    one.group === group && one.kind === reference.kind;
  return builtinKinds().find(({ type }) => isMeant(type))?.type;
}
