import { expect } from 'chai';
import { documentsInTurn, PipelineRun } from '../../../lib/declarative/runtime/pipeline-run.js';
import type { PipelineRunParts } from '../../../lib/declarative/runtime/pipeline-run.js';
import type {
  DocumentListener,
  StartedDocuments,
} from '../../../lib/declarative/runtime/document-sources.js';
import { watchedDocuments } from '../../../lib/declarative/runtime/document-sources.js';
import { compilePlan } from '../../../lib/declarative/engine/compile-pipeline.js';
import { TargetWrites } from '../../../lib/declarative/views/view-writers.js';
import { compileContext } from '../../../lib/declarative/spec-problem.js';
import type { SourceContext } from '../../../lib/controller/sources.js';
import { Cache } from '../../../lib/cache/cache.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { nextTurn, whenAborted } from '../../../lib/system/clock.js';
import { seededRandom } from '../../../lib/system/random.js';
import { ManagerSetup } from '../../manager/manager-setup.js';
import { configMap } from './controller-scene.js';

/** The context of a source whose controller writes nothing. */
class Context {
  readonly enqueued: string[] = [];
  readonly setup: ManagerSetup;
  readonly cache: Cache;

  constructor(setup: ManagerSetup) {
    const { client, clock } = setup;
    this.setup = setup;
    this.cache = new Cache({ client, clock, random: seededRandom(1) });
  }

  get source(): SourceContext {
    const { client, clock } = this.setup;
    return {
      ...{ cluster: '', cache: this.cache, client, clock, logger: silentLogger },
      random: seededRandom(1),
      enqueue: ({ name }) => this.enqueued.push(name) > 0,
      failed: (what, error) => {
        throw new Error(what, { cause: error });
      },
    };
  }
}

const source = { kind: 'ConfigMap', apiGroup: '', type: 'Watcher', periodMs: 0 } as const;

function partsOf(sources: PipelineRunParts['sources'], { enqueued }: Context): PipelineRunParts {
  const plan = compilePlan([], [{ kind: sources[0]?.name ?? '' }], { context: compileContext([]) });
  if (plan === undefined) throw new Error('it does not compile');
  const nothing = (): void => undefined;
  const listener = { failed: nothing, troubled: nothing, unserved: nothing, changed: nothing };
  const enqueue: PipelineRunParts['enqueue'] = ({ name }) => void enqueued.push(name);
  const parts = { controller: 'op/copies', enqueue, targetPath: ['target'], listener };
  return { plan, sources, periodsMs: [], ...parts };
}

