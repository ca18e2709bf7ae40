import { ensureCrd, getIfExists } from '../../client/index.js';
import type { Client } from '../../client/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import { isForbidden } from '../../object/api-error.js';
import { CustomResourceDefinition, Namespace } from '../../object/kinds.js';
import { keyOf } from '../../object/object-key.js';
import { apiVersionOf } from '../../object/resource-type.js';
import { asError } from '../../system/as-error.js';
import { OperatorError, isOperatorError } from '../../system/operator-error.js';

/** A CustomResourceDefinition of an operator, and its installation in a cluster. */
export interface InstalledCrd {
  readonly name: string;
  readonly action: 'installed' | 'updated' | 'unchanged';
}

/**
 * Installs or updates CustomResourceDefinitions; resolves when they are served.
 * @throws OperatorError `MissingPermission`: the account lacks permission; and the errors of `ensureCrd`
 */
export async function installCrds(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<readonly InstalledCrd[]> {
  const installed: InstalledCrd[] = [];
  for (const crd of crds) {
    const { name } = keyOf(crd);
    try {
      const before = await getIfExists(client, CustomResourceDefinition, { name }, { signal });
      const after = await ensureCrd(client, crd, { signal });
      installed.push({ name, action: actionOf(before, after) });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const remedy = 'have an administrator apply config/crd, and leave --install-crds out';
      const message = `the custom resource ${name} can't be installed: ${asError(error).message}`;
      throw new OperatorError('MissingPermission', `${message} (${remedy})`, { cause: error });
    }
  }
  return installed;
}

function actionOf(
  before: CustomResourceDefinition | undefined,
  after: CustomResourceDefinition,
): InstalledCrd['action'] {
  if (before?.metadata.uid !== after.metadata.uid) return 'installed';
  return before?.metadata.generation === after.metadata.generation ? 'unchanged' : 'updated';
}

/**
 * Checks that a cluster responds and serves the custom resources of an operator.
 * @throws OperatorError `UnknownKind`: it does not serve them all; and the errors of requests
 */
export async function refuseUnserved(
  client: Client,
  { resources = [] }: OperatorDefinition,
  signal: AbortSignal,
): Promise<void> {
  // Built-in kinds need no request, so one is sent to check the connection.
  if (resources.length === 0) await ask(client, signal);
  const missing: string[] = [];
  for (const resource of resources) {
    const { kind } = resource;
    const apiVersion = apiVersionOf(resource);
    try {
      await client.resourceType({ apiVersion, kind });
    } catch (error) {
      if (!isOperatorError(error, 'UnknownKind')) throw error;
      missing.push(`${kind} of ${apiVersion}`);
    }
  }
  if (missing.length === 0) return;
  const remedy = '--install-crds installs its custom resource, as kubectl apply -k config/crd does';
  const message = `the cluster does not serve ${missing.join(', ')}: ${remedy}`;
  throw new OperatorError('UnknownKind', message);
}

async function ask(client: Client, signal: AbortSignal): Promise<void> {
  try {
    await getIfExists(client, Namespace, { name: 'default' }, { signal });
  } catch (error) {
    // The cluster responds; permissions are checked later.
    if (!isForbidden(error)) throw error;
  }
}
