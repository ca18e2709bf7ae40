import { expect } from 'chai';
import { enqueueObject, enqueueOwner, requestFor } from '../../lib/controller/kind-source.js';
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

describe('handlers', () => {
  it('enqueue the object itself', () => {
    const key = { namespace: 'ns', name: 'p' };
    expect(requestFor(owned())).to.deep.equal(key);
    expect(enqueueObject()(owned(), context)).to.deep.equal([key]);
  });

  it("enqueue the controlling owner of the kind, of any version, in the object's namespace", () => {
    const toOwner = enqueueOwner(Deployment);
    const key = { namespace: 'ns', name: 'web' };
    expect(toOwner(owned({}), context)).to.deep.equal([key]);
    expect(toOwner(owned({ apiVersion: 'apps/v2' }), context)).to.deep.equal([key]);
    expect(toOwner(owned({ apiVersion: 'other/v1' }), context)).to.deep.equal([]);
    expect(toOwner(owned({ kind: 'Job' }), context)).to.deep.equal([]);
    expect(toOwner(owned({ controller: false }), context)).to.deep.equal([]);
  });

  it('enqueue every owner with matchEveryOwner', () => {
    const toOwner = enqueueOwner(Deployment, { matchEveryOwner: true });
    const names = [{ name: 'one', controller: false }, { name: 'two' }];
    expect(toOwner(owned(...names), context)).to.deep.equal([
      { namespace: 'ns', name: 'one' },
      { namespace: 'ns', name: 'two' },
    ]);
  });

  it('look up an owner kind for one source although another source is stopped meanwhile', async () => {
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

  it('look up an owner kind once for all events that wait for it, and never again', async () => {
    let calls = 0;
    const client = {
      resourceType: () => {
        calls++;
        return Promise.resolve(Deployment);
      },
    };
    const toOwner = enqueueOwner({ apiVersion: 'apps/v1', kind: 'Deployment' });
    const { signal } = new AbortController();
    const lookUp = async () => toOwner(owned({}), { client, signal } as never);
    const key = { namespace: 'ns', name: 'web' };
    expect(await Promise.all([lookUp(), lookUp()])).to.deep.equal([[key], [key]]);
    expect(await lookUp()).to.deep.equal([key]);
    expect(calls).to.equal(1);
  });

  it('enqueue a cluster-scoped owner without a namespace', () => {
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'x' };
    expect(enqueueOwner(Namespace)(owned(reference), context)).to.deep.equal([{ name: 'x' }]);
  });
});
