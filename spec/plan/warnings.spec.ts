import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { Manager } from '../../lib/manager/index.js';
import { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { planResource } from '../../lib/plan/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { Logger } from '../../lib/system/logger.js';
import { systemClock } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

const spec = s.object({ text: s.string(), room: s.optional(s.string()) });
const Shelf = defineResource({
  ...{ group: 'shelf.example', kind: 'Shelf', scope: 'Cluster' },
  versions: [{ name: 'v1', schema: s.object({ spec }), status: s.status() }],
});

function operatorNamed(name: string): Operator {
  const operator = new Operator(name);
  operator
    .for(Shelf)
    .owns(ConfigMap, Namespace)
    .withBuilder({ namespace: 'default' })
    .builds(({ object: { spec: wanted }, builder }) => {
      const { text, room } = wanted;
      const chain = builder.configMap({ name: 'book', data: { text } });
      if (room === undefined) return chain;
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: room } };
      return chain.object(namespace).configMap({ name: 'book', namespace: room, data: { text } });
    });
  return operator;
}

describe('Warnings of a plan', () => {
  const shelf = (wanted: object) => ({
    ...{ apiVersion: Shelf.apiVersion, kind: 'Shelf', metadata: { name: 'a' }, spec: wanted },
  });
  const book = { namespace: 'default', name: 'book' };
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shelf] });
    client = cluster.client();
    await client.apply(shelf({ text: 'one' }), { fieldManager: 'user', force: true });
    const stop = new AbortController();
    const manager = new Manager({ client, rbacPreflight: 'off' });
    operatorNamed('shelves').setup(manager);
    const running = manager.run(stop.signal);
    await eventually(() => client.get(ConfigMap, book));
    stop.abort();
    await running;
  });

  after(() => cluster.stop());

  /** @returns what the plan of the operator logs as a warning */
  async function warningsOf(name: string, wanted: object): Promise<readonly string[]> {
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    const { signal } = new AbortController();
    const surroundings = { client, namespace: 'default', logger, clock: systemClock, signal };
    const operator = operatorNamed(name);
    const { settled, changed } = await planResource(shelf(wanted), { operator, ...surroundings });
    expect({ settled, changed }).to.deep.equal({ settled: true, changed: true });
    return warnings;
  }

  it('do not suggest to own a kind for an operator that was renamed', async () => {
    expect(await warningsOf('bookcases', { text: 'two' })).to.deep.equal([]);
  });

  it('do not suggest to own a kind for objects in a namespace that the plan creates', async () => {
    expect(await warningsOf('shelves', { text: 'two', room: 'attic' })).to.deep.equal([]);
  });

  it('do not suggest to own a kind for an object whose managedFields a user has cleared', async () => {
    const body = { metadata: { managedFields: [{}] } };
    await client.patch(ConfigMap, book, { type: 'merge', body });
    expect(await warningsOf('shelves', { text: 'two' })).to.deep.equal([]);
  });
});
