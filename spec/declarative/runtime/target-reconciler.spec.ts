import { expect } from 'chai';
import type { ReconcileContext } from '../../../lib/controller/reconcile.js';
import { defaultGrowthLimit } from '../../../lib/declarative/runtime/feedback-brake.js';
import { Redaction } from '../../../lib/declarative/runtime/reported-errors.js';
import { TargetReconciler } from '../../../lib/declarative/runtime/target-reconciler.js';
import { TargetWrites } from '../../../lib/declarative/views/view-writers.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { systemClock, nextTurn } from '../../../lib/system/clock.js';

describe('TargetReconciler', () => {
  it('yields to other work between writes without I/O', async () => {
    const { reconcile } = new TargetReconciler({
      writer: {
        write: () => Promise.resolve('unchanged'),
        isCurrent: () => false,
        written: () => Promise.resolve([]),
        release: () => Promise.resolve(),
      },
      ...{ controller: 'op/copies', type: ConfigMap, isOwner: true, clock: systemClock },
      ...{ writes: new TargetWrites(), watched: () => undefined, slowed: () => undefined },
      unreadable: () => undefined,
      desired: () => new Map(),
      enqueue: () => true,
      growth: defaultGrowthLimit,
      namespaces: undefined,
      redaction: new Redaction(() => false),
      failed: () => undefined,
      changed: () => undefined,
    });
    const counted = { turns: 0, isOver: false };
    const counting = (async () => {
      for (; !counted.isOver; counted.turns++) await nextTurn();
    })();
    const { signal } = new AbortController();
    const context = { key: { name: 'a' }, client: { live: {} }, signal } as ReconcileContext;
    for (let n = 0; n < 100; n++) await reconcile(context);
    counted.isOver = true;
    await counting;
    expect(counted.turns).to.be.within(10, 50);
  });
});
