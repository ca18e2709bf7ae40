import { expect } from 'chai';
import fc from 'fast-check';
import type { Document } from '../../../lib/declarative/document.js';
import type { Delta } from '../../../lib/declarative/engine/z-set.js';
import { canonicalText, documentKey, ZSet } from '../../../lib/declarative/engine/z-set.js';
import { evaluateWhole } from './evaluate-whole.js';
import {
  OutputCollector,
  Pipeline,
  withNamedResults,
} from '../../../lib/declarative/engine/pipeline.js';
import type { OutputChange } from '../../../lib/declarative/engine/pipeline.js';
import type { StageFailure } from '../../../lib/declarative/engine/linear-node.js';
import { keyString } from '../../../lib/object/object-key.js';
import { tries } from '../../sample.js';
import { SummedPipeline, inOrder, listed, planOf } from './pipelines.js';
import { scenario } from './random-pipelines.js';
import type { Batch, Scenario } from './random-pipelines.js';

/** The documents of each source, kept naively. */
class Sources {
  readonly #counts = new Map<string, Map<string, { document: Document; count: number }>>();

  /** Applies changes; removals of absent documents are ignored. */
  change({ source, deltas }: Batch): void {
    const counts =
      this.#counts.get(source) ?? new Map<string, { document: Document; count: number }>();
    this.#counts.set(source, counts);
    for (const { document, weight } of deltas) {
      const entry = counts.get(documentKey(document)) ?? { document, count: 0 };
      entry.count += weight;
      counts.set(documentKey(document), entry);
    }
    for (const entry of counts.values()) entry.count = Math.max(0, entry.count);
  }

  documents(): Record<string, Document[]> {
    const all = [...this.#counts].map(([source, counts]) => [
      source,
      [...counts.values()].flatMap(({ document, count }) =>
        Array.from({ length: count }, () => document),
      ),
    ]);
    return Object.fromEntries(all) as Record<string, Document[]>;
  }
}

function holds({ kinds, stages, batches }: Scenario): void {
  const plan = withNamedResults(planOf(stages, kinds), ['target']);
  const pipeline = new Pipeline(plan);
  const collector = new OutputCollector();
  const sources = new Sources();
  const sum = new ZSet();
  for (const batch of batches) {
    const changes = pipeline.push(batch.source, batch.deltas);
    sources.change(batch);
    sum.integrate(changes);
    collector.apply(changes);
    const whole = inOrder(evaluateWhole(plan, sources.documents()));
    expect(listed([...sum.entries()])).to.deep.equal(whole);
    expectNet(changes);
  }
  expectAsFromTheStart(new SummedPipeline(plan), { pipeline, collector, sources });
}

/** Expects each document at most once, and deletes first. */
function expectNet(changes: readonly Delta[]): void {
  const keys = changes.map(({ document }) => documentKey(document));
  expect(new Set(keys).size).to.equal(keys.length);
  const signs = changes.map(({ weight }) => Math.sign(weight));
  expect(signs).to.deep.equal(signs.toSorted());
}

/**
 * Compares result, failures and objects with those of a fresh pipeline given all documents at once.
 */
function expectAsFromTheStart(
  fresh: SummedPipeline,
  past: {
    readonly pipeline: Pipeline;
    readonly collector: OutputCollector;
    readonly sources: Sources;
  },
): void {
  for (const [source, documents] of Object.entries(past.sources.documents())) {
    fresh.push(
      source,
      documents.map((document) => ({ document, weight: 1 })),
    );
  }
  const freshCollector = new OutputCollector();
  freshCollector.apply(fresh.snapshot());
  expect(failed(past.pipeline.failures())).to.deep.equal(failed(fresh.failures()));
  expect(failed(past.collector.failures())).to.deep.equal(failed(freshCollector.failures()));
  const objects = (collector: OutputCollector) => Object.fromEntries(collector.desired());
  expect(objects(past.collector)).to.deep.equal(objects(freshCollector));
}

function failed(failures: Iterable<StageFailure>): string[] {
  return [...failures]
    .map(({ path, subject, error }) => `${path.join()} ${subject} ${error.message}`)
    .sort();
}

