import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { EmbeddedCluster } from '../../../lib/apiserver/cluster/embedded-cluster.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { Deployment } from '../../../lib/object/kinds.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import { ManagerSetup, configMap } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import { inspected, sectionText } from './inspected.js';

/** Returns a controller reference to an object. */
function ownedBy({ apiVersion, kind, metadata }: KubernetesObject) {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true };
}

describe('The ownership tree of the inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;

  beforeEach(async () => {
    // Without the garbage collector an object that has lost its owner stays.
    setup = await ManagerSetup.start({ controllers: { garbageCollector: false } });
    manager = setup.manager({ inspector: onLoopback });
    manager.add(
      controllerFor(ConfigMap)
        .owns(Secret)
        .complete(async () => done()),
    );
    await setup.run(manager);
    await manager.whenStarted();
    await setup.clock.advance(0);
  });
  afterEach(() => setup.end());

  async function create<T extends KubernetesObject>(object: T, owner?: KubernetesObject) {
    const ownerReferences = owner === undefined ? [] : [ownedBy(owner)];
    const metadata = { namespace: 'default', ...object.metadata, ownerReferences };
    return setup.person.create<T>({ ...object, metadata });
  }

  const secret = (name: string): Secret => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name } },
    data: { password: Buffer.from('hush').toString('base64') },
    stringData: { other: 'hush' },
  });

  function treeOf(object: Record<string, string>) {
    return inspected(manager, `/object?${new URLSearchParams(object).toString()}`);
  }

  const shop = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'shop' };

  it('finds owners by owner references, and dependents by an index of the cache', async () => {
    const top = await create(configMap('top'));
    const middle = await create(configMap('shop'), top);
    const low = await create(configMap('low'), middle);
    await create(secret('lowest'), low);
    await setup.clock.advance(0);
    const { status, text } = await treeOf(shop);
    expect(status).to.equal(200);
    expect(sectionText(text, 'owners')).to.equal('Owned by ConfigMap default/top');
    expect(sectionText(text, 'dependents')).to.equal(
      'Controls ConfigMap default/low Secret default/lowest Looked for among the cached kinds: ConfigMap, Secret.',
    );
    expect(sectionText(text, 'object')).to.include('Read from the cache');
  });

  it('reads uncached objects from the server', async () => {
    const labels = { app: 'shop' };
    const deployment = await create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      },
    });
    await create(configMap('shop'), deployment);
    await setup.clock.advance(0);
    const { text } = await treeOf(shop);
    expect(sectionText(text, 'owners')).to.include('Deployment default/web read from the server');
    const uncached = { ...shop, kind: 'ServiceAccount', name: 'nobody' };
    const missing = await treeOf(uncached);
    expect(missing.status).to.equal(404);
    expect(sectionText(missing.text, 'object')).to.include('nowhere: the object does not exist');
  });

  it('reads only the metadata of ConfigMaps and Secrets', async () => {
    const asked: string[] = [];
    const client: Client = {
      ...forwarding(setup.client),
      get: (type, key, options = {}) => {
        asked.push(`${type.kind} ${key.name} ${String(options.metadataOnly)}`);
        return setup.client.get(type, key, options);
      },
    };
    const other = setup.manager({ client, inspector: onLoopback });
    const stop = new AbortController();
    const running = other.run(stop.signal);
    await other.whenStarted();
    await create(secret('key'));
    await create(configMap('map'));
    for (const [kind, name] of [
      ['Secret', 'key'],
      ['ConfigMap', 'map'],
      ['Service', 'none'],
    ]) {
      await inspected(other, `/object?apiVersion=v1&kind=${kind}&namespace=default&name=${name}`);
    }
    stop.abort();
    await running;
    expect(asked).to.deep.equal(['Secret key true', 'ConfigMap map true', 'Service none false']);
  });

  it('shows conditions, and no other part of an object', async () => {
    const labels = { app: 'never-shown' };
    const web = await create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name: 'web', labels, annotations: { note: 'never-shown' } },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      },
    });
    const conditions = [{ type: 'Available', status: 'False', reason: 'Slow', message: 'still' }];
    const status = { conditions, note: 'never-shown' } as never;
    await setup.person.update({ ...web, status }, { subresource: 'status' });
    const { text } = await treeOf({
      ...shop,
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
    });
    expect(sectionText(text, 'conditions')).to.include('Available False Slow still');
    expect(text).to.not.include('never-shown');
  });

  it('never shows the data of a Secret, cached or not', async () => {
    await create(secret('key'));
    await setup.clock.advance(0);
    const key = { ...shop, kind: 'Secret', name: 'key' };
    const { status, text } = await treeOf(key);
    expect([status, sectionText(text, 'object')].join()).to.include('Name key');
    for (const hidden of ['hush', Buffer.from('hush').toString('base64'), 'password']) {
      expect(text).to.not.include(hidden);
    }
  });

  it('reports an owner as gone if its name now belongs to an object with another UID', async () => {
    const earlier = await create(configMap('owner'));
    await setup.person.delete(ConfigMap, { namespace: 'default', name: 'owner' });
    await create(configMap('owner'));
    await create(configMap('shop'), earlier);
    await setup.clock.advance(0);
    const { text } = await treeOf(shop);
    expect(sectionText(text, 'owners')).to.include('the object of this name is another one');
  });

  it('ends at a cycle of owners', async () => {
    const one = await create(configMap('shop'));
    const two = await create(configMap('other'), one);
    await setup.person.update({
      ...one,
      metadata: { ...one.metadata, ownerReferences: [ownedBy(two)] },
    });
    await setup.clock.advance(0);
    const { status, text } = await treeOf(shop);
    expect(status).to.equal(200);
    expect(sectionText(text, 'owners')).to.equal('Owned by ConfigMap default/other');
  });

  it('handles an object that owns itself', async () => {
    const one = await create(configMap('shop'));
    const ownerReferences = [ownedBy(one)];
    await setup.person.update({ ...one, metadata: { ...one.metadata, ownerReferences } });
    await setup.clock.advance(0);
    const { status, text } = await treeOf(shop);
    expect(status).to.equal(200);
    expect(sectionText(text, 'dependents')).to.include('Nothing that is cached');
  });

  it('distinguishes objects of the same name in several clusters', async () => {
    const east = await EmbeddedCluster.start({ clock: setup.clock });
    const clusters = [
      { name: 'home', client: setup.client },
      { name: 'east', client: east.client() },
    ];
    const seen: string[] = [];
    const other = setup.manager({ clusters, inspector: onLoopback });
    other.add(
      controllerFor(ConfigMap).complete(async ({ key, cluster }) => {
        seen.push(`${cluster} ${key.name}`);
        return done();
      }),
    );
    const owner = await east.client().create<ConfigMap>({
      ...configMap('shop'),
      metadata: { name: 'shop', namespace: 'default' },
    });
    await east.client().create<ConfigMap>({
      ...configMap('child'),
      metadata: { name: 'child', namespace: 'default', ownerReferences: [ownedBy(owner)] },
    });
    await create(configMap('shop'));
    const stop = new AbortController();
    const running = other.run(stop.signal);
    await other.whenStarted();
    await setup.until(() => seen.includes('east child') && seen.includes('home shop'));
    const textOf = async (cluster: string, id = 'dependents'): Promise<string> => {
      const query = new URLSearchParams({ ...shop, cluster }).toString();
      return sectionText((await inspected(other, `/object?${query}`)).text, id);
    };
    expect(await textOf('east', 'object')).to.match(
      /^Object Kind ConfigMap \(v1\) Namespace default Name shop UID \S+ Read from the cache Cluster east$/,
    );
    expect(await textOf('east')).to.include('ConfigMap default/child');
    expect(await textOf('home')).to.include('Nothing that is cached');
    const { text } = await inspected(other, '/');
    expect(sectionText(text, 'recent')).to.include('default/shop in east');
    expect(sectionText(text, 'caches')).to.match(/ConfigMap v1 east/);
    stop.abort();
    await running;
    await east.stop();
  });

  it('shows the first 50 dependents, and how many more there are', async () => {
    const owner = await create(configMap('shop'));
    for (let n = 0; n < 60; n++) await create(configMap(`child-${n}`), owner);
    await setup.clock.advance(0);
    const dependents = sectionText((await treeOf(shop)).text, 'dependents');
    expect(dependents.match(/ConfigMap default\/child-/g)).to.have.length(50);
    expect(dependents).to.include('and 10 more');
  });

  it('lists the objects of a cached kind as a choice for its page', async () => {
    await create(configMap('shop'));
    await setup.clock.advance(0);
    const { status, text } = await inspected(manager, '/objects?apiVersion=v1&kind=ConfigMap');
    expect([status, text.includes('name=shop')]).to.deep.equal([200, true]);
    const unknown = await inspected(manager, '/objects?apiVersion=v1&kind=Pod');
    expect(unknown.status).to.equal(404);
  });

  for (const [what, query, status] of [
    ['names no object', { apiVersion: 'v1', kind: 'ConfigMap' }, 400],
    ['names an unknown cluster', { ...shop, cluster: 'moon' }, 404],
    ['names an unserved kind', { ...shop, kind: 'Nothing' }, 502],
    ['has an invalid name', { ...shop, kind: 'Service', name: '../secrets' }, 502],
    ['has an invalid namespace', { ...shop, kind: 'Service', namespace: 'a/b' }, 502],
  ] as const) {
    it(`reports an error if a request ${what}`, async () => {
      expect((await treeOf(query)).status).to.equal(status);
    });
  }
});
