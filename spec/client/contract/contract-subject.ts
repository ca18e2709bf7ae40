import type { Client } from '../../../lib/client/index.js';
import type { ConfigMap } from '../../../lib/object/kinds.js';

/** What a behaviour of the contract is tried on. */
export interface ContractSubject {
  readonly client: Client;
  /** Exists, and belongs to the running test alone. */
  readonly namespace: string;
}

/** Declares a behaviour; the suite decides whether it runs. */
export type Behaviour = (title: string, run: (subject: ContractSubject) => Promise<void>) => void;

/** A ConfigMap in the namespace of the test. */
export function configMapIn(
  { namespace }: ContractSubject,
  name: string,
  more: Partial<ConfigMap> = {},
): ConfigMap {
  const { metadata, ...rest } = more;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...metadata },
    ...rest,
  };
}
