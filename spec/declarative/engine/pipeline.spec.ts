import { expect } from 'chai';
import type { Document } from '../../../lib/declarative/document.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { compilePlan } from '../../../lib/declarative/engine/compile-pipeline.js';
import { Pipeline } from '../../../lib/declarative/engine/pipeline.js';
import { compileContext } from '../../../lib/declarative/spec-problem.js';
import { added, listed, object, pipelineOf, removed, updated } from './pipelines.js';

describe('Pipeline', () => {
  it('ignores the removal of a document that it does not have, and accepts the document when it is added later', () => {
    const pipeline = pipelineOf([{ '@gather': ['x', '$.v'] }]);
    const a = object('ns/a', { v: 1 });
    expect(pipeline.push('Pod', removed(a))).to.deep.equal([]);
    expect(pipeline.push('Pod', [{ document: a, weight: -3 }])).to.deep.equal([]);
    expect(pipeline.push('Pod', added(a))).to.have.length(1);
    expect(pipeline.push('Pod', [{ document: a, weight: -3 }])).to.have.length(1);
    expect(pipeline.snapshot()).to.deep.equal([]);
  });

  it('returns no change for an update with an equal document', () => {
    const pipeline = pipelineOf([]);
    pipeline.push('Pod', added(object('ns/a')));
    expect(pipeline.push('Pod', updated(object('ns/a'), object('ns/a')))).to.deep.equal([]);
  });

  it('counts how many documents give each result, and counts a document that is added twice as two', () => {
    const pipeline = pipelineOf([{ '@project': { same: 1 } }]);
    pipeline.push('Pod', added(object('ns/a'), object('ns/a'), object('ns/b')));
    const weights = () => pipeline.snapshot().map(({ weight }) => weight);
    expect(weights()).to.deep.equal([3]);
    pipeline.push('Pod', removed(object('ns/a')));
    expect(weights()).to.deep.equal([2]);
  });

  it('refuses an unknown source', () => {
    const pipeline = pipelineOf([]);
    expect(() => pipeline.push('Service', []))
      .to.throw('there is no source Service; the sources are Pod')
      .with.property('code', 'InvalidValue');
  });

  it('reports the stage, the path and the object of each dropped document, and processes the other documents', () => {
    const pipeline = pipelineOf([
      { '@unwind': '$.list' },
      { '@project': { metadata: '$.metadata', sum: { '@add': ['$.list', 1] } } },
      { '@select': { '@gt': ['$.sum', 2] } },
    ]);
    const document = object('ns/a', { list: [1, 'x', 2, {}] });
    pipeline.push('Pod', added(document));
    expect(listed(pipeline.snapshot())).to.deep.equal([object('ns/a-2', { sum: 3 })]);
    const failures = pipeline.takeNewFailures();
    expect(failures.map(({ subject }) => subject)).to.deep.equal(['ns/a-1', 'ns/a-3']);
    expect(failures[0]).to.deep.include({ stage: '@project', path: ['pipeline', 1, '@project'] });
    expect(failures[0]?.error).to.include({ code: 'InvalidData', operation: '@add' });
    pipeline.push('Pod', removed(document));
    expect([...pipeline.failures()]).to.deep.equal([]);
    expect(pipeline.snapshot()).to.deep.equal([]);
  });

  it('reports no failure that appears and disappears in one batch', () => {
    const pipeline = pipelineOf([{ '@select': '$.no' }]);
    pipeline.push('Pod', [...added(object('ns/a')), ...removed(object('ns/a'))]);
    expect(pipeline.takeNewFailures()).to.deep.equal([]);
  });

  it('shows no values of Secrets in failures', () => {
    const stages = [{ '@unwind': '$.data' }, { '@gather': ['x', '$.a.b'] }];
    const pipeline = pipelineOf(stages, ['Secret'], { showValues: false });
    pipeline.push('Secret', added(object('ns/s', { data: 'hunter2' })));
    pipeline.push('Secret', added(object('ns/t', { data: ['x'], a: 'hunter3' })));
    const texts = [...pipeline.failures()].map(({ error }) => error.message);
    expect(texts).to.have.length(2);
    expect(texts.join()).not.to.include('hunter');
  });

  it('removes exactly the result that it returned for a document before, even if the result depends on the time', async () => {
    const clock = new VirtualClock();
    const stages = [
      { '@project': { metadata: '$.metadata', at: '@now' } },
      { '@select': { '@lt': ['$.metadata.until', '@now'] } },
    ];
    const pipeline = pipelineOf(stages, ['Pod'], { clock });
    const a = { metadata: { name: 'a', until: '0000-01-01T00:00:00Z' } };
    const [came] = pipeline.push('Pod', added(a));
    await clock.advance(3_600_000);
    const [went] = pipeline.push('Pod', removed(a));
    expect(went).to.deep.include({ weight: -1, document: came?.document });
    expect(pipeline.snapshot()).to.deep.equal([]);
  });

  it('computes the time again for a document that was removed and added again', async () => {
    const clock = new VirtualClock();
    const stages = [{ '@project': { metadata: '$.metadata', at: '@now' } }];
    const pipeline = pipelineOf(stages, ['Pod'], { clock });
    pipeline.push('Pod', added(object('ns/a')));
    pipeline.push('Pod', removed(object('ns/a')));
    await clock.advance(3_600_000);
    const [again] = pipeline.push('Pod', added(object('ns/a')));
    expect(again?.document['at']).to.equal('2026-01-01T01:00:00Z');
  });

  it('names the objects of a failed document, except those without a name', () => {
    const pipeline = pipelineOf([{ '@unwind': '$.list' }]);
    const nameless = { b: { metadata: { name: '' } }, c: { metadata: { name: 7 } }, list: 'text' };
    const named = { a: object('ns/x'), ...nameless, d: { metadata: { name: 'y' } } };
    pipeline.push('Pod', added(named, nameless));
    expect([...pipeline.failures()].map(({ subject }) => subject)).to.deep.equal([
      ...['a ns/x, d y', 'a document without a name'],
    ]);
  });

  it('removes the result of a join even if its condition on the time is no longer true', async () => {
    const clock = new VirtualClock();
    const condition = [{ '@eq': ['$.A.k', '$.B.k'] }, { '@gt': ['$.A.until', '@now'] }];
    const pipeline = pipelineOf({ '@join': { '@and': condition } }, ['A', 'B'], { clock });
    const until = new Date(clock.now() + 60_000).toISOString();
    pipeline.push('A', added({ k: 1, until }));
    pipeline.push('B', added({ k: 1 }));
    expect(pipeline.snapshot()).to.have.length(1);
    await clock.advance(120_000);
    pipeline.push('B', [...removed({ k: 1 }), ...added({ k: 1, more: true })]);
    expect(pipeline.snapshot()).to.deep.equal([]);
  });

  it('treats __proto__ and constructor as data', () => {
    const text =
      '{"metadata":{"name":"a"},"__proto__":{"polluted":1},"constructor":{"x":2},"list":[1]}';
    const document = JSON.parse(text) as Document;
    const key = "$['__proto__']['polluted']";
    const pipeline = pipelineOf([
      { '@unwind': "$['list']" },
      { '@gather': [key, '$.constructor.x'] },
    ]);
    pipeline.push('Pod', added(document));
    const [first] = listed(pipeline.snapshot());
    expect(Object.hasOwn(first ?? {}, '__proto__')).to.equal(true);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('does not change the documents that it gets', () => {
    const document = Object.freeze({
      metadata: Object.freeze({ name: 'a', namespace: 'ns' }),
      list: Object.freeze([1, 2]),
    });
    const pipeline = pipelineOf([{ '@unwind': '$.list' }, { '@gather': ['x', '$.list'] }]);
    pipeline.push('Pod', added(document));
    expect(listed(pipeline.snapshot())).to.deep.equal([object('ns/a-0', { list: [1, 2] })]);
  });

  it('identifies a source by its alias', () => {
    const context = compileContext([]);
    const sources = [{ kind: 'Pod' }, { kind: 'Pod', apiGroup: '', as: 'Core' }];
    const plan = compilePlan([{ '@join': true }], sources, { context });
    expect(plan?.warnings).to.have.length(1);
    const pipeline = plan && new Pipeline(plan);
    pipeline?.push('Core', added({ a: 1 }));
    expect(listed(pipeline?.push('Pod', added({ b: 1 })) ?? [])).to.deep.equal([
      { Core: { a: 1 }, Pod: { b: 1 } },
    ]);
  });
});
