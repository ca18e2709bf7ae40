import { clientFromKubeConfig } from '../../../../lib/client/index.js';
import { controllerFor, done, requeueAfter } from '../../../../lib/controller/index.js';
import { Manager } from '../../../../lib/manager/manager.js';
import { ConfigMap } from '../../../../lib/object/kinds.js';
import { pinoLogger } from '../../../../lib/system/pino-logger.js';
import { times } from '../sharding-setup.js';

/**
 * A replica as a program. It repeatedly writes its name into the ConfigMap of each key that it
 * owns, in the namespace `<keys>-written`.
 */
async function main(): Promise<void> {
  const {
    KUBECONFIG: path = '',
    SPEC_NAMESPACE: namespace = '',
    SPEC_NAME: identity = '',
  } = process.env;
  const manager = new Manager({
    client: await clientFromKubeConfig({ path }),
    cacheOptions: { namespaces: [namespace] },
    shards: { name: 'replicas', namespace, identity, ...times, drainMs: 2_000 },
    rbacPreflight: 'off',
    logger: pinoLogger({ level: 'info' }),
  });
  const controller = controllerFor(ConfigMap)
    .withOptions({ maxConcurrentReconciles: 12 })
    .complete(async ({ key, client }) => {
      const { labels = {} } = (await client.get(ConfigMap, key)).metadata;
      if (labels['spec'] !== 'key') return done();
      const written = { namespace: `${namespace}-written`, name: key.name };
      const { resourceVersion } = (await client.live.get(ConfigMap, written)).metadata;
      const data = { writer: identity, at: String(Date.now()) };
      const body = { metadata: { resourceVersion }, data };
      await client.live.patch(ConfigMap, written, { type: 'merge', body });
      return requeueAfter(8_000);
    });
  manager.add(controller, { shards: true });
  await manager.runUntilSignal();
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
