import { expect } from 'chai';
import { ObjectMerger } from '../../lib/apply/index.js';
import type { Client } from '../../lib/client/index.js';
import type { UnstructuredObject } from '../../lib/object/index.js';
import { silentLogger, VirtualClock } from '../../lib/system/index.js';
import type { Clock } from '../../lib/system/index.js';
import { deployment } from '../lifecycle/suite/system.js';

const annotationsLimit = 256 * 1024;
const lastAppliedAnnotation = 'example.com/last-applied';

function mergerWith(clock: Clock): ObjectMerger {
  return new ObjectMerger({ lastAppliedAnnotation, clock, logger: silentLogger });
}

function service(resourceVersion: string, members: object = {}): UnstructuredObject {
  const metadata = { name: 'web', uid: 'u', resourceVersion };
  return { apiVersion: 'v1', kind: 'Service', metadata, ...members };
}

describe('ObjectMerger', () => {
  const merger = mergerWith(new VirtualClock());

  describe('the last-applied annotation', () => {
    const textOf = (desired: UnstructuredObject): string => {
      const { metadata } = merger.creation({ desired, metadataOnly: false });
      return metadata.annotations?.[lastAppliedAnnotation] ?? '';
    };

    it('records the fields that the operator sets, with list entries by name and without values', () => {
      const text = textOf(deployment('shop'));
      const path = 'f:spec.f:template.f:spec.f:containers';
      expect(JSON.parse(text)).to.have.nested.property(path).that.has.all.keys('k:{"name":"web"}');
      expect(text).to.not.include('nginx');
    });

    it('stays small for a large CustomResourceDefinition', () => {
      const properties = Object.fromEntries(
        Array.from({ length: 20_000 }, (_, place) => [`property${place}`, { type: 'string' }]),
      );
      const schema = { openAPIV3Schema: { type: 'object', properties } };
      const definition = {
        ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
        metadata: { name: 'bigs.example.com' },
        spec: { group: 'example.com', versions: [{ name: 'v1', schema }] },
      };
      expect(JSON.stringify(definition).length).to.be.above(annotationsLimit);
      expect(textOf(definition).length).to.be.below(1_000);
      expect(textOf(definition)).to.include('f:openAPIV3Schema');
    });

    it('is also read in the format of the Go SDK, which contains the whole object', () => {
      const applied = service('1', { spec: { type: 'NodePort', clusterIP: 'None' } });
      const annotations = { [lastAppliedAnnotation]: JSON.stringify(applied) };
      const live = { ...applied, metadata: { ...applied.metadata, annotations } };
      const desired = service('1', { spec: { type: 'NodePort' } });
      const decision = merger.decide(live, { desired, metadataOnly: false });
      expect(decision.action).to.equal('apply');
      expect(decision)
        .to.have.nested.property('desired.spec')
        .that.deep.equals({ type: 'NodePort' });
    });
  });

  describe('a write that the server reverts', () => {
    const desired = service('1', { spec: { type: 'NodePort' } });
    const { signal } = new AbortController();

    /** Writes `desired` over `live`. The server answers with `live`, as if it had reverted the write. */
    async function write(revertible: ObjectMerger, live: UnstructuredObject): Promise<void> {
      const decision = revertible.decide(live, { desired, metadataOnly: false });
      if (decision.action !== 'apply') throw new Error('nothing to write');
      const client = { update: () => Promise.resolve(live) } as unknown as Client;
      const written = await revertible.replace(decision, desired, { client, signal });
      expect(written).to.equal(live);
    }

    const repeats = (
      revertible: ObjectMerger,
      live: UnstructuredObject,
      wanted = desired,
    ): boolean =>
      revertible.decide(live, { desired: wanted, metadataOnly: false }).action === 'apply';

    it('is repeated only after an hour, unless the object or the desired state changes', async () => {
      const clock = new VirtualClock();
      const revertible = mergerWith(clock);
      const live = service('1');
      await write(revertible, live);
      expect(repeats(revertible, service('1'))).to.equal(false);
      expect(repeats(revertible, service('2'))).to.equal(true);
      const other = service('1', { spec: { type: 'ClusterIP' } });
      expect(repeats(revertible, live, other)).to.equal(true);
      await clock.advance(3_600_000);
      expect(repeats(revertible, live)).to.equal(true);
    });

    it('is repeated only after an hour on the monotonic clock, even if the wall clock changes', async () => {
      const machine = new VirtualClock();
      let offsetMs = 0;
      const clock: Clock = {
        now: () => machine.now() + offsetMs,
        monotonicMs: () => machine.monotonicMs(),
        setTimer: (callback, delayMs) => machine.setTimer(callback, delayMs),
      };
      const revertible = mergerWith(clock);
      const live = service('1');
      await write(revertible, live);
      offsetMs = 7_200_000;
      expect(repeats(revertible, live)).to.equal(false);
      offsetMs = -7_200_000;
      await machine.advance(3_600_000);
      expect(repeats(revertible, live)).to.equal(true);
    });
  });
});
