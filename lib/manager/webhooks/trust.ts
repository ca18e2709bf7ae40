import type { Client } from '../../client/index.js';
import {
  CustomResourceDefinition,
  isApiError,
  isNotFound,
  isJsonObject,
} from '../../object/index.js';
import type { JsonPatchOperation, UnstructuredObject, ResourceType } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import type { RequiredAccess } from '../access/required-access.js';

/** Objects whose `caBundle` is kept up to date, by name. */
export interface TrustTargets {
  /** ValidatingWebhookConfigurations. @defaultValue none */
  readonly validating?: readonly string[] | undefined;
  /** MutatingWebhookConfigurations. @defaultValue none */
  readonly mutating?: readonly string[] | undefined;
  /** CustomResourceDefinitions with a conversion webhook. @defaultValue none */
  readonly customResourceDefinitions?: readonly string[] | undefined;
}

export interface TrustContext {
  readonly client: Client;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

interface Target {
  readonly type: ResourceType;
  readonly name: string;
  readonly bundles: (object: UnstructuredObject) => readonly Bundle[];
}

/** A `caBundle` field of an object. */
interface Bundle {
  /** JSON pointer of the field. */
  readonly path: string;
  readonly given: unknown;
}

const registration = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };

const kinds = {
  validating: {
    ...registration,
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
  },
  mutating: {
    ...registration,
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
  },
} as const satisfies Partial<Record<keyof TrustTargets, ResourceType>>;

/**
 * Writes `authorities` (PEM) to the `caBundle` of all targets that differ.
 * @returns whether all existing targets are up to date; errors are logged
 */
export async function trustAuthorities(
  targets: TrustTargets,
  authorities: string,
  context: TrustContext,
): Promise<boolean> {
  const caBundle = Buffer.from(authorities).toString('base64');
  const done = await Promise.all(
    targetsOf(targets).map((target) => trust(target, caBundle, context)),
  );
  return done.every(Boolean);
}

/** Returns the access that {@link trustAuthorities} needs. */
export function trustAccess(targets: TrustTargets): readonly RequiredAccess[] {
  return targetsOf(targets).map(({ type, name }) => ({
    ...{ type, names: [name], verbs: ['get', 'patch'] },
  }));
}

function targetsOf(targets: TrustTargets): readonly Target[] {
  const { validating = [], mutating = [], customResourceDefinitions = [] } = targets;
  return [
    ...validating.map((name) => ({ type: kinds.validating, name, bundles: ofWebhooks })),
    ...mutating.map((name) => ({ type: kinds.mutating, name, bundles: ofWebhooks })),
    ...customResourceDefinitions.map((name) => ({
      ...{ type: CustomResourceDefinition, name, bundles: ofConversion },
    })),
  ];
}

async function trust(
  { type, name, bundles }: Target,
  caBundle: string,
  { client, logger, signal }: TrustContext,
): Promise<boolean> {
  try {
    const object = await client.get(type, { name }, { signal });
    const stale = bundles(object).filter(({ given }) => given !== caBundle);
    if (stale.length === 0) return true;
    const { resourceVersion } = object.metadata;
    // List indexes in the patch are valid only for the version that was read.
    const path = '/metadata/resourceVersion';
    const operations: readonly JsonPatchOperation[] = [
      { op: 'test', path, value: resourceVersion },
      ...stale.map((each) => ({ op: 'add', path: each.path, value: caBundle }) as const),
    ];
    await client.patch(type, { name }, { type: 'json', operations }, { signal });
    logger.info(`${type.kind} ${name}: caBundle was replaced`);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const why = isApiError(error) ? error.message : error;
    logger.warn(`${type.kind} ${name}: caBundle could not be replaced; tried again later`, { why });
    // A missing object calls no webhook; it gets its bundle when it exists.
    return isNotFound(error);
  }
}

function ofWebhooks({ webhooks }: UnstructuredObject): readonly Bundle[] {
  if (!Array.isArray(webhooks)) return [];
  return webhooks.map((webhook: unknown, at) => bundleOf(webhook, `/webhooks/${at}`));
}

function ofConversion({ spec }: UnstructuredObject): readonly Bundle[] {
  const conversion = isJsonObject(spec) ? spec['conversion'] : undefined;
  if (!isJsonObject(conversion) || conversion['strategy'] !== 'Webhook') return [];
  return [bundleOf(conversion['webhook'], '/spec/conversion/webhook')];
}

function bundleOf(webhook: unknown, at: string): Bundle {
  const config = isJsonObject(webhook) ? webhook['clientConfig'] : undefined;
  const given = isJsonObject(config) ? config['caBundle'] : undefined;
  return { path: `${at}/clientConfig/caBundle`, given };
}
