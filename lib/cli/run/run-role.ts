import type { EmbeddedCluster } from '../../apiserver/index.js';
import type { PolicyRule } from '../../apiserver/internal.js';
import type { AccessRules, MissingRule, Manager } from '../../manager/index.js';
import { OperatorRole } from '../../manager/index.js';
import { isJsonObject, parseYamlValues } from '../../object/index.js';
import { ownNamespace } from '../manifests/role-files.js';
import { roleMarker } from '../manifests/role-file.js';
import type { LoadedProject } from '../load-operator.js';
import { readText } from '../files.js';
import { projectFiles } from '../object-files.js';

export interface RunRoleOptions {
  readonly cluster: EmbeddedCluster;
  /** Gives the operator all permissions. */
  readonly asAdmin: boolean;
  /** Namespace of the operator, for roles in its own namespace. */
  readonly namespace: string;
  readonly onMissing: (missing: MissingRule) => void;
}

/** The role of an operator on an embedded cluster; computed again at each reload. */
export class RunRole {
  readonly #options: RunRoleOptions;
  #next: OperatorRole | undefined;

  constructor(options: RunRoleOptions) {
    this.#options = options;
  }

  /** Returns the client of the operator's manager, and with a role a tracer, which records who sends a request. */
  managerParts({ operator: { name } }: LoadedProject) {
    const { cluster, asAdmin, onMissing } = this.#options;
    if (asAdmin) return { client: cluster.client({ user: name }) };
    this.#next = new OperatorRole({ name, cluster, onMissing });
    const { user, tracer } = this.#next;
    return { client: cluster.client({ user, authorizer: this.#next }), tracer };
  }

  /** Limits the operator to its declared access and the rules in `config/rbac` that are not generated. */
  async declare({ root }: LoadedProject, manager: Manager): Promise<void> {
    const own = await ownRules(root, this.#options.namespace);
    await this.#next?.declare(manager.requiredAccess(), own);
  }
}

interface RoleObject {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[] | null;
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** Returns the rules of `config/rbac` bound to the operator, without the generated ones. */
async function ownRules(root: string, namespace: string): Promise<AccessRules> {
  const files = await projectFiles(root, 'config/rbac');
  const objects = (await Promise.all(files.map(objectsIn))).flat();
  const everywhere: PolicyRule[] = [];
  const inNamespaces = new Map<string, readonly PolicyRule[]>();
  for (const { kind, metadata = {}, roleRef, subjects = [] } of objects) {
    const isBound = subjects.some((one) => one.kind === 'ServiceAccount' && one.name === account);
    if (roleRef === undefined || !isBound) continue;
    const role = objects.find(
      (one) => one.kind === roleRef.kind && one.metadata?.name === roleRef.name,
    );
    const rules = role?.rules ?? [];
    if (kind === 'ClusterRoleBinding') everywhere.push(...rules);
    else {
      const { namespace: named = ownNamespace } = metadata;
      const place = named === ownNamespace ? namespace : named;
      inNamespaces.set(place, [...(inNamespaces.get(place) ?? []), ...rules]);
    }
  }
  return { everywhere, inNamespaces };
}

/** The operator's ServiceAccount in the files of a project. */
const account = 'controller-manager';
/** Matches the generated rules of a role's file, up to the marker. */
const generated = new RegExp(`^rules:[^]*?^ *${roleMarker.replace('+', String.raw`\+`)}`, 'm');

async function objectsIn(file: string): Promise<readonly RoleObject[]> {
  const text = (await readText(file)).replace(generated, 'rules:');
  return parseYamlValues(text, file).filter(isJsonObject);
}
