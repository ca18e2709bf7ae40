import type { Client } from '../../lib/client/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { Namespace } from '../../lib/object/kinds.js';
import type { ContractSubject } from './contract/contract-subject.js';
import { customResourceContract } from './contract/custom-resources.js';
import { deleteContract } from './contract/deletes.js';
import { helperContract } from './contract/helpers.js';
import { patchContract } from './contract/patches.js';
import { readContract } from './contract/reads.js';
import { subresourceContract } from './contract/subresources.js';
import { watchContract } from './contract/watches.js';
import { writeContract } from './contract/writes.js';

/** Options of {@link clientContract}. */
export interface ClientContractOptions {
  /** Client under test, of a running cluster, with permission to write anywhere. */
  readonly newClient: () => Client | Promise<Client>;
  /** Titles of behaviours that do not hold, with the reasons. */
  readonly skip?: Readonly<Record<string, string>>;
}

let namespaces = 0;

/**
 * Declares the behaviours of every Client as specs of the surrounding `describe`; each runs in its
 * own namespace.
 */
export function clientContract({ newClient, skip = {} }: ClientContractOptions): void {
  const unused = new Set(Object.keys(skip));
  const behaviour = (title: string, run: (subject: ContractSubject) => Promise<void>): void => {
    if (unused.delete(title)) return;
    it(title, async () => {
      namespaces += 1;
      const namespace = `contract-${process.pid}-${namespaces}`;
      const client = await newClient();
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      try {
        await run({ client, namespace });
      } finally {
        await client.delete(Namespace, { name: namespace }).catch(unlessNotFound);
      }
    });
  };
  describe('reads', () => readContract(behaviour));
  describe('writes', () => writeContract(behaviour));
  describe('patches', () => patchContract(behaviour));
  describe('deletes', () => deleteContract(behaviour));
  describe('subresources', () => subresourceContract(behaviour));
  describe('custom resources', () => customResourceContract(behaviour));
  describe('watches', () => watchContract(behaviour));
  describe('functions that call the client', () => helperContract(behaviour));
  if (unused.size > 0) throw new Error(`skip: no such behaviour: ${[...unused].join('; ')}`);
}

/** Ignores a missing namespace, because the behaviour may have deleted it. */
function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
