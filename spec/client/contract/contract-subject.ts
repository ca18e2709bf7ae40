import type { Client } from '../../../lib/client/index.js';
import type { ConfigMap } from '../../../lib/object/kinds.js';

/** Client and namespace that a behaviour of the contract runs on. */
export interface ContractSubject {
  readonly client: Client;
  /** Existing namespace that belongs to the running test alone. */
  readonly namespace: string;
}

/** Declares a behaviour; the suite decides whether to run it. */
export type Behaviour = (title: string, run: (subject: ContractSubject) => Promise<void>) => void;

/** Returns a ConfigMap in the test's namespace. */
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
