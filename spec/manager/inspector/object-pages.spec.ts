import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { OwnerReference } from '../../../lib/object/kubernetes-object.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import { ManagerSetup, configMap } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import { LivePage, inspected, inspectorUrl, sectionText } from './inspected.js';

const shopKey = { namespace: 'default', name: 'shop' };

/** Refers to a Service, which no controller caches. */
function serviceOwner(name: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'Service', name, uid: `uid-of-${name}` };
}

describe('The page of an object in the inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;
  /** The names of the Services that were read from the server. */
  let reads: string[];
  let readAtMs: number[];

  beforeEach(async () => {
    // Without the garbage collector an object that has lost its owner stays.
    setup = await ManagerSetup.start({ controllers: { garbageCollector: false } });
    [reads, readAtMs] = [[], []];
    const client: Client = {
      ...forwarding(setup.client),
      get: (type, key, options) => {
        if (type.kind === 'Service') {
          reads.push(key.name);
          readAtMs.push(setup.clock.monotonicMs());
        }
        return setup.client.get(type, key, options);
      },
    };
    manager = setup.manager({ client, inspector: onLoopback });
    manager.add(
      controllerFor(ConfigMap)
        .owns(Secret)
        .complete(async () => done()),
    );
    await setup.run(manager);
    await manager.whenStarted();
  });
  afterEach(() => setup.end());

  const query = 'apiVersion=v1&kind=ConfigMap&namespace=default&name=shop';
  const create = async (
    name: string,
    ownerReferences: readonly OwnerReference[] = [],
  ): Promise<ConfigMap> => {
    const made = await setup.person.create<ConfigMap>({
      ...configMap(name),
      metadata: { namespace: 'default', name, ownerReferences: [...ownerReferences] },
    });
    await setup.clock.advance(0);
    return made;
  };
  const controlledBy = ({ metadata: { name = '', uid = '' } }: ConfigMap): OwnerReference => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true },
  });
  const section = async (id: string): Promise<string> =>
    sectionText((await inspected(manager, `/object?${query}`)).text, id);

  it('lists the objects that the object controls, ordered by kind and name', async () => {
    const shop = await create('shop');
    for (const name of ['c', 'a', 'b']) await create(name, [controlledBy(shop)]);
    const metadata = { namespace: 'default', name: 'a', ownerReferences: [controlledBy(shop)] };
    await setup.person.create<Secret>({ apiVersion: 'v1', kind: 'Secret', metadata });
    await setup.clock.advance(0);
    const names = ['ConfigMap default/a', 'ConfigMap default/b', 'ConfigMap default/c'];
    expect(await section('dependents')).to.match(
      new RegExp(`^Controls ${names.join(' ')} Secret default/a Looked for `),
    );
  });

  it('shows eight generations of owners', async () => {
    let last = await create('generation-10');
    for (let n = 9; n > 0; n--) last = await create(`generation-${n}`, [controlledBy(last)]);
    await create('shop', [controlledBy(last)]);
    const owners = await section('owners');
    expect(owners.match(/generation-\d+/g)).to.deep.equal(
      Array.from({ length: 8 }, (_, index) => `generation-${index + 1}`),
    );
  });

  it('reads at most twenty owners from the server, and shows only the names of further owners', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `web-${index}`);
    await create('shop', names.map(serviceOwner));
    const owners = await section('owners');
    expect(reads).to.deep.equal(names.slice(0, 20));
    const unread = /not read: the limit of 20 reads from the server is reached/g;
    expect(owners.match(unread)).to.have.length(2);
    expect(owners).to.include('Service default/web-21');
  });

  it('is updated while it is open, and reads an uncached owner again after ten seconds', async () => {
    await create('shop', [serviceOwner('web')]);
    const page = await LivePage.open(manager, `/object/events?${query}`);
    const turn = (): Promise<void> => setup.clock.advance(500);
    await page.until(() => page.ids.includes('owners'), turn);
    expect(page.latest('owners')).to.include('Service default/web');
    expect(page.latest('dependents')).to.not.include('default/part');
    await create('part', [controlledBy(await setup.person.get(ConfigMap, shopKey))]);
    await page.until(() => page.latest('dependents').includes('default/part'), turn);
    // Sooner than the first keep-alive, which a client would have to receive in real time.
    await page.until(() => readAtMs.length > 1, turn);
    expect((readAtMs[1] ?? 0) - (readAtMs[0] ?? 0)).to.be.within(10_000, 14_000);
    await page.close();
  });

  it('shows that the object is being deleted', async () => {
    const metadata = { ...shopKey, finalizers: ['example.com/hold'] };
    await setup.person.create<ConfigMap>({ ...configMap('shop'), metadata });
    await setup.clock.advance(0);
    expect(await section('object')).to.not.include('Deletion');
    await setup.person.delete(ConfigMap, shopKey);
    await setup.clock.advance(0);
    expect(await section('object')).to.include('Deletion is being deleted');
    await setup.person.patch(ConfigMap, shopKey, {
      ...{ type: 'merge', body: { metadata: { finalizers: null } } },
    });
  });

  it('sends live updates as an event stream that a browser accepts', async () => {
    await create('shop');
    const stop = new AbortController();
    const { signal } = stop;
    const url = `${inspectorUrl(manager)}/object/events?${query}`;
    const { status, headers } = await fetch(url, { signal });
    stop.abort();
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/event-stream']);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  for (const missing of ['apiVersion', 'kind', 'name']) {
    it(`answers 400 to a request without ${missing}`, async () => {
      const parts = new URLSearchParams(query);
      parts.delete(missing);
      const { status, text } = await inspected(manager, `/object?${parts.toString()}`);
      expect(status).to.equal(400);
      expect(text).to.include('Give at least apiVersion, kind and name.');
    });
  }
});
