import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { shardingSuite } from './suite/sharding-suite.js';
import type { ShardingTarget } from './suite/sharding-suite.js';

async function embeddedTarget(): Promise<ShardingTarget> {
  const directory = await mkdtemp(join(tmpdir(), 'sharding-'));
  const users = { a: 'a', b: 'b', c: 'c', d: 'd' };
  const cluster = await EmbeddedCluster.start({ users, port: 0, logLength: 100_000 });
  return {
    admin: cluster.client(),
    user: async (name) => {
      const path = join(directory, name);
      await cluster.writeKubeConfig(path, name);
      return path;
    },
    writesOf: (name, namespace) => {
      const { requests } = cluster;
      const isStored = (code: number): boolean => code < 300;
      return Promise.resolve(
        requests.count(
          (entry) =>
            entry.user === name &&
            entry.namespace === namespace &&
            entry.verb === 'patch' &&
            isStored(entry.code),
        ),
      );
    },
    close: async () => {
      await cluster.stop();
      await rm(directory, { recursive: true });
    },
  };
}

describe('Sharding among processes on the embedded server', function () {
  this.timeout(240_000);
  shardingSuite(embeddedTarget);
});
