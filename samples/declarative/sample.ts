import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, UnstructuredObject } from 'operator-builder';
import { loadOperators } from 'operator-builder/declarative';
import { parseAllDocuments } from 'yaml';

/** Names of the samples, which are folders beside this file. */
export const sampleNames = [
  'config-rollout',
  'service-health',
  'endpoint-slices',
  'gateway-routes',
] as const;
/** Name of a sample. */
export type SampleName = (typeof sampleNames)[number];

/** Columns for `kubectl get --output custom-columns`, by kind of view. */
const columnsOf: Readonly<Record<string, string>> = {
  RolloutTie: 'DEPLOYMENT:.deployment,HASH:.configHash',
  AppHealth: 'PODS:.pods[*].name,READY:.pods[*].ready',
  ServicePort: 'SERVICE:.service,PORT:.port.port',
  PortEndpoints: 'SERVICE:.service,PORT:.port,ADDRESSES:.addresses[*]',
  GatewayListener: 'GATEWAY:.gateway,LISTENER:.listener.name,FROM:.listener.allowedRoutes.from',
  RouteAttachment: 'ROUTE:.route,LISTENER:.listener',
};

/** A kind of views that the demo shows. */
export interface SampleView {
  readonly kind: string;
  /** For `kubectl get --output custom-columns=…`. */
  readonly columns: string;
}

/** A declarative operator with the objects of its demo. */
export interface Sample {
  readonly name: SampleName;
  /** The file of its `Operator` object, which has the sample's name. */
  readonly path: string;
  /** The CustomResourceDefinitions that the operator needs. */
  readonly definitions: readonly UnstructuredObject[];
  readonly objects: readonly UnstructuredObject[];
  /** Changed versions of some of `objects`, applied during the demo. */
  readonly change: readonly UnstructuredObject[];
  readonly views: readonly SampleView[];
}

/** Reads a sample. */
export async function loadSample(name: SampleName): Promise<Sample> {
  const folder = join(import.meta.dirname, name);
  const path = join(folder, 'operator.yaml');
  const [operator] = loadOperators(await readFile(path, 'utf8'), path);
  const targets = operator?.spec.controllers.map(({ target }) => target) ?? [];
  return {
    ...{ name, path },
    definitions: await readObjects(join(folder, 'crds.yaml')),
    objects: await readObjects(join(folder, 'objects.yaml')),
    change: await readObjects(join(folder, 'change.yaml')),
    views: targets.flatMap(({ apiGroup, kind }) => (apiGroup === undefined ? [viewOf(kind)] : [])),
  };
}

function viewOf(kind: string): SampleView {
  const places = 'NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  return { kind, columns: `${places},${columnsOf[kind] ?? ''}` };
}

/**
 * Applies objects in their order.
 * @param as - the field manager; omitted fields that it applied before are removed
 */
export async function applyAll(
  client: Client,
  objects: readonly UnstructuredObject[],
  as = 'objects',
): Promise<void> {
  for (const object of objects) {
    await client.apply(object, { fieldManager: as, force: true });
  }
}

/** Returns the objects of a YAML file; an empty list if the file does not exist. */
async function readObjects(path: string): Promise<UnstructuredObject[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  });
  const documents = parseAllDocuments(text);
  return (Array.isArray(documents) ? documents : []).map(
    (document) => document.toJS() as UnstructuredObject,
  );
}
