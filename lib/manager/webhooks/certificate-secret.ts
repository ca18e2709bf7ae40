import type { Client } from '../../client/client.js';
import { isNotFound } from '../../object/api-error.js';
import { Secret } from '../../object/kinds.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import type { CertificateState } from './rotation-step.js';

/** The names of the Secret's entries; the first two are those of type `kubernetes.io/tls`. */
const entries = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  authorityKey: 'ca.key',
} as const;

/** What is stored, and in which Secret. */
export interface StoredCertificates {
  /** Undefined: there is no such Secret. */
  readonly secret: Secret | undefined;
  /** Undefined: an entry is missing. */
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

  async read(signal: AbortSignal): Promise<StoredCertificates> {
    try {
      const secret = await this.#client.get(Secret, this.#key, { signal });
      return { secret, state: stateOf(secret) };
    } catch (error) {
      if (isNotFound(error)) return { secret: undefined, state: undefined };
      throw error;
    }
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
      const metadata = { ...(namespace !== undefined && { namespace }), name };
      const type = 'kubernetes.io/tls';
      await this.#client.create<Secret>(
        { apiVersion: 'v1', kind: 'Secret', metadata, type, data },
        { signal },
      );
      return;
    }
    // With its resourceVersion: a write in between is a conflict.
    await this.#client.update<Secret>({ ...secret, data }, { signal });
  }
}

function stateOf({ data = {} }: Secret): CertificateState | undefined {
  const decode = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  const state = {
    certificate: decode(entries.certificate),
    privateKey: decode(entries.privateKey),
    authorities: decode(entries.authorities),
    authorityKey: decode(entries.authorityKey),
  };
  return Object.values(state).includes('') ? undefined : state;
}

function encode(state: CertificateState): Record<string, string> {
  const names = Object.keys(entries) as (keyof CertificateState)[];
  return Object.fromEntries(
    names.map((name) => [entries[name], Buffer.from(state[name]).toString('base64')]),
  );
}
