import { expect } from 'chai';
import type { ReconcileContext } from '../../../lib/controller/reconcile.js';
import type { Document } from '../../../lib/declarative/document.js';
import { defaultGrowthLimit } from '../../../lib/declarative/runtime/feedback-brake.js';
import { fullReconcileKey } from '../../../lib/declarative/runtime/pipeline-run.js';
import { Redaction } from '../../../lib/declarative/runtime/reported-errors.js';
import { TargetReconciler } from '../../../lib/declarative/runtime/target-reconciler.js';
import type { TargetReconcilerParts } from '../../../lib/declarative/runtime/target-reconciler.js';
import { TargetWrites } from '../../../lib/declarative/views/view-writers.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { ApiError } from '../../../lib/object/api-error.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { systemClock, nextTurn } from '../../../lib/system/clock.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { rememberingLogger } from '../../manager/manager-setup.js';
import type { LogLine } from '../../manager/manager-setup.js';

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
    refused: () => undefined,
    changed: () => undefined,
    ...given,
  });
}

describe('TargetReconciler', () => {
  it('lets other work of the process run between writes without I/O', async () => {
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

  it('enqueues no object before the first full reconcile, which enqueues all objects', async () => {
    const keys = ['a', 'b'].map((name) => ({ name }));
    const document = { metadata: {} };
    const desired = new Map(keys.map((key) => [key.name, { key, document }]));
    const enqueued: string[] = [];
    const enqueue = ({ name }: { readonly name: string }): boolean => enqueued.push(name) > 0;
    const reconciler = reconcilerOf({ enqueue, desired: () => desired });
    const cause = { trigger: { type: 'source', source: 'ConfigMap' } } as const;
    for (const key of [...keys, fullReconcileKey]) reconciler.want(key, cause);
    expect(enqueued).to.deep.equal([fullReconcileKey.name]);
    await reconciler.reconcile(contextOf(fullReconcileKey.name));
    for (const key of keys) reconciler.want(key, cause);
    expect(enqueued.slice(1)).to.deep.equal(['a', 'b', 'a', 'b']);
  });

  it('claims no object after its stop, so that the next TargetReconciler can write it', async () => {
    const writes = new TargetWrites();
    const names = Array.from({ length: 8 }, (_, n) => `n-${n}`);
    const document = { metadata: {} };
    const desired = new Map(names.map((name) => [name, { key: { name }, document }]));
    const former = reconcilerOf({ writes, desired: () => desired });
    // One of the eight reconciles waits for a turn of the event loop before it claims its object.
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

/** A reconciler that records what it does. Its desired objects have these names. */
class Notes {
  readonly clock = new VirtualClock();
  readonly writes = new TargetWrites();
  readonly desired = new Map<string, { key: { name: string }; document: Document }>();
  readonly enqueued: string[] = [];
  readonly wrote: string[] = [];
  readonly failures: string[] = [];
  readonly lines: LogLine[] = [];
  written: readonly string[] = [];
  watched: KubernetesObject | undefined;
  unreadable: string | undefined;
  /** The answer of the server to each write. */
  answer: (name: string) => Promise<{ resourceVersion: string } | undefined> = () =>
    Promise.resolve({ resourceVersion: '5' });
  readonly reconciler: TargetReconciler;

  constructor(names: readonly string[], given: Partial<TargetReconcilerParts> = {}) {
    for (const name of names) this.desired.set(name, { key: { name }, document: { metadata: {} } });
    this.reconciler = reconcilerOf({
      writer: {
        write: async ({ name }, document, { note }) => {
          this.wrote.push(`${document === undefined ? 'delete' : 'write'} ${name}`);
          const metadata = await this.answer(name);
          note?.(undefined, metadata && { apiVersion: 'v1', kind: 'ConfigMap', metadata });
          return 'updated' as never;
        },
        isCurrent: () => true,
        written: () => Promise.resolve(this.written.map((name) => ({ name }))),
        release: async ({ name }) => void this.wrote.push(`release ${name}`),
      },
      ...{ clock: this.clock, writes: this.writes, desired: () => this.desired },
      enqueue: ({ name }, { priority, trigger }) => {
        const why = trigger.type === 'source' ? trigger.source : trigger.type;
        return (
          this.enqueued.push(`${name} by ${why}${priority === undefined ? '' : ` ${priority}`}`) > 0
        );
      },
      watched: () => this.watched,
      unreadable: () => this.unreadable,
      failed: (error, subject) => void this.failures.push(`${subject ?? 'all'}: ${error.message}`),
      refused: (error, subject) => void this.failures.push(`${subject}: ${error.message}`),
      ...given,
    });
  }

  /** Runs the first full reconcile. */
  async pass(): Promise<this> {
    await this.reconciler.reconcile(contextOf(fullReconcileKey.name));
    return this;
  }

  reconcile(name: string, triggers: readonly object[] = [], isAborted = false): Promise<unknown> {
    const logger = rememberingLogger(this.lines);
    const context = { ...contextOf(name), triggers, logger, trigger: { type: 'event' } };
    const signal = isAborted ? AbortSignal.abort() : context.signal;
    return this.reconciler
      .reconcile({ ...context, signal } as unknown as ReconcileContext)
      .catch((error: unknown) => (error as Error).message);
  }

  get state(): object {
    const { isTried, isSynced, failing, firstTrouble } = this.reconciler;
    return { isTried, isSynced, failing, firstTrouble };
  }
}

const source = { trigger: { type: 'source', source: 'ConfigMap' } } as const;

function apiError(code: number, reason: string, details: object = {}): ApiError {
  const context = { verb: 'patch', kind: 'ConfigMap', name: 'a', status: code } as const;
  return new ApiError({ code, reason, message: `no: ${reason}`, details }, context);
}

describe('The writes of a TargetReconciler', () => {
  const eventOf = (type: string, resourceVersion: string) =>
    ({ type, object: { metadata: { resourceVersion } } }) as never;
  const watch = { type: 'event' } as never;

  it('include all desired and all earlier written objects, and count as synced when each was reconciled', async () => {
    const notes = new Notes(['a', 'b']);
    notes.written = ['b', 'c'];
    expect(notes.state).to.deep.equal({
      ...{ isTried: false, isSynced: false, failing: 0, firstTrouble: undefined },
    });
    await notes.pass();
    expect(notes.enqueued).to.deep.equal(
      ['b', 'c', 'a'].map((name) => `${name} by full reconcile -100`),
    );
    const states: boolean[][] = [];
    for (const name of ['a', 'b', 'c']) {
      await notes.reconcile(name);
      states.push([notes.reconciler.isTried, notes.reconciler.isSynced]);
    }
    expect(notes.wrote).to.deep.equal(['write a', 'write b', 'delete c']);
    // Both become true only when the last of the objects has been written.
    expect(states).to.deep.equal([
      [false, false],
      [false, false],
      [true, true],
    ]);
  });

  it('count as attempted if they fail, and as synced only when they succeed', async () => {
    const notes = await new Notes(['a', 'b']).pass();
    notes.answer = (name) => Promise.reject(new Error(`no ${name}`));
    expect([await notes.reconcile('a'), await notes.reconcile('b')]).to.deep.equal([
      'no a',
      'no b',
    ]);
    expect(notes.state).to.deep.equal({
      ...{ isTried: true, isSynced: false, failing: 2, firstTrouble: 'target of a: no a' },
    });
    expect(notes.failures).to.deep.equal(['a: no a', 'b: no b']);
    notes.answer = () => Promise.resolve(undefined);
    await notes.reconcile('a');
    expect(notes.state).to.deep.include({ failing: 1, firstTrouble: 'target of b: no b' });
    await notes.reconcile('b');
    expect(notes.state).to.deep.equal({
      ...{ isTried: true, isSynced: true, failing: 0, firstTrouble: undefined },
    });
  });

  it('do not start if the earlier written objects cannot be listed, which is reported', async () => {
    const notes = new Notes(['a']);
    Object.defineProperty(notes, 'written', {
      get: () => {
        throw new Error('no list');
      },
    });
    expect(await notes.reconcile(fullReconcileKey.name)).to.equal('no list');
    expect(notes.failures).to.deep.equal(['all: no list']);
    expect(notes.state).to.deep.include({ failing: 1, firstTrouble: 'target: no list' });
    Object.defineProperty(notes, 'written', { value: [] });
    await notes.pass();
    expect(notes.state).to.deep.include({ failing: 0, firstTrouble: undefined });
  });

  it('are reported as failed only after ten conflicts in a row', async () => {
    const notes = await new Notes(['a']).pass();
    notes.answer = () => Promise.reject(apiError(409, 'Conflict'));
    await notes.reconcile('a');
    await notes.reconcile('a', [{ type: 'event' }, { type: 'retry', failures: 9 }]);
    expect([notes.failures.length, notes.reconciler.failing]).to.deep.equal([0, 0]);
    await notes.reconcile('a', [{ type: 'retry', failures: 10 }]);
    expect([notes.failures.length, notes.reconciler.failing]).to.deep.equal([1, 1]);
  });

  it('are not reported as failed when they are cancelled', async () => {
    const notes = await new Notes(['a']).pass();
    notes.answer = () => Promise.reject(new Error('no'));
    expect(await notes.reconcile('a', [], true)).to.equal('no');
    expect([notes.failures, notes.reconciler.failing]).to.deep.equal([[], 0]);
  });

  it('fail while the desired state is unknown', async () => {
    const notes = new Notes([], { desired: () => undefined });
    expect(await notes.reconcile('a')).to.equal(
      'desired state is unknown: the controller is restarting',
    );
  });

  it('wait while an object is being deleted, check it once a minute, and count as attempted but not as synced', async () => {
    const notes = await new Notes(['a']).pass();
    const deleting = new OperatorError('TargetDeleting', 'ConfigMap a is being deleted');
    notes.answer = () => Promise.reject(deleting);
    for (let round = 0; round < 2; round++) {
      expect(await notes.reconcile('a')).to.deep.include({ afterMs: 60_000 });
    }
    expect(notes.failures).to.deep.equal([]);
    expect(notes.state).to.deep.include({ isTried: true, isSynced: false, failing: 0 });
    expect(notes.reconciler.firstWait).to.equal('target of a: ConfigMap a is being deleted');
    expect(notes.lines.map(({ level }) => level)).to.deep.equal(['info', 'debug']);
    notes.answer = () => Promise.reject(new Error('no a'));
    await notes.reconcile('a');
    expect([notes.reconciler.firstWait, notes.reconciler.failing]).to.deep.equal([undefined, 1]);
    notes.answer = () => Promise.reject(deleting);
    await notes.reconcile('a');
    expect(notes.reconciler.failing).to.equal(0);
    notes.answer = () => Promise.resolve({ resourceVersion: '5' });
    await notes.reconcile('a');
    expect([notes.reconciler.firstWait, notes.reconciler.isSynced]).to.deep.equal([
      undefined,
      true,
    ]);
  });

  it('are retried once a minute for an object whose namespace was deleted', async () => {
    const notes = await new Notes(['a', 'b']).pass();
    const gone = apiError(404, 'NotFound', { kind: 'namespaces', name: 'ns' });
    const terminating = apiError(403, 'Forbidden', {
      causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }],
    });
    for (const error of [gone, terminating]) {
      notes.answer = () => Promise.reject(error);
      await notes.reconcile('b');
      // If the namespace of an object that was never written is missing, this is a failure.
      expect(notes.reconciler.failing).to.equal(1);
      notes.answer = () => Promise.resolve({ resourceVersion: '5' });
      await notes.reconcile('a');
      notes.answer = () => Promise.reject(error);
      expect(await notes.reconcile('a')).to.deep.include({ afterMs: 60_000 });
    }
    notes.answer = () => Promise.reject(apiError(404, 'NotFound', { kind: 'configmaps' }));
    expect(await notes.reconcile('a')).to.include('no: NotFound');
    expect(notes.failures.filter((each) => each.startsWith('a'))).to.have.length(1);
  });

  it('delete only objects that this process wrote while a source object is quarantined', async () => {
    const notes = new Notes(['a']);
    notes.written = ['a', 'b'];
    await notes.pass();
    await notes.reconcile('a');
    notes.unreadable = 'ConfigMap ns/odd';
    notes.desired.clear();
    expect(await notes.reconcile('b')).to.equal(
      'ConfigMap b: not removed, it may still be desired because of ConfigMap ns/odd, which is quarantined; change or delete ConfigMap ns/odd',
    );
    await notes.reconcile('a');
    expect(notes.wrote).to.deep.equal(['write a', 'delete a']);
    notes.unreadable = undefined;
    await notes.reconcile('b');
    expect(notes.wrote.slice(2)).to.deep.equal(['delete b']);
  });

  it('skip an object that another controller has claimed, until that controller releases it', async () => {
    const notes = await new Notes(['a']).pass();
    const owner = { controller: 'op/other', acquired: () => undefined };
    const object = '/ConfigMap a';
    notes.writes.claim(object, { claimant: owner, key: { name: 'a' } });
    expect(await notes.reconcile('a')).to.equal(
      'ConfigMap a: two controllers have it as a target, op/copies and op/other; only op/other writes it; let one of the two controllers use other names for its objects',
    );
    expect(notes.wrote).to.deep.equal(['release a']);
    notes.enqueued.splice(0);
    notes.writes.releaseAll(owner);
    expect(notes.enqueued).to.deep.equal(['a by released']);
    await notes.reconcile('a');
    expect(notes.wrote).to.deep.equal(['release a', 'write a']);
    const patcher = await new Notes(['a'], { isOwner: false, writes: notes.writes }).pass();
    await patcher.reconcile('a');
    expect(patcher.wrote).to.deep.equal(['write a']);
  });

  it('undo changes of desired objects by others, but do not react to their own changes', async () => {
    const notes = new Notes(['a', 'b']);
    notes.reconciler.drifted({ name: 'a' }, eventOf('updated', '4'), watch);
    expect(notes.enqueued).to.deep.equal([]);
    await notes.pass();
    await notes.reconcile('a');
    notes.enqueued.splice(0);
    const drifted = (name: string, type: string, version: string): number => {
      notes.reconciler.drifted({ name }, eventOf(type, version), watch);
      return notes.enqueued.splice(0).length;
    };
    expect(drifted('a', 'updated', '5')).to.equal(0);
    expect(drifted('a', 'updated', '4')).to.equal(0);
    expect(drifted('a', 'updated', '6')).to.equal(1);
    expect(drifted('a', 'deleted', '5')).to.equal(1);
    expect(drifted('c', 'updated', '6')).to.equal(0);
    notes.writes.claim('/ConfigMap b', {
      ...{ claimant: { controller: 'op/other', acquired: () => undefined }, key: { name: 'b' } },
    });
    expect(drifted('b', 'updated', '6')).to.equal(0);
  });

  it('skip an object that other clients have not changed, unless its desired state has changed', async () => {
    const notes = await new Notes(['a']).pass();
    await notes.reconcile('a');
    notes.watched = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    notes.reconciler.drifted({ name: 'a' }, eventOf('updated', '6'), watch);
    await notes.reconcile('a');
    expect(notes.wrote).to.have.length(1);
    notes.watched = undefined;
    notes.reconciler.drifted({ name: 'a' }, eventOf('updated', '6'), watch);
    await notes.reconcile('a');
    expect(notes.wrote).to.have.length(2);
    notes.watched = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    notes.reconciler.drifted({ name: 'a' }, eventOf('updated', '6'), watch);
    notes.reconciler.want({ name: 'a' }, source);
    await notes.reconcile('a');
    expect(notes.wrote).to.have.length(3);
  });

  it('record how many earlier writes of the same controller caused them', async () => {
    const notes = await new Notes(['a']).pass();
    const lineage = () => [...(notes.writes.lastOf('/ConfigMap a')?.lineage ?? [])];
    const feedback = {
      ...source,
      lineage: new Map([
        ['op/copies', 3],
        ['op/other', 1],
      ]),
    };
    await notes.reconcile('a');
    expect(lineage()).to.deep.equal([['op/copies', 1]]);
    notes.reconciler.want({ name: 'a' }, feedback);
    await notes.reconcile('a');
    expect(lineage()).to.deep.equal([
      ['op/copies', 4],
      ['op/other', 1],
    ]);
    // A cause outside of the loop takes precedence over feedback.
    notes.reconciler.want({ name: 'a' }, source);
    notes.reconciler.want({ name: 'a' }, feedback);
    await notes.reconcile('a');
    expect(lineage()).to.deep.equal([['op/copies', 1]]);
    // A change soon after a write may be its consequence.
    for (const [waitMs, depth] of [
      [59_999, 2],
      [60_000, 1],
    ] as const) {
      await notes.clock.advance(waitMs);
      notes.reconciler.drifted({ name: 'a' }, eventOf('updated', '6'), watch);
      await notes.reconcile('a');
      expect(lineage()).to.deep.equal([['op/copies', depth]]);
    }
    expect(notes.writes.lastOf('/ConfigMap a')).to.deep.include({
      ...{ controller: 'op/copies', version: '5', atMs: notes.clock.monotonicMs() },
    });
  });

  it('stop at the limit of objects that the controller creates from its own results', async () => {
    const growth = { objects: 1, bytes: 2 * 1024 ** 2 };
    const notes = await new Notes(['a', 'b'], { growth }).pass();
    const lineage = new Map([['op/copies', 20]]);
    for (const name of ['a', 'b']) {
      await notes.reconcile(name);
      notes.reconciler.want({ name }, { ...source, lineage });
    }
    await notes.reconcile('a');
    expect(notes.failures).to.deep.equal([]);
    expect(await notes.reconcile('b')).to.equal(
      '/ConfigMap b: growth limit reached: the controller keeps creating objects from its own results; it stops at 1 objects or 2 MiB; break the cycle of controllers',
    );
  });
});
