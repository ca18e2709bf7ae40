import { basename, join } from 'node:path';
import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { parseAllDocuments } from 'yaml';
import type { Convertible } from '../../crd/convertible.js';
import {
  conversionClientConfig,
  conversionWebhook,
  webhookConfigurations,
} from '../../manager/index.js';
import type {
  ConversionWebhook,
  OperatorDefinition,
  Webhook,
  WebhookConfiguration,
} from '../../manager/index.js';
import { operatorWebhookNames } from '../../manager/operator-webhooks.js';
import { withMatchPolicies } from '../../manager/webhooks/webhook-configurations.js';
import type { WebhookEntry } from '../../manager/webhooks/webhook-configurations.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { checkYamlDepth } from '../../object/yaml-depth.js';
import { OperatorError } from '../../system/operator-error.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import type { WantedManifests } from './wanted-manifests.js';
import { ownNamespace } from './declared-rules.js';
import { listedFiles, otherFiles } from './file-list.js';
import type { FileList } from './file-list.js';
import { generatedFile, isGenerated } from './generated-file.js';

/** An operator with webhooks. */
type Served = Pick<OperatorDefinition, 'name' | 'webhooks'>;

const admissionPath = 'config/webhook/manifests.yaml';
const patchFolder = 'config/default';
const patchList: FileList = {
  ...{ path: `${patchFolder}/kustomization.yaml`, field: 'patches' },
  marker: '# +operator-builder:scaffold:patches',
};
const from = 'the webhooks of src/operator.ts';

/**
 * The objects that make the API server ask the validating and mutating webhooks of an operator, with
 * the names that they have before kustomize puts the operator's before them. The webhooks of each are
 * sorted by their names; of mutating ones that is the order in which they are asked.
 */
export function webhookManifests({
  webhooks = [],
}: Pick<OperatorDefinition, 'webhooks'>): readonly WebhookConfiguration[] {
  const address = { service: { namespace: ownNamespace, name: 'webhook-service' } };
  return (['mutating', 'validating'] as const).flatMap((type) => {
    // The conversions know which versions there are.
    const own = webhooks.filter((webhook) => webhook.type === type || isConversion(webhook));
    return webhookConfigurations(own.toSorted(byName), {
      name: `${type}-webhook-configuration`,
      address,
    });
  });
}

/**
 * What the CustomResourceDefinition of a conversion webhook has where the operator is, as a patch: in a
 * cluster without the operator nobody could use the resource. The Service has its whole name: kustomize
 * does not look for names there.
 */
export function conversionPatch(
  { name }: Pick<ConversionWebhook, 'name'>,
  operator: Pick<OperatorDefinition, 'name'>,
): KubernetesObject & { readonly spec: object } {
  const { service } = operatorWebhookNames(operator);
  const address = { service: { namespace: ownNamespace, name: service } };
  const clientConfig = conversionClientConfig({ address });
  const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { conversion: { strategy: 'Webhook', webhook } },
  };
}

/** Options of {@link webhookManifestFiles}. */
export interface WebhookManifestOptions {
  /** Whether webhooks that are in the files already stay there. */
  readonly keep: boolean;
}

/**
 * The files of the webhooks of an operator.
 * @param folder - the project's
 */
export async function webhookManifestFiles(
  folder: string,
  operator: Served,
  { keep }: WebhookManifestOptions,
): Promise<WantedManifests> {
  const patches = await conversionPatches(folder, operator);
  const before = await textIfExists(join(folder, admissionPath));
  const there = keep ? configurationsIn(before ?? '') : [];
  const objects = merged(there, webhookManifests(operator)).map((configuration) => ({
    ...configuration,
    // With a webhook of the last version, those of the others are about their own only.
    webhooks: withMatchPolicies(configuration.webhooks, operator.webhooks ?? []),
  }));
  const admission = await admissionFile(folder, { before, objects });
  // Who adds webhooks to a project does all else by its template.
  const others = keep ? [] : await otherPatches(folder, patches);
  const notes = keep || admission.length === 0 ? [] : await notesOnList(folder);
  return { wanted: [...admission, ...patches, ...others], notes };
}

/**
 * The file of the webhooks once a kind has a further version, which none of them is about. Those that
 * were asked about their own version only, for each had one, are asked about all versions again.
 * @param kind - with the versions before
 */
