import { expect } from 'chai';
import { enqueueObject, enqueueOwner } from '../../lib/controller/kind-source.js';
import type { OwnerReference } from '../../lib/object/kubernetes-object.js';
import { Deployment, Namespace } from '../../lib/object/kinds.js';
import { silentLogger } from '../../lib/system/logger.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

const context = {} as never;

function owned(...owners: readonly Partial<OwnerReference>[]) {
  const base = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u' };
  const ownerReferences = owners.map((owner) => ({ ...base, controller: true, ...owner }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', ownerReferences },
  };
}

describe('event handlers of a source', () => {
  it('enqueue the object itself', () => {
    const key = { namespace: 'ns', name: 'p' };
    expect(enqueueObject()(owned(), context)).to.deep.equal([key]);
  });

  it("enqueue the owner in the controller reference, if it has the given kind in any version, with the object's namespace", () => {
    const toOwner = enqueueOwner(Deployment);
    const key = { namespace: 'ns', name: 'web' };
    expect(toOwner(owned({}), context)).to.deep.equal([key]);
    expect(toOwner(owned({ apiVersion: 'apps/v2' }), context)).to.deep.equal([key]);
    expect(toOwner(owned({ apiVersion: 'other/v1' }), context)).to.deep.equal([]);
    expect(toOwner(owned({ kind: 'Job' }), context)).to.deep.equal([]);
    expect(toOwner(owned({ controller: false }), context)).to.deep.equal([]);
  });

  it('enqueue every owner of the given kind with matchEveryOwner', () => {
    const toOwner = enqueueOwner(Deployment, { matchEveryOwner: true });
    const names = [{ name: 'one', controller: false }, { name: 'two' }];
    expect(toOwner(owned(...names), context)).to.deep.equal([
      { namespace: 'ns', name: 'one' },
      { namespace: 'ns', name: 'two' },
    ]);
  });

  it('look up the scope of an owner kind for one source although another source is stopped meanwhile', async () => {
    const clock = new VirtualClock();
    let isDown = true;
    const client = {
      resourceType: () =>
        isDown ? Promise.reject(new Error('down')) : Promise.resolve(Deployment),
    };
    const toOwner = enqueueOwner({ apiVersion: 'apps/v1', kind: 'Deployment' });
    const stopping = new AbortController();
    const keys = [stopping.signal, new AbortController().signal].map(async (signal) =>
      toOwner(owned({}), { client, clock, logger: silentLogger, signal } as never),
    );
    await clock.advance(0);
    stopping.abort();
    await clock.advance(0);
    isDown = false;
    await clock.advance(1_000);
    const key = { namespace: 'ns', name: 'web' };
    expect(await Promise.all(keys)).to.deep.equal([[], [key]]);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('look up the scope of an owner kind once for all waiting events, and not again for later events', async () => {
    let calls = 0;
    const client = {
      resourceType: () => {
        calls++;
        return Promise.resolve(Deployment);
      },
    };
    const toOwner = enqueueOwner({ apiVersion: 'apps/v1', kind: 'Deployment' });
    const { signal } = new AbortController();
    const clock = new VirtualClock();
    const lookUp = async () => toOwner(owned({}), { client, signal, clock } as never);
    const key = { namespace: 'ns', name: 'web' };
    expect(await Promise.all([lookUp(), lookUp()])).to.deep.equal([[key], [key]]);
    expect(await lookUp()).to.deep.equal([key]);
    expect(calls).to.equal(1);
  });

  it('follow the scope of an owner kind whose CRD was replaced, and keep it while discovery fails', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    let answer = (): Promise<object> => Promise.resolve(Deployment);
    const client = { resourceType: () => answer() };
    const toOwner = enqueueOwner({ apiVersion: 'apps/v1', kind: 'Deployment' });
    const logger = silentLogger;
    const lookUp = async () => toOwner(owned({}), { client, signal, clock, logger } as never);
    expect(await lookUp()).to.deep.equal([{ namespace: 'ns', name: 'web' }]);
    answer = () => Promise.resolve({ ...Deployment, namespaced: false });
    await clock.advance(1_000);
    expect(await lookUp()).to.deep.equal([{ name: 'web' }]);
    let failures = 0;
    answer = () => Promise.reject(new Error(`away ${++failures}`));
    await clock.advance(1_000);
    for (let event = 0; event < 3; event++) {
      expect(await lookUp()).to.deep.equal([{ name: 'web' }]);
    }
    expect(failures).to.equal(1);
  });

  it('enqueue a cluster-scoped owner without a namespace', () => {
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'x' };
    expect(enqueueOwner(Namespace)(owned(reference), context)).to.deep.equal([{ name: 'x' }]);
  });
});
