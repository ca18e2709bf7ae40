import { expect } from 'chai';
import type { ReconcileContext } from '../../../lib/controller/reconcile.js';
import { defaultGrowthLimit } from '../../../lib/declarative/runtime/feedback-brake.js';
import { fullPassKey } from '../../../lib/declarative/runtime/pipeline-run.js';
import { Redaction } from '../../../lib/declarative/runtime/reported-errors.js';
import { TargetReconciler } from '../../../lib/declarative/runtime/target-reconciler.js';
import type { TargetReconcilerParts } from '../../../lib/declarative/runtime/target-reconciler.js';
import { TargetWrites } from '../../../lib/declarative/views/view-writers.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { systemClock, nextTurn } from '../../../lib/system/clock.js';

const signal = new AbortController().signal;
const contextOf = (name: string): ReconcileContext =>
  ({ key: { name }, client: { live: {} }, signal, triggers: [] }) as unknown as ReconcileContext;

function reconcilerOf(given: Partial<TargetReconcilerParts> = {}): TargetReconciler {
  return new TargetReconciler({
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
    ...given,
  });
}

describe('TargetReconciler', () => {
  it('yields to other work between writes without I/O', async () => {
    const { reconcile } = reconcilerOf();
    const counted = { turns: 0, isOver: false };
    const counting = (async () => {
      for (; !counted.isOver; counted.turns++) await nextTurn();
    })();
    for (let n = 0; n < 100; n++) await reconcile(contextOf('a'));
    counted.isOver = true;
    await counting;
    expect(counted.turns).to.be.within(10, 50);
  });

  it('enqueues no object before the first full pass, which enqueues all', async () => {
    const keys = ['a', 'b'].map((name) => ({ name }));
    const document = { metadata: {} };
    const desired = new Map(keys.map((key) => [key.name, { key, document }]));
    const enqueued: string[] = [];
    const enqueue = ({ name }: { readonly name: string }): boolean => enqueued.push(name) > 0;
    const reconciler = reconcilerOf({ enqueue, desired: () => desired });
    const cause = { trigger: { type: 'source', source: 'ConfigMap' } } as const;
    for (const key of [...keys, fullPassKey]) reconciler.want(key, cause);
    expect(enqueued).to.deep.equal([fullPassKey.name]);
    await reconciler.reconcile(contextOf(fullPassKey.name));
    for (const key of keys) reconciler.want(key, cause);
    expect(enqueued.slice(1)).to.deep.equal(['a', 'b', 'a', 'b']);
  });

  it('claims no object after its stop, so that its successor can write it', async () => {
    const writes = new TargetWrites();
    const names = Array.from({ length: 8 }, (_, n) => `n-${n}`);
    const document = { metadata: {} };
    const desired = new Map(names.map((name) => [name, { key: { name }, document }]));
    const former = reconcilerOf({ writes, desired: () => desired });
    // One of the eight yields before it claims its object.
    const reconciles = names.map((name) => former.reconcile(contextOf(name)));
    former.stop();
    await Promise.all(reconciles);
    const failures: Error[] = [];
    const failed = (error: Error): void => void failures.push(error);
    const successor = reconcilerOf({ writes, desired: () => desired, failed });
    for (const name of names) await successor.reconcile(contextOf(name)).catch(() => undefined);
    expect(failures).to.deep.equal([]);
  });
});