export async function widenedWebhooks(
  folder: string,
  kind: Omit<Convertible, 'convert'>,
): Promise<readonly WantedFile[]> {
  const before = await textIfExists(join(folder, admissionPath));
  if (before === undefined || !isGenerated(before)) return [];
  const there = configurationsIn(before);
  const known = [conversionWebhook({ ...kind, convert: <T>(object: T): T => object })];
  const objects = there.map((configuration) => {
    const bare = configuration.webhooks.map((entry) => omit(entry, 'matchPolicy') as WebhookEntry);
    const own = withMatchPolicies(bare, known).map(({ matchPolicy }) => matchPolicy === 'Exact');
    const webhooks = configuration.webhooks.map((entry, index) =>
      own[index] === true && entry['matchPolicy'] === 'Exact' ? (bare[index] ?? entry) : entry,
    );
    return { ...configuration, webhooks };
  });
  return isEqual(objects, there) ? [] : admissionFile(folder, { before, objects });
}

/** Webhooks that `create webhook` has not made, no kustomization knows. */
async function notesOnList(folder: string): Promise<readonly string[]> {
  const list = 'config/webhook/kustomization.yaml';
  if ((await textIfExists(join(folder, list))) !== undefined) return [];
  return [`${admissionPath} is in no kustomization, for there is no ${list}: apply it apart`];
}

function conversionPatches(folder: string, operator: Served): Promise<readonly WantedFile[]> {
  const { webhooks = [] } = operator;
  const files = webhooks.filter(isConversion).map((webhook) => {
    const { group, plural } = webhook.resource;
    const path = `${patchFolder}/conversion_in_${group}_${plural}.yaml`;
    return generatedFile(folder, { path, from, objects: [conversionPatch(webhook, operator)] });
  });
  return Promise.all(files);
}

/** The list of patches; those that were made of webhooks that are gone, go: nobody would answer the API server. */
async function otherPatches(
  folder: string,
  patches: readonly WantedFile[],
): Promise<readonly WantedFile[]> {
  const names = patches.map(({ path }) => basename(path));
  const place = join(folder, patchFolder);
  const { gone } = await otherFiles(place, /^conversion_in_.*\.yaml$/, names);
  const going = gone.map((name) => ({ type: 'delete', path: `${patchFolder}/${name}` }) as const);
  return [...going, ...(await listedFiles(folder, patchList, { names, gone }))];
}

async function admissionFile(
  folder: string,
  { before, objects }: { readonly before: string | undefined; readonly objects: readonly object[] },
): Promise<readonly WantedFile[]> {
  // Without objects it stays: kustomize has it in a list.
  if (objects.length === 0 && (before === undefined || !isGenerated(before))) return [];
  return [await generatedFile(folder, { path: admissionPath, from, objects })];
}

/** Configurations with the webhooks of others, where they lack them. */
function merged(
  there: readonly WebhookConfiguration[],
  added: readonly WebhookConfiguration[],
): readonly WebhookConfiguration[] {
  return ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].flatMap((kind) => {
    const [first, ...rest] = [...there, ...added].filter((each) => each.kind === kind);
    if (first === undefined) return [];
    const known = new Set(first.webhooks.map(nameOf));
    const others = rest
      .flatMap(({ webhooks }) => webhooks)
      .filter((one) => !known.has(nameOf(one)));
    const webhooks = [...first.webhooks, ...others].map((webhook) => ({
      name: nameOf(webhook),
      webhook,
    }));
    return { ...first, webhooks: webhooks.toSorted(byName).map(({ webhook }) => webhook) };
  });
}

/** @throws OperatorError `InvalidConfig`: it is no YAML. */
function configurationsIn(text: string): readonly WebhookConfiguration[] {
  const documents = parseAllDocuments(checkYamlDepth(text, admissionPath));
  if ('empty' in documents) return [];
  const [problem] = documents.flatMap(({ errors }) => errors);
  if (problem !== undefined) {
    const remedy = 'run npx operator-builder manifests';
    const message = `${admissionPath} can't be read: ${problem.message.trimEnd()} (${remedy})`;
    throw new OperatorError('InvalidConfig', message);
  }
  return documents
    .map((document) => document.toJS() as unknown)
    .filter((content) => isJsonObject(content) && Array.isArray(content['webhooks']))
    .map((content) => content as WebhookConfiguration);
}

function nameOf(webhook: unknown): string {
  return isJsonObject(webhook) ? String(webhook['name']) : '';
}

/** Not by the language of the machine: the files are shared. */
function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}

function isConversion(webhook: Webhook): webhook is ConversionWebhook {
  return webhook.type === 'conversion';
}
