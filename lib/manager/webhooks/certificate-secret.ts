import type { Client } from '../../client/client.js';
import { getIfExists } from '../../client/get-if-exists.js';
import { Secret } from '../../object/kinds.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import { OperatorError } from '../../system/operator-error.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { CertificateState } from './rotation-step.js';
import { readCertificate } from '../../system/x509.js';

/** The names of the Secret's entries; the first two are those of type `kubernetes.io/tls`. */
const entries = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  authorityKey: 'ca.key',
} as const;

/** Says of a Secret that its certificates are ours, to be replaced as we like. */
export const generatedAnnotation = 'operator-builder.io/generated-certificates';

/** The subject of our authorities: a Secret with one of them is ours, too. */
export const authorityName = 'operator-builder webhooks';

/** What is stored, and in which Secret. */
export interface StoredCertificates {
  /** Undefined: there is no such Secret. */
  readonly secret: Secret | undefined;
  /** Undefined: there is nothing in it. */
  readonly state: CertificateState | undefined;
}

/** The Secret that the replicas of an operator share their certificates by. */
export class CertificateSecret {
  readonly #client: Client;
  readonly #key: ObjectKey;

  constructor(client: Client, key: ObjectKey) {
    this.#client = client;
    this.#key = key;
  }

  /** For messages. */
  get title(): string {
    const { namespace = '', name } = this.#key;
    return `Secret ${namespace}/${name}`;
  }

  /** @throws OperatorError `NotOurs`: it holds a certificate that somebody else has put there. */
  async read(signal: AbortSignal): Promise<StoredCertificates> {
    const secret = await getIfExists(this.#client, Secret, this.#key, { signal });
    if (secret !== undefined && isForeign(secret)) throw notOurs(this.title);
    return { secret, state: secret && stateOf(secret) };
  }

  /**
   * Puts `state` in the place of `stored`.
   * @throws ApiError `Conflict` or `AlreadyExists`: another replica was first.
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
    // With its resourceVersion: a write in between is a conflict.
    const annotations = { ...secret.metadata.annotations, ...mark };
    const metadata = { ...secret.metadata, annotations };
    await this.#client.update<Secret>({ ...secret, metadata, data }, { signal });
  }
}

/** What {@link CertificateSecret} does on the cluster. */
export function secretAccess({ namespace, name }: ObjectKey): readonly RequiredAccess[] {
  return [
    { type: Secret, namespace, names: [name], verbs: ['get', 'update'] },
    // What is not there yet has no name that RBAC would know.
    { type: Secret, namespace, verbs: ['create'] },
  ];
}

const mark = { [generatedAnnotation]: 'true' };

/** Whether a key would be lost that we have not made. One without anything is there to be filled. */
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