describe('the results of a pipeline after many changes, each computed from the change alone', () => {
  it('equal an evaluation of all documents, for groups with many members', () => {
    const change = fc.record({ n: fc.nat(300), v: fc.nat(20), isThere: fc.boolean() });
    const plans = ['$.v', '$.in.v'].map((path) => planOf([{ '@gather': ['$.k', path] }], ['A']));
    const changes = fc.array(fc.array(change, { maxLength: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...plans), changes, (plan, batches) => {
        const pipeline = new SummedPipeline(plan);
        const there = new Map<number, Document>();
        const put = (n: number, v: number | undefined): Delta[] => {
          const before = there.get(n);
          const value = v === undefined || v % 5 !== 0 ? v : { v };
          const after =
            value === undefined ? undefined : { k: n % 2, n, v: value, in: { v: value } };
          if (after === undefined) there.delete(n);
          else there.set(n, after);
          return [
            ...(before === undefined ? [] : [{ document: before, weight: -1 }]),
            ...(after === undefined ? [] : [{ document: after, weight: 1 }]),
          ];
        };
        pipeline.push('A', Array.from({ length: 250 }, (_, n) => put(n, n % 17)).flat());
        for (const batch of batches) {
          pipeline.push(
            'A',
            batch.flatMap(({ n, v, isThere }) => put(n, isThere ? v : undefined)),
          );
          const whole = evaluateWhole(plan, { A: [...there.values()] });
          const now = pipeline.snapshot().map(({ document }) => canonicalText(document));
          expect(now.sort()).to.deep.equal(whole.map(canonicalText).sort());
        }
      }),
      { numRuns: tries(30) },
    );
  });

  for (const [sources, numRuns] of [
    [1, 150],
    [2, 150],
    [3, 80],
    [4, 40],
  ] as const) {
    it(`equal an evaluation of all documents, for ${sources} sources`, () => {
      fc.assert(fc.property(scenario(sources), holds), { numRuns: tries(numRuns) });
    });
  }

  it('are empty and without failures when all documents are removed', () => {
    const property = fc.property(scenario(2), ({ kinds, stages, batches }) => {
      const pipeline = new SummedPipeline(planOf(stages, kinds));
      const adds = batches.map(({ source, deltas }) => ({
        source,
        deltas: deltas.map(({ document, weight }) => ({ document, weight: Math.abs(weight) })),
      }));
      for (const { source, deltas } of adds) pipeline.push(source, deltas);
      for (const { source, deltas } of adds) {
        pipeline.push(
          source,
          deltas.map(({ document, weight }) => ({ document, weight: -weight })),
        );
      }
      expect(pipeline.snapshot()).to.deep.equal([]);
      expect([...pipeline.failures()]).to.deep.equal([]);
    });
    fc.assert(property);
  });
});

/** Pipelines in a row: the target objects of one are the source of the next. */
class Chain {
  readonly #links: readonly { source: string; pipeline: Pipeline; collector: OutputCollector }[];
  readonly #views: Map<string, Document>[];

  constructor(scenarios: readonly Scenario[]) {
    this.#links = scenarios.map(({ kinds, stages }) => ({
      source: kinds[0] ?? '',
      pipeline: new Pipeline(withNamedResults(planOf(stages, kinds), ['target'])),
      collector: new OutputCollector(),
    }));
    this.#views = scenarios.map(() => new Map<string, Document>());
  }

  push({ source, deltas }: Batch): void {
    let changes = deltas;
    for (const [place, { source: own, pipeline, collector }] of this.#links.entries()) {
      const out = collector.apply(pipeline.push(place === 0 ? source : own, changes));
      changes = out.flatMap((change) => this.#seen(place, change));
    }
  }

  desired(): Readonly<Record<string, Document>>[] {
    return this.#links.map(({ collector }) => Object.fromEntries(collector.desired()));
  }

  /** Converts a change of an object to the deltas that its watcher receives. */
  #seen(place: number, { type, key, document }: OutputChange): Delta[] {
    const views = this.#views[place];
    const name = keyString(key);
    const before = views?.get(name);
    if (type === 'delete') views?.delete(name);
    else views?.set(name, document);
    return [
      ...(before === undefined ? [] : [{ document: before, weight: -1 }]),
      ...(type === 'delete' ? [] : [{ document, weight: 1 }]),
    ];
  }
}

describe('pipelines whose results are the documents of the next one', () => {
  for (const [sources, numRuns] of [
    [1, 100],
    [2, 100],
    [3, 40],
  ] as const) {
    it(`give the same objects after many changes as with all documents at once, if the first pipeline has ${sources} sources`, () => {
      const property = fc.property(
        scenario(sources),
        fc.array(scenario(1), { minLength: 1, maxLength: 3 }),
        (first, others) => {
          const chain = new Chain([first, ...others]);
          const all = new Sources();
          for (const batch of first.batches) {
            chain.push(batch);
            all.change(batch);
          }
          const fresh = new Chain([first, ...others]);
          for (const [source, documents] of Object.entries(all.documents())) {
            fresh.push({ source, deltas: documents.map((document) => ({ document, weight: 1 })) });
          }
          expect(chain.desired()).to.deep.equal(fresh.desired());
        },
      );
      fc.assert(property, { numRuns: tries(numRuns) });
    });
  }
});
