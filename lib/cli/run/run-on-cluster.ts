import { ensureCrd, getIfExists } from '../../client/index.js';
import type { Client } from '../../client/index.js';
import { isConvertedResource } from '../../crd/internal.js';
import { OperatorFeed } from '../../feed/index.js';
import type { NewsLines } from '../../feed/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import {
  isForbidden,
  CustomResourceDefinition,
  Namespace,
  keyOf,
  apiVersionOf,
} from '../../object/index.js';
import { unconverted, unconvertedCrds } from '../../operator/index.js';
import { OperatorError, isOperatorError } from '../../system/index.js';
import { accountError, clusterClient, clusterName, runRemedy } from '../options.js';
import type { LoadedProject } from '../load-operator.js';
import { keepRunning } from './keep-running.js';
import { keptRunning, managerOptions } from './run-operator.js';
import type { Running } from './run-operator.js';

/** Runs an operator on the cluster of a kubeconfig, and prints its actions there. */
export async function runOnCluster(running: Running): Promise<void> {
  const { options, context, first, logger } = running;
  const client = await clusterClient(options, context, logger);
  try {
    const feed = new OperatorFeed(context);
    const { lines, onEvent } = feed;
    const { name: operator } = first.operator;
    const cluster = await clusterName(options, context);
    feed.sayHead({ operator, cluster, namespaces: options.namespace });
    const seen = feed.observed(client);
    let isFirst = true;
    await keepRunning(first, {
      ...keptRunning(running),
      managerOptions: (loaded) => ({
        ...managerOptions(running, { client: seen, loaded }),
        onEvent,
      }),
      prepare: async (loaded) => {
        feed.use(loaded.operator.resources ?? []);
        sayCrds(await servedCrds(loaded, client, running), lines, isFirst);
        if (isFirst) sayWebhooks(running, lines);
        isFirst = false;
      },
      onBegin: ({ manager }) => {
        const started = manager.whenStarted(running.signal).then(() => lines.say('started'));
        // The run reports why the operator did not start.
        void started.catch(() => undefined);
      },
    });
  } catch (error) {
    throw accountError(error, runRemedy);
  } finally {
    await client.close();
  }
}

/** A CustomResourceDefinition in the cluster. `served`: the definition was there, and `run` did not compare it. */
type ServedCrd = Omit<InstalledCrd, 'action'> & {
  readonly action: InstalledCrd['action'] | 'served' | typeof unconverted;
};

async function servedCrds(
  { operator }: LoadedProject,
  client: Client,
  { options, signal }: Running,
): Promise<readonly ServedCrd[]> {
  const { resources = [] } = operator;
  if (options.installCrds === true) {
    await refuseUnconverted(client, operator, signal);
    return installCrds(
      client,
      resources.map(({ crd }) => crd),
      signal,
    );
  }
  await refuseUnserved(client, operator, signal);
  const lacking = await unconvertedCrds(client, operator, signal);
  return resources.map(({ crd }) => {
    const { name } = keyOf(crd);
    return { name, action: lacking.includes(name) ? unconverted : 'served' };
  });
}

/**
 * Refuses to install a definition that makes the API server drop the fields that a version lacks.
 * @throws OperatorError `InvalidOption`: functions convert a resource, and the cluster calls no webhook for that;
 * `MissingPermission`: the account is not allowed to read definitions
 */
async function refuseUnconverted(
  client: Client,
  { resources = [] }: OperatorDefinition,
  signal: AbortSignal,
): Promise<void> {
  for (const { kind, crd } of resources.filter(isConvertedResource)) {
    const live = await permitted(
      crd,
      () => getIfExists(client, CustomResourceDefinition, keyOf(crd), { signal }),
      // The definitions in config/crd have no conversion; those in config/default have it.
      'config/default',
    );
    // The install leaves an existing conversion webhook of the definition as it is.
    if (live?.spec.conversion?.strategy === 'Webhook') continue;
    const remedy =
      'deploy config/default, whose definition names the webhook, or try it with --embedded';
    throw new OperatorError(
      'InvalidOption',
      `--install-crds: not possible for ${kind}, whose versions are converted by functions; ${remedy}`,
    );
  }
}

/** Prints the definitions; at a restart only changed ones. */
function sayCrds(crds: readonly ServedCrd[], lines: NewsLines, isFirst: boolean): void {
  const shown = crds.filter(({ action }) => isFirst || /^(?:installed|updated)$/.test(action));
  if (shown.length === 0) return;
  const texts = shown.map(({ name, action }) => `${name} (${action})`);
  lines.say(`CustomResourceDefinitions: ${texts.join(', ')}`);
}

function sayWebhooks({ options, first }: Running, lines: NewsLines): void {
  const { webhooks = [] } = first.operator;
  const { webhookCerts, webhookPort = 9443 } = options;
  if (webhooks.length > 0) {
    const remedy = 'serve them with --webhook-certs <folder>, or try them with --embedded';
    lines.say(
      webhookCerts === undefined
        ? `webhooks: ${webhooks.length} declared, not served; ${remedy}`
        : `webhooks: ${webhooks.length} served on port ${webhookPort}`,
    );
  }
  lines.say('');
}

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
    const before = await permitted(crd, () =>
      getIfExists(client, CustomResourceDefinition, { name }, { signal }),
    );
    const after = await permitted(crd, () => ensureCrd(client, crd, { signal }));
    installed.push({ name, action: actionOf(before, after) });
  }
  return installed;
}

/**
 * @param folder - what an administrator can apply instead
 * @throws OperatorError `MissingPermission`: the account lacks permission for `work`; else the error of `work`
 */
async function permitted<T>(
  crd: CustomResourceDefinition,
  work: () => Promise<T>,
  folder = 'config/crd',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const remedy = `have an administrator apply ${folder}, and leave out --install-crds`;
    const { message } = accountError(error, remedy);
    const said = `the CRD ${keyOf(crd).name} can't be installed: ${message}`;
    throw new OperatorError('MissingPermission', said, { cause: error });
  }
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
  const remedy = '--install-crds installs its CRDs, as kubectl apply -k config/crd does';
  const message = `the cluster does not serve ${missing.join(', ')}: ${remedy}`;
  throw new OperatorError('UnknownKind', message);
}

async function ask(client: Client, signal: AbortSignal): Promise<void> {
  try {
    await getIfExists(client, Namespace, { name: 'default' }, { signal });
  } catch (error) {
    // A refusal also proves that the cluster responds. Permissions are checked later.
    if (!isForbidden(error)) throw error;
  }
}
