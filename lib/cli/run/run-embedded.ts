import { join, relative, resolve } from 'node:path';
import type { Client } from '../../client/index.js';
import type { EmbeddedCluster } from '../../apiserver/index.js';
import { failureLines, newsLines, newsOf } from '../../feed/index.js';
import type { NewsLines } from '../../feed/index.js';
import { describeObject } from '../../object/index.js';
import type {
  CustomResourceDefinition,
  KubernetesObject,
  UnstructuredObject,
} from '../../object/index.js';
import { OperatorError, isOperatorError } from '../../system/index.js';
import type { CommandContext } from '../command-context.js';
import { InProcessWebhooks } from '../in-process-webhooks.js';
import { objectFiles, projectFiles, readResources } from '../object-files.js';
import type { LoadedProject } from '../load-operator.js';
import { installCrds } from './run-on-cluster.js';
import { freeKubeConfigFile, startServer, withKubeConfigFile } from './serve-api.js';
import { keepRunning } from './keep-running.js';
import type { OperatorRun } from './keep-running.js';
import { keptRunning, managerOptions } from './run-operator.js';
import type { Running } from './run-operator.js';
import { RunRole } from './run-role.js';
import { Settling } from './settling.js';

const person = 'you';
const kubeConfigFile = 'node_modules/.cache/operator-builder/kubeconfig';

/** An operator with its cluster. */
interface Stage extends Running {
  readonly cluster: EmbeddedCluster;
  readonly webhooks: InProcessWebhooks;
  readonly settling: Settling;
  readonly lines: NewsLines;
  /** Objects to apply when the operator runs. */
  readonly resources: readonly UnstructuredObject[];
}

/** Runs an operator on an embedded cluster, and prints the events there. */
export async function runEmbedded(running: Running): Promise<void> {
  const { options, context, first, logger } = running;
  const { clock } = context;
  const resources = await resourcesOf(running);
  const webhooks = new InProcessWebhooks({ clock, logger });
  const { services } = webhooks;
  const { port = 0 } = options;
  const cluster = await startServer({ port, simulateWorkloads: true, services, clock, logger });
  try {
    const { kubeconfigOut } = options;
    const file =
      kubeconfigOut === undefined
        ? await freeKubeConfigFile(cluster, join(first.root, kubeConfigFile))
        : resolve(context.cwd, kubeconfigOut);
    await withKubeConfigFile(cluster, file, async () => {
      const lines = newsLines(context);
      lines.say(
        `operator ${first.operator.name}, on an API server in this process: ${cluster.url}`,
      );
      lines.say(`kubectl --kubeconfig ${relative(context.cwd, file)} get all --all-namespaces\n`);
      const settling = new Settling({ cluster, clock });
      await runBeside({ ...running, cluster, webhooks, settling, lines, resources });
    });
  } finally {
    await cluster.stop();
  }
}

async function resourcesOf({
  options: { filename },
  context,
  first,
}: Running): Promise<readonly UnstructuredObject[]> {
  const files =
    filename === undefined
      ? await projectFiles(first.root, 'config/samples')
      : await objectFiles(filename, context.cwd);
  return files.length === 0 ? [] : readResources(files, context);
}

async function runBeside(stage: Stage): Promise<void> {
  const { cluster, lines, settling, first, signal } = stage;
  const end = new AbortController();
  const both = AbortSignal.any([signal, end.signal]);
  let begun: Promise<void> | undefined;
  let failure: unknown;
  let settled: string | undefined;
  const onFailure = failureLines(lines, stage.context.clock);
  const role = roleOf(stage, (error) => {
    failure ??= error;
    end.abort();
  });
  const silence = cluster.server.loopback.subscribe((change) => {
    settling.changed(change);
    const news = newsOf(change);
    if (news !== undefined) lines.print(news);
  });
  const onBegin = (run: OperatorRun): void => {
    // Apply the objects only after the first start: later changes and deletions by the user stay.
    begun ??= goOn({ ...stage, signal: both }, run)
      .then((names) => {
        settled = names;
        if (names !== undefined) end.abort();
      })
      .catch((error: unknown) => {
        if (!both.aborted) failure = error;
        end.abort();
      });
  };
  try {
    await keepRunning(first, {
      ...keptRunning(stage),
      signal: both,
      managerOptions: (loaded) => ({
        ...managerOptions(stage, { ...role.managerParts(loaded), loaded }),
        onEvent: (event) => {
          settling.onEvent(event);
          onFailure(event);
        },
      }),
      prepare: async (loaded, manager) => {
        await prepare(stage, loaded);
        await role.declare(loaded, manager);
      },
      onBegin,
    });
  } finally {
    silence();
    end.abort();
    await begun;
  }
  if (failure !== undefined) throw failure as Error;
  // Print this after the operator has stopped: it writes its last Events when it stops.
  if (settled !== undefined) lines.say(`\nsettled: ${settled || 'there was nothing to apply'}`);
}

