import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import type { Client } from '../../../lib/client/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Pass } from '../../../lib/lifecycle/reconciler/pass.js';
import { resolveSettings } from '../../../lib/lifecycle/reconciler/settings.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { SampleConfig } from '../suite/stage.js';
import type { Config } from '../suite/stage.js';

describe('the live client of a reconcile', () => {
  it('reads from the server instead of the cache, and writes through the cache', async () => {
    const cluster = await EmbeddedCluster.start({ clock: new VirtualClock() });
    const live = cluster.client();
    const written: string[] = [];
    const old = () => Promise.reject(new Error('read from the cache'));
    const create: Client['create'] = (object, options) => {
      written.push(object.kind);
      return live.create(object, options);
    };
    const noPages = () => {
      throw new Error('read from the cache');
    };
    const cached = { ...forwarding(live), get: old, list: old, create, pages: noPages } as Client;
    const client = Object.assign(cached, { live });
    const crManager = {
      type: SampleConfig,
      getAllResources: () => [],
      getDependantResourceTypes: () => [],
    };
    const recorder = { record: () => undefined };
    const settings = resolveSettings<Config>({ client, crManager, recorder, namespace: 'x' });
    const cr = { apiVersion: 'x/v1', kind: 'SampleConfig', metadata: { name: 'x' } };
    const pass = new Pass(settings, { key: cr.metadata }, { cr, operatorVersion: '1' });
    const key = { name: 'a', namespace: 'default' };
    await pass.live.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
    expect((await pass.live.get(ConfigMap, key)).metadata.name).to.equal('a');
    const { items } = await pass.live.list(ConfigMap, { namespace: 'default' });
    expect(items.map(({ metadata }) => metadata.name)).to.include('a');
    for await (const page of pass.live.pages(ConfigMap, { namespace: 'default' })) {
      expect(page.items).to.deep.equal(items);
    }
    expect(written).to.deep.equal(['ConfigMap']);
    await cluster.stop();
  });
});
