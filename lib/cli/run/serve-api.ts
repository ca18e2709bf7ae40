import { relative, resolve } from 'node:path';
import { CustomResourceDefinition } from '../../object/kinds.js';
import { OperatorError } from '../../system/operator-error.js';
import { whenAborted } from '../../system/clock.js';
import type { CommandContext } from '../command-context.js';
import { commandLogger } from '../options/log-option.js';
import type { LogOptions } from '../options/log-option.js';
import { readResources } from '../plan/resource-files.js';
import { startServer } from './embedded-server.js';
import { filesOf } from './object-files.js';
import { writeKubeConfigFile } from './kube-config-file.js';

/** Options of `operator-builder apiserver`. */
export interface ApiServerOptions extends LogOptions {
  readonly port: number;
  readonly kubeconfig: string;
  readonly crds?: readonly string[] | undefined;
  readonly workloads: boolean;
  readonly rbac: boolean;
  readonly tls: boolean;
}

/** Runs `operator-builder apiserver` until a signal stops it, which counts as success. */
export async function serveApi(options: ApiServerOptions, context: CommandContext): Promise<void> {
  const signal = context.stopSignal();
  const { clock, cwd, stdout } = context;
  const { port, rbac, tls, workloads: simulateWorkloads } = options;
  const logger = await commandLogger(options, context);
  const crds = await definitionsIn(options.crds ?? [], context);
  const cluster = await startServer({ port, crds, rbac, tls, simulateWorkloads, clock, logger });
  try {
    const file = resolve(cwd, options.kubeconfig);
    const remove = await writeKubeConfigFile(cluster, file);
    try {
      stdout.write(`the API server is at ${cluster.url}, until it is stopped\n`);
      stdout.write(`kubectl --kubeconfig ${relative(cwd, file)} api-resources\n`);
      await whenAborted(signal);
    } finally {
      await remove();
    }
  } finally {
    await cluster.stop();
  }
}

/** @throws OperatorError `InvalidConfig`: a path can't be read, or holds another value */
async function definitionsIn(
  paths: readonly string[],
  context: CommandContext,
): Promise<readonly CustomResourceDefinition[]> {
  const files = (
    await Promise.all(paths.map((path) => filesOf(resolve(context.cwd, path))))
  ).flat();
  if (files.length === 0 && paths.length > 0) {
    throw new OperatorError('InvalidConfig', `--crds: there is no YAML in ${paths.join(', ')}`);
  }
  const objects = files.length === 0 ? [] : await readResources(files, context);
  const other = objects.find(({ kind }) => kind !== CustomResourceDefinition.kind);
  if (other === undefined) return objects as unknown as readonly CustomResourceDefinition[];
  const message = `--crds: want CustomResourceDefinitions, got a ${other.kind}`;
  throw new OperatorError('InvalidConfig', `${message}: apply it once the server runs`);
}
