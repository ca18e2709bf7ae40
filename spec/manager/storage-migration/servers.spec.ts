import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { storedIn } from './migrated-widgets.js';
import { storageMigrationSuite } from './migration-suite.js';
import type { MigrationTarget } from './migration-suite.js';

async function target(): Promise<MigrationTarget> {
  const embedded = await embeddedTarget();
  const { cluster } = embedded;
  return { ...embedded, storedIn: (group) => Promise.resolve(storedIn(cluster, group)) };
}

describe('a storage migration on the embedded server', () => {
  let groups = 0;
  storageMigrationSuite(target, () => `g${++groups}.example.com`);
});
