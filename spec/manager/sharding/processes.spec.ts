import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import { shardingSuite } from './suite/sharding-suite.js';
import type { ShardingTarget } from './suite/sharding-suite.js';

async function embeddedTarget(): Promise<ShardingTarget> {
  const directory = await mkdtemp(join(tmpdir(), 'sharding-'));
  const users: Record<string, string> = {};
  const cluster = await EmbeddedCluster.start({ users, port: 0, logLength: 100_000 });
  return {
    admin: cluster.client(),
    user: async (name) => {
      const path = join(directory, name);
      await cluster.writeKubeConfig(path);
      return path;
    },
    writesOf: () => Promise.resolve(0),
    close: async () => {
      await cluster.stop();
      await rm(directory, { recursive: true });
    },
  };
}

describe('Sharding among processes, on the embedded server', function () {
  this.timeout(60_000);
  shardingSuite(embeddedTarget);
});