/**
 * Returns the role that the operator runs with. With `--until-settled`, the first missing rule ends the run; otherwise
 * it is printed.
 * @param fail - ends the run with an error
 */
function roleOf(
  { cluster, options, context, lines }: Stage,
  fail: (error: OperatorError) => void,
): RunRole {
  return new RunRole({
    cluster,
    asAdmin: options.asAdmin === true,
    namespace: context.env['POD_NAMESPACE'] ?? 'default',
    onMissing: ({ message: text }) => {
      if (options.untilSettled === true) fail(new OperatorError('MissingPermission', text));
      else lines.print({ mark: 'warned', text, detail: '' });
    },
  });
}

async function prepare(
  { cluster, webhooks, signal, context }: Stage,
  { operator, root }: LoadedProject,
): Promise<void> {
  const client = cluster.client({ user: person });
  try {
    webhooks.use(operator.webhooks ?? []);
    const own = webhooks.definitionsOf(operator);
    const foreign = await foreignCrds(root, context);
    const known = new Set(own.map(({ metadata }) => metadata.name));
    const others = foreign.filter(({ metadata }) => !known.has(metadata.name));
    await installCrds(client, [...own, ...others], signal);
    for (const configuration of webhooks.configurationsOf(operator)) {
      await client.apply(configuration, { fieldManager: 'operator-builder', force: true, signal });
    }
  } finally {
    await client.close();
  }
}

async function foreignCrds(
  root: string,
  context: CommandContext,
): Promise<readonly CustomResourceDefinition[]> {
  // The definitions of foreign kinds that the project's tests install.
  const files = await projectFiles(root, 'test/crds');
  if (files.length === 0) return [];
  const objects = await readResources(files, context);
  return objects.filter(isDefinition);
}

function isDefinition(object: KubernetesObject): object is CustomResourceDefinition {
  return object.kind === 'CustomResourceDefinition';
}

/**
 * Applies the objects when the operator runs. With `--until-settled`, also waits until the operator settles.
 * @returns the applied objects if the operator has settled
 */
async function goOn(stage: Stage, { manager }: OperatorRun): Promise<string | undefined> {
  const { cluster, resources, signal, options, settling } = stage;
  await manager.whenLeading(signal).catch((error: unknown) => {
    // The run reports why the operator did not start.
    if (!isOperatorError(error, 'Stopped')) throw error;
  });
  const client = cluster.client({ user: person });
  try {
    const applied: UnstructuredObject[] = [];
    for (const resource of resources) applied.push(await put(client, resource, stage));
    if (options.untilSettled !== true) return undefined;
    await settling.settled(manager, options.settleTimeout, signal);
    return applied.map((each) => describeObject(each)).join(', ');
  } finally {
    await client.close();
  }
}

async function put(
  client: Client,
  resource: UnstructuredObject,
  { options, signal }: Stage,
): Promise<UnstructuredObject> {
  const { namespaced } = await client.resourceType(resource);
  const { metadata } = resource;
  const { namespace = options.namespace?.[0] ?? 'default' } = metadata;
  const object = namespaced ? { ...resource, metadata: { ...metadata, namespace } } : resource;
  return (await client.apply(object, { fieldManager: 'kubectl', force: true, signal })).object;
}
