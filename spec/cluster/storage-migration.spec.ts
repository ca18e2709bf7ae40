import { systemRandom } from '../../lib/system/random.js';
import { countsOf } from '../manager/storage-migration/migrated-widgets.js';
import { storageMigrationSuite } from '../manager/storage-migration/migration-suite.js';
import type { MigrationTarget } from '../manager/storage-migration/migration-suite.js';
import { clusterTarget } from './cluster-target.js';
import { sharedControlPlane } from './control-plane/shared.js';

async function target(): Promise<MigrationTarget> {
  const { processes } = await sharedControlPlane();
  const storedIn = async (group: string) =>
    countsOf(await valuesIn(processes.etcdUrl, `/registry/${group}/widgets/`));
  return { ...(await clusterTarget()), storedIn };
}

interface RangeResponse {
  /** The values that were found, in Base64; absent if no value was found. */
  readonly kvs?: readonly { readonly value: string }[];
}

/** Returns the objects that etcd stores below a key. */
async function valuesIn(url: string, key: string): Promise<readonly { apiVersion: string }[]> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  // The end of the range: the first key without the prefix.
  const end = `${key.slice(0, -1)}0`;
  const body = JSON.stringify({ key: base64(key), range_end: base64(end) });
  const response = await fetch(`${url}/v3/kv/range`, { method: 'POST', body });
  if (!response.ok) throw new Error(`etcd: ${response.status} ${await response.text()}`);
  const { kvs = [] } = (await response.json()) as RangeResponse;
  return kvs.map(
    ({ value }) => JSON.parse(Buffer.from(value, 'base64').toString()) as { apiVersion: string },
  );
}

describe('a storage migration on a real API server', () => {
  const newGroup = (): string => `g-${systemRandom.uuid().slice(0, 8)}.example.com`;
  storageMigrationSuite(target, newGroup);
});