describe('PipelineRun', () => {
  it('processes the initial lists in slices, between which other work of the process can run', async () => {
    const count = 25 * documentsInTurn;
    let reads = 0;
    const perTurn: number[] = [];
    const documents = {
      name: 'ConfigMap',
      start: (_: SourceContext, { changed }: DocumentListener) => {
        for (let n = 0; n < count; n++) changed(`n-${n}`);
        return {
          get: (key: string) => {
            reads++;
            const document = { metadata: { name: key } };
            return { document, origin: document };
          },
          ...{ keys: () => [], parked: false, problem: undefined },
          whenSynced: () => Promise.resolve(),
          stop: () => undefined,
        };
      },
    };
    const setup = await ManagerSetup.start();
    const context = new Context(setup);
    const run = new PipelineRun(partsOf([documents], context), context.source);
    const synced = { is: false };
    void run.whenSynced(new AbortController().signal).then(() => (synced.is = true));
    while (!synced.is) {
      const before = reads;
      await nextTurn();
      perTurn.push(reads - before);
    }
    expect(reads).to.equal(count);
    expect(Math.max(...perTurn)).to.be.at.most(documentsInTurn);
    expect(run.desired?.size).to.equal(count);
    // The initial reconcile covers all objects of the lists.
    expect(context.enqueued).to.deep.equal(['(full reconcile)%']);
    await run.stop();
    await setup.end();
  });

  it('returns no result before the lists of all sources are complete', async () => {
    const listed = new AbortController();
    const document = { metadata: { name: 'a' } };
    const documents = {
      name: 'ConfigMap',
      start: (_: SourceContext, { changed }: DocumentListener) => {
        changed('a');
        return {
          get: () => ({ document, origin: document }),
          ...{ keys: () => ['a'], parked: false, problem: undefined },
          whenSynced: () => whenAborted(listed.signal),
          stop: () => undefined,
        };
      },
    };
    const setup = await ManagerSetup.start();
    const context = new Context(setup);
    const run = new PipelineRun(partsOf([documents], context), context.source);
    const synced = run.whenSynced(new AbortController().signal);
    await setup.clock.advance(0);
    expect(run.desired).to.equal(undefined);
    listed.abort();
    await synced;
    expect([...(run.desired?.keys() ?? [])]).to.deep.equal(['a']);
    await run.stop();
    await setup.end();
  });

  it('returns no result before the views that it reads are written again, and then a result with all of their objects', async () => {
    const [filled, shown] = [new AbortController(), new AbortController()];
    const document = { metadata: { name: 'a' } };
    const documents = {
      name: 'HealthView',
      start: (_: SourceContext, { changed }: DocumentListener) => {
        changed('a');
        return {
          get: () => ({ document, origin: document }),
          ...{ keys: () => ['a'], parked: false, problem: undefined },
          whenSynced: () => Promise.resolve(),
          caughtUp: () => whenAborted(shown.signal),
          stop: () => undefined,
        };
      },
    };
    const setup = await ManagerSetup.start();
    const context = new Context(setup);
    const whenFilled = () => whenAborted(filled.signal);
    const run = new PipelineRun({ ...partsOf([documents], context), whenFilled }, context.source);
    const synced = run.whenSynced(new AbortController().signal);
    for (const step of [filled, shown]) {
      await setup.clock.advance(0);
      expect(run.desired).to.equal(undefined);
      step.abort();
    }
    await synced;
    expect([...(run.desired?.keys() ?? [])]).to.deep.equal(['a']);
    await run.stop();
    await setup.end();
  });

  it('enqueues names of objects that the pipeline no longer returns when it processes everything again', async () => {
    const setup = await ManagerSetup.start();
    const context = new Context(setup);
    const document = { metadata: { name: 'a' } };
    const documents = {
      name: 'ConfigMap',
      start: (_: SourceContext, { changed }: DocumentListener) => {
        changed('a');
        return {
          get: () => ({ document, origin: document }),
          ...{ keys: () => ['a'], parked: false, problem: undefined },
          whenSynced: () => Promise.resolve(),
          stop: () => undefined,
        };
      },
    };
    const pipeline = [{ '@project': { metadata: { name: { '@lower': '@now' } } } }];
    const { clock } = setup;
    const plan = compilePlan(pipeline, [{ kind: 'ConfigMap' }], {
      ...{ context: compileContext([]), clock },
    });
    if (plan === undefined) throw new Error('it does not compile');
    const run = new PipelineRun({ ...partsOf([documents], context), plan }, context.source);
    await run.whenSynced(new AbortController().signal);
    const [before = ''] = run.desired?.keys() ?? [];
    await clock.advance(5_000);
    run.replay();
    await setup.until(() => run.desired?.has(before) === false);
    expect(context.enqueued).to.include(before);
    await run.stop();
    await setup.end();
  });

  it('processes everything again, with back-off, after an error outside of the expressions', async () => {
    const setup = await ManagerSetup.start();
    const { clock } = setup;
    const context = new Context(setup);
    const failed: unknown[] = [];
    const names = new Set(['a', 'b', 'c']);
    let faults = 0;
    let changed: DocumentListener['changed'] | undefined;
    const documents = {
      name: 'ConfigMap',
      start: (_: SourceContext, listener: DocumentListener) => {
        ({ changed } = listener);
        for (const name of names) listener.changed(name);
        return {
          get: (key: string) => {
            if (key === 'b' && faults > 0) {
              faults--;
              throw new Error('out of memory');
            }
            const document = { metadata: { name: key } };
            return names.has(key) ? { document, origin: document } : undefined;
          },
          ...{ keys: () => names, parked: false, problem: undefined },
          whenSynced: () => Promise.resolve(),
          stop: () => undefined,
        };
      },
    };
    const run = new PipelineRun(partsOf([documents], context), {
      ...context.source,
      failed: (what, error) => failed.push([what, (error as Error).message]),
    });
    await run.whenSynced(new AbortController().signal);
    const desired = (): string[] => [...(run.desired?.keys() ?? [])].sort();
    await setup.until(() => context.enqueued.length === 1);
    faults = 2;
    for (const name of ['a', 'c']) names.delete(name);
    for (const name of ['a', 'b', 'c']) changed?.(name);
    await setup.until(() => failed.length === 1);
    expect(run.problems()).to.deep.equal([
      'pipeline: it failed outside of its expressions, and runs again; see the log',
    ]);
    names.add('d');
    changed?.('d');
    await clock.advance(1_000);
    await setup.until(() => failed.length === 2);
    await clock.advance(1_999);
    expect(desired()).not.to.include('d');
    await clock.advance(1);
    await setup.until(() => desired().includes('d'));
    expect(desired()).to.deep.equal(['b', 'd']);
    expect(failed).to.deep.equal(Array(2).fill(['pipeline', 'out of memory']));
    expect(run.problems()).to.deep.equal([]);
    await setup.until(() => context.enqueued.includes('c'));
    expect(context.enqueued.filter((name) => name === '(full reconcile)%')).to.have.length(2);
    await run.stop();
    await setup.end();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('returns the objects of the cache without a copy, except for decoded Secrets', async () => {
    const setup = await ManagerSetup.start();
    const data = { x: Buffer.from('hush').toString('base64') };
    await setup.person.create(configMap('a', { x: '1' }));
    await setup.person.create({ ...configMap('s'), kind: 'Secret', data });
    const context = new Context(setup);
    const runs = [ConfigMap, Secret].map((type) => {
      const watched = watchedDocuments(type.kind, {
        ...{ type, spec: { ...source, kind: type.kind } },
        writes: new TargetWrites(),
      });
      return new PipelineRun(partsOf([watched], context), context.source);
    });
    context.cache.start();
    const ended = new AbortController();
    const synced = runs.map((run) => run.whenSynced(ended.signal));
    await setup.until(() => runs.every(({ desired }) => desired !== undefined));
    await Promise.all(synced);
    const [maps, secrets] = runs.map(({ desired }) => desired);
    const cached = context.cache.peek(ConfigMap)?.get({ namespace: 'default', name: 'a' });
    expect(maps?.get('default/a')?.document).to.equal(cached);
    const secret = secrets?.get('default/s')?.document;
    expect(secret?.['data']).to.deep.equal({ x: 'hush' });
    for (const run of runs) await run.stop();
    await context.cache.stop();
    await setup.end();
    expect(setup.clock.pendingTimers).to.equal(0);
  });

  describe('with sources that have problems', () => {
    interface Fake {
      problem: Error | undefined;
      parked: boolean;
      unreadable: string | undefined;
      listener: DocumentListener | undefined;
      isStopped: boolean;
    }
    const newFake = (): Fake => ({
      ...{ problem: undefined, parked: false, unreadable: undefined },
      ...{ listener: undefined, isStopped: false },
    });
    const sourceOf = (name: string, fake: Fake) => ({
      name,
      start: (_: SourceContext, listener: DocumentListener) => {
        fake.listener = listener;
        const documents = {
          ...{ get: () => undefined, keys: () => [] },
          whenSynced: () => Promise.resolve(),
          stop: () => void (fake.isStopped = true),
        };
        const members = {
          problem: { get: () => fake.problem },
          parked: { get: () => fake.parked },
          unreadable: { get: () => fake.unreadable },
        };
        return Object.defineProperties(documents, members) as unknown as StartedDocuments;
      },
    });

    it('stops the started sources when another source cannot start', async () => {
      const setup = await ManagerSetup.start();
      const context = new Context(setup);
      const fake = newFake();
      const refused = {
        name: 'Node',
        start: () => {
          throw new Error('no such kind');
        },
      };
      const parts = partsOf([sourceOf('Pod', fake), refused], context);
      expect(() => new PipelineRun({ ...parts, periodsMs: [1_000] }, context.source)).to.throw(
        'no such kind',
      );
      expect(fake.isStopped).to.equal(true);
      await setup.end();
      expect(setup.clock.pendingTimers).to.equal(0);
    });

    it('reports each new problem of a source once, and returns the state of all sources together', async () => {
      const setup = await ManagerSetup.start();
      const context = new Context(setup);
      const [pods, nodes] = [newFake(), newFake()];
      const told: string[] = [];
      const parts = partsOf([sourceOf('Pod', pods), sourceOf('Node', nodes)], context);
      const listener = {
        failed: () => undefined,
        troubled: (name: string, { message }: Error) => void told.push(`${name}: ${message}`),
        unserved: () => void told.push('unserved'),
        changed: () => undefined,
      };
      const run = new PipelineRun({ ...parts, listener }, context.source);
      expect(run.status()).to.deep.equal({ synced: false, parked: false, problem: undefined });
      nodes.problem = new Error('forbidden');
      nodes.listener?.troubled();
      nodes.problem = new Error('forbidden');
      nodes.listener?.troubled();
      pods.problem = new Error('unknown');
      pods.parked = true;
      pods.listener?.troubled();
      nodes.problem = undefined;
      nodes.listener?.troubled();
      nodes.problem = new Error('forbidden');
      nodes.listener?.troubled();
      expect(told).to.deep.equal([
        ...['Node: forbidden', 'Pod: unknown', 'unserved', 'Node: forbidden'],
      ]);
      expect(run.problems()).to.deep.equal(['source Pod: unknown', 'source Node: forbidden']);
      expect(run.status()).to.deep.equal({
        ...{ synced: false, parked: true, problem: 'source Pod: unknown' },
      });
      expect([run.isListed, run.isSynced, run.failing, [...run.failures()]]).to.deep.equal([
        ...[false, false, 0, []],
      ]);
      expect(run.unreadable).to.equal(undefined);
      nodes.unreadable = 'Node odd';
      expect(run.unreadable).to.equal('Node odd');
      await run.whenSynced(new AbortController().signal);
      expect([run.isListed, run.isSynced, run.status().synced]).to.deep.equal([true, true, true]);
      await run.stop();
      expect([pods.isStopped, nodes.isStopped]).to.deep.equal([true, true]);
      await setup.end();
    });

    it('enqueues a reconcile of all objects once in each period, until it is stopped', async () => {
      const setup = await ManagerSetup.start();
      const { clock } = setup;
      const context = new Context(setup);
      const parts = partsOf([sourceOf('Pod', newFake())], context);
      const run = new PipelineRun({ ...parts, periodsMs: [1_000] }, context.source);
      // Before the first full reconcile, the timer adds no further one.
      await clock.advance(1_000);
      await run.whenSynced(new AbortController().signal);
      const passes = (): number => context.enqueued.splice(0).length;
      await setup.until(() => context.enqueued.length > 0);
      expect(passes()).to.equal(1);
      for (let round = 0; round < 3; round++) {
        await clock.advance(999);
        expect(passes()).to.equal(0);
        await clock.advance(1);
        await setup.until(() => context.enqueued.length > 0);
        expect(passes()).to.equal(1);
      }
      await run.stop();
      run.replay();
      await clock.advance(5_000);
      expect(passes()).to.equal(0);
      await setup.end();
      expect(clock.pendingTimers).to.equal(0);
    });
  });
});
