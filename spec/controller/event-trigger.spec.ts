import { expect } from 'chai';
import { eventTrigger } from '../../lib/controller/index.js';
import type { CacheEvent } from '../../lib/cache/index.js';

const thing = (resourceVersion: string, size: number) => ({
  ...{ apiVersion: 'a.b/v1', kind: 'Thing', spec: { size } },
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion },
});
const reference = { apiVersion: 'a.b/v1', kind: 'Thing', namespace: 'ns', name: 'a', uid: 'u' };

describe('The trigger of a change', () => {
  const [old, object] = [thing('1', 1), thing('2', 2)];
  const cases: readonly (readonly [CacheEvent, object])[] = [
    [
      { type: 'added', object, isInInitialList: true },
      { event: 'added', isInInitialList: true, changedFields: [] },
    ],
    [
      { type: 'added', object, isInInitialList: false },
      { event: 'added', isInInitialList: false, changedFields: [] },
    ],
    [
      { type: 'updated', object, old },
      { event: 'updated', isInInitialList: false, changedFields: ['spec.size'] },
    ],
    [
      { type: 'deleted', object, finalStateUnknown: false },
      { event: 'deleted', isInInitialList: false, changedFields: [] },
    ],
  ];
  for (const [event, facts] of cases) {
    const when = 'isInInitialList' in event && event.isInInitialList ? ' at the start' : '';
    it(`names the object that was ${event.type}${when}, its cluster and the changed fields`, () => {
      const wanted = { type: 'event', object: reference, ...facts };
      expect({ ...eventTrigger(event, 'c1') }).to.deep.equal({ ...wanted, cluster: 'c1' });
      expect({ ...eventTrigger(event) }).to.deep.equal({ ...wanted, cluster: '' });
    });
  }
});
