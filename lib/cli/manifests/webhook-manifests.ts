import { basename, join } from 'node:path';
import { deepEqual, isJsonObject, checkYamlDepth } from '../../object/index.js';
import omit from 'lodash/omit.js';
import { parseAllDocuments } from 'yaml';
import type { Convertible } from '../../crd/index.js';
import {
  conversionClientConfig,
  conversionWebhook,
  webhookConfigurations,
  operatorWebhookNames,
  withMatchPolicies,
} from '../../manager/index.js';
import type {
  ConversionWebhook,
  OperatorDefinition,
  Webhook,
  WebhookConfiguration,
  WebhookEntry,
} from '../../manager/index.js';
import type { KubernetesObject } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import type { WantedManifests, FileList } from './generated-file.js';
import { ownNamespace } from './role-files.js';
import { listedFiles, otherFiles, generatedFile, isGenerated } from './generated-file.js';

type Served = Pick<OperatorDefinition, 'name' | 'webhooks'>;

const admissionPath = 'config/webhook/manifests.yaml';
const patchFolder = 'config/default';
const patchList: FileList = {
  ...{ path: `${patchFolder}/kustomization.yaml`, field: 'patches' },
  marker: '# +operator-builder:scaffold:patches',
};
const from = 'the webhooks of src/operator.ts';

/**
 * Returns the configurations of an operator's validating and mutating webhooks, with the names before
 * kustomize adds its prefix. Webhooks are sorted by name, which for mutating ones is their calling order.
 */
export function webhookManifests({
  webhooks = [],
}: Pick<OperatorDefinition, 'webhooks'>): readonly WebhookConfiguration[] {
  const address = { service: { namespace: ownNamespace, name: 'webhook-service' } };
  return (['mutating', 'validating'] as const).flatMap((type) => {
    // Include conversion webhooks, which list the versions of their kinds.
    const own = webhooks.filter((webhook) => webhook.type === type || isConversion(webhook));
    return webhookConfigurations(own.toSorted(byName), {
      name: `${type}-webhook-configuration`,
      address,
    });
  });
}

/**
 * Returns the patch of a CustomResourceDefinition for a conversion webhook. It applies only together with the
 * operator: without the operator, the resource would be unusable. The Service has its full name, since
 * kustomize does not rename it there.
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

/**
 * Returns the files of an operator's webhooks.
 * @param folder - the folder of the project
 * @param options - `keep`: existing webhooks stay in the files
 */
export async function webhookManifestFiles(
  folder: string,
  operator: Served,
  { keep }: { readonly keep: boolean },
): Promise<WantedManifests> {
  const patches = await conversionPatches(folder, operator);
  const before = await textIfExists(join(folder, admissionPath));
  const there = keep ? configurationsIn(before ?? '') : [];
  const objects = merged(there, webhookManifests(operator)).map((configuration) => ({
    ...configuration,
    // As soon as every version has a webhook, each webhook matches only its own version.
    webhooks: withMatchPolicies(configuration.webhooks, operator.webhooks ?? []),
  }));
  const admission = await admissionFile(folder, { before, objects });
  // With `keep`, webhooks are being added to a project, and the template has the other files.
  const others = keep ? [] : await otherPatches(folder, patches);
  const notes = keep || admission.length === 0 ? [] : await notesOnList(folder);
  return { wanted: [...admission, ...patches, ...others], notes };
}

/**
 * Returns the file of webhooks for a kind that gets a version without webhooks. While each version had a webhook, each
 * webhook matched only its own version. From now on they match all versions again.
 * @param kind - the kind with its previous versions
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
  return deepEqual(objects, there) ? [] : admissionFile(folder, { before, objects });
}

/** Reports webhooks that the kustomization does not list, since `create webhook` did not make them. */
async function notesOnList(folder: string): Promise<readonly string[]> {
  const list = 'config/webhook/kustomization.yaml';
  if ((await textIfExists(join(folder, list))) !== undefined) return [];
  return [
    `${admissionPath} is in no kustomization, because ${list} does not exist: apply it separately`,
  ];
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

/** Returns the list of patches, and deletes generated patches of removed webhooks: their server is gone. */
async function otherPatches(
  folder: string,
  patches: readonly WantedFile[],
): Promise<readonly WantedFile[]> {
  const names = patches.map(({ path }) => basename(path));
  const place = join(folder, patchFolder);
  const { gone } = await otherFiles(place, /^conversion_in_.*\.yaml$/, names);
  const going = gone.map((name) => ({ type: 'delete', path: `${patchFolder}/${name}` }) as const);
  return [...going, ...(await listedFiles(folder, patchList, names, gone))];
}

async function admissionFile(
  folder: string,
  { before, objects }: { readonly before: string | undefined; readonly objects: readonly object[] },
): Promise<readonly WantedFile[]> {
  // Without objects the file stays, since the kustomization lists it.
  if (objects.length === 0 && (before === undefined || !isGenerated(before))) return [];
  return [await generatedFile(folder, { path: admissionPath, from, objects })];
}

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

/** @throws OperatorError `InvalidConfig`: invalid YAML */
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

/** Compares independently of the locale, so that every machine generates the same files. */
function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}

function isConversion(webhook: Webhook): webhook is ConversionWebhook {
  return webhook.type === 'conversion';
}
