import type { Client } from '../../client/client.js';
import { getIfExists } from '../../client/object-changes.js';
import { Secret } from '../../object/kinds.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import { OperatorError } from '../../system/operator-error.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { CertificateState } from './rotation-step.js';
import { readCertificate } from '../../system/x509.js';

/** Keys of the Secret's data; the first two are those of type `kubernetes.io/tls`. */
const entries = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  authorityKey: 'ca.key',
} as const;

/** Marks a Secret whose certificates this package generated and may replace. */
export const generatedAnnotation = 'operator-builder.io/generated-certificates';

/** Subject of generated authorities; it also identifies a Secret as generated. */
export const authorityName = 'operator-builder webhooks';

/** The stored certificates and their Secret. */
export interface StoredCertificates {
  /** Undefined if the Secret does not exist. */
  readonly secret: Secret | undefined;
  /** Undefined if the Secret is empty. */
  readonly state: CertificateState | undefined;
}

/** The Secret through which the replicas of an operator share their certificates. */
export class CertificateSecret {
  readonly #client: Client;
  readonly #key: ObjectKey;

  constructor(client: Client, key: ObjectKey) {
    this.#client = client;
    this.#key = key;
  }

  /** Name of the Secret, for messages. */
  get title(): string {
    const { namespace = '', name } = this.#key;
    return `Secret ${namespace}/${name}`;
  }

  /** @throws OperatorError `NotOurs`: the Secret contains a certificate from another source. */
  async read(signal: AbortSignal): Promise<StoredCertificates> {
    const secret = await getIfExists(this.#client, Secret, this.#key, { signal });
    if (secret !== undefined && isForeign(secret)) throw notOurs(this.title);
    return { secret, state: secret && stateOf(secret) };
  }

  /**
   * Replaces `stored` with `state`.
   * @throws ApiError `Conflict` or `AlreadyExists`: another replica wrote first.
   */
  async write(
    { secret }: StoredCertificates,
    state: CertificateState,
    signal: AbortSignal,
  ): Promise<void> {
    const data = { ...secret?.data, ...encode(state) };
    if (secret === undefined) {
      const { namespace, name } = this.#key;
      const metadata = { ...(namespace !== undefined && { namespace }), name, annotations: mark };
      const type = 'kubernetes.io/tls';
      await this.#client.create<Secret>(
        { apiVersion: 'v1', kind: 'Secret', metadata, type, data },
        { signal },
      );
      return;
    }
    // Keeps the resource version, so that a concurrent write causes a conflict.
    const annotations = { ...secret.metadata.annotations, ...mark };
    const metadata = { ...secret.metadata, annotations };
    await this.#client.update<Secret>({ ...secret, metadata, data }, { signal });
  }
}

/** Returns the access that {@link CertificateSecret} needs. */
export function secretAccess({ namespace, name }: ObjectKey): readonly RequiredAccess[] {
  return [
    { type: Secret, namespace, names: [name], verbs: ['get', 'update'] },
    // RBAC cannot restrict `create` by name.
    { type: Secret, namespace, verbs: ['create'] },
  ];
}

const mark = { [generatedAnnotation]: 'true' };

/**
 * Returns whether the Secret holds a key from another source, which a write would destroy. An empty Secret
 * may be filled.
 */
function isForeign({ metadata, data = {} }: Secret): boolean {
  if (metadata.annotations?.[generatedAnnotation] !== undefined) return false;
  const authority = readCertificate(textOf(data[entries.authorities]));
  if (authority?.subject === `CN=${authorityName}`) return false;
  return Object.values(entries).some((name) => (data[name] ?? '') !== '');
}

function notOurs(title: string): OperatorError {
  const holds = 'it holds a certificate that was not made here, whose key would be lost';
  const remedy = 'name another Secret, serve this one by certificateFiles, or delete it';
  return new OperatorError('NotOurs', `generatedCertificates: ${title}: ${holds} (${remedy})`);
}

function stateOf({ data = {} }: Secret): CertificateState | undefined {
  const decode = (name: string): string => textOf(data[name]);
  const state = {
    certificate: decode(entries.certificate),
    privateKey: decode(entries.privateKey),
    authorities: decode(entries.authorities),
    authorityKey: decode(entries.authorityKey),
  };
  return Object.values(state).every((text) => text === '') ? undefined : state;
}

function textOf(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

function encode(state: CertificateState): Record<string, string> {
  const names = Object.keys(entries) as (keyof CertificateState)[];
  return Object.fromEntries(
    names.map((name) => [entries[name], Buffer.from(state[name]).toString('base64')]),
  );
}
