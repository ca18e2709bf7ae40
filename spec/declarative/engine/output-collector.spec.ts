import { expect } from 'chai';
import {
  OutputCollector,
  Pipeline,
  withNamedResults,
} from '../../../lib/declarative/engine/pipeline.js';
import { added, object, pipelineOf, planOf, removed, runner, updated } from './pipelines.js';

const [one, two] = [object('ns/a', { v: 1 }), object('ns/a', { v: 2 })];

/** Applies deltas; formats changes as `upsert ns/a`. */
function told(
  collector: OutputCollector,
  deltas: Parameters<OutputCollector['apply']>[0],
): string[] {
  return collector
    .apply(deltas)
    .map(({ type, key: { namespace = '', name } }) => `${type} ${namespace}/${name}`);
}

describe('OutputCollector', () => {
  it('merges a delete and an add of one name into one upsert', () => {
    const collector = new OutputCollector();
    expect(collector.apply(added(one))).to.deep.equal([
      { type: 'upsert', key: { namespace: 'ns', name: 'a' }, document: one },
    ]);
    expect(collector.apply([...added(two), ...removed(one)])).to.deep.equal([
      { type: 'upsert', key: { namespace: 'ns', name: 'a' }, document: two },
    ]);
    expect(collector.apply(removed(two))).to.deep.equal([
      { type: 'delete', key: { namespace: 'ns', name: 'a' }, document: two },
    ]);
  });

  it('reports nothing for an unchanged object', () => {
    const collector = new OutputCollector();
    collector.apply(added(one));
    expect(collector.apply(updated(one, object('ns/a', { v: 1 })))).to.deep.equal([]);
    expect(collector.apply(added(one))).to.deep.equal([]);
    expect(collector.apply(removed(one))).to.deep.equal([]);
    expect(told(collector, removed(one))).to.deep.equal(['delete ns/a']);
  });

  it('selects the same document of several documents with one name, in whatever order they arrive', () => {
    const orders = [
      [added(one), added(two)],
      [added(two), added(one)],
      [added(two, one)],
      [added(two), [...added(one), ...removed(two)], added(two)],
    ];
    for (const order of orders) {
      const collector = new OutputCollector();
      for (const deltas of order) collector.apply(deltas);
      expect(collector.desired().get('ns/a')).to.equal(one);
    }
  });

  it('selects another document with the same name when the selected document is removed', () => {
    const collector = new OutputCollector();
    collector.apply(added(one, two));
    expect(told(collector, removed(one))).to.deep.equal(['upsert ns/a']);
    expect(collector.desired().get('ns/a')).to.equal(two);
    expect(told(collector, removed(two))).to.deep.equal(['delete ns/a']);
    expect(collector.desired().size).to.equal(0);
  });

  it('puts deletes before upserts', () => {
    const collector = new OutputCollector();
    collector.apply(added(object('ns/z'), object('ns/b')));
    const deltas = [...added(object('ns/c')), ...removed(object('ns/z')), ...added(object('ns/d'))];
    expect(told(collector, deltas)).to.deep.equal(['delete ns/z', 'upsert ns/c', 'upsert ns/d']);
  });

  it('supports objects without a namespace', () => {
    const collector = new OutputCollector();
    const [change] = collector.apply(added({ metadata: { name: 'a', namespace: '' } }));
    expect(change?.key).to.deep.equal({ name: 'a' });
    expect([...collector.desired().keys()]).to.deep.equal(['a']);
  });

  it('reports a name as a failure as long as several documents have it', () => {
    const collector = new OutputCollector(['controllers', 0, 'target']);
    const others = [1, 2].map((n) => object('ns/a', { n }));
    collector.apply(added(...others));
    expect(collector.takeNewFailures(false)).to.deep.equal([]);
    const [failure, ...more] = collector.takeNewFailures();
    expect(more).to.deep.equal([]);
    expect(failure).to.deep.include({ stage: 'target', subject: 'ns/a' });
    expect(failure?.error.message).to.contain('2 documents have the name ns/a');
    expect([collector.failing, [...collector.failures()].length]).to.deep.equal([1, 1]);
    expect(collector.takeNewFailures()).to.deep.equal([]);
    collector.apply(removed(others[0] ?? {}));
    expect([collector.failing, [...collector.failures()].length]).to.deep.equal([0, 0]);
    expect(collector.desired().get('ns/a')).to.deep.equal(others[1]);
  });

  it('serializes each document once, even if other documents with its name change', () => {
    const collector = new OutputCollector();
    const counted = { reads: 0 };
    const documents = Array.from({ length: 50 }, (_, n) => ({
      metadata: { name: 'a' },
      get n() {
        counted.reads++;
        return n;
      },
    }));
    collector.apply(documents.map((document, n) => ({ document, weight: 1, key: `${n}` })));
    counted.reads = 0;
    const [last] = documents.splice(-1);
    collector.apply([{ document: last ?? {}, weight: -1, key: '49' }]);
    expect(counted.reads).to.equal(0);
    collector.apply([{ document: last ?? {}, weight: 1, key: '49' }]);
    expect(counted.reads).to.equal(1);
  });

  const misfits = [
    {},
    { metadata: 'text' },
    { metadata: {} },
    { metadata: { name: '' } },
    { metadata: { name: 7 } },
    { metadata: { name: 'a', namespace: 1 } },
    { metadata: { name: '..' } },
    { metadata: { name: 'a', namespace: '%2e' } },
  ];
  for (const misfit of misfits) {
    it(`does not receive the result ${JSON.stringify(misfit)}, for which its source document gets a failure`, () => {
      const plan = withNamedResults(planOf([{ '@project': '$.made' }]), ['controllers', 0]);
      const pipeline = new Pipeline(plan);
      const source = object('ns/source', { made: misfit });
      const results = pipeline.push('Pod', added(source, object('ns/other', { made: one })));
      expect(results.map(({ document }) => document)).to.deep.equal([one]);
      const [failure] = pipeline.takeNewFailures();
      const place = { stage: 'target', path: ['controllers', 0], subject: 'ns/source' };
      expect(failure).to.deep.include(place);
      expect(failure?.error).to.include({ code: 'InvalidData', operation: 'target' });
      expect(pipeline.push('Pod', removed(source))).to.deep.equal([]);
      expect([...pipeline.failures()]).to.deep.equal([]);
    });
  }

  it('does not receive several invalid results of one document, each of which is reported as a failure', () => {
    const stages = [{ '@unwind': '$.list' }, { '@project': '$.list' }];
    const pipeline = new Pipeline(withNamedResults(planOf(stages), ['controllers', 0]));
    const list = [{ metadata: {} }, { metadata: { name: '..' } }, one];
    const source = object('ns/source', { list });
    const results = pipeline.push('Pod', added(source));
    expect(results.map(({ document }) => document)).to.deep.equal([one]);
    const failures = pipeline.takeNewFailures();
    expect(failures.map(({ subject }) => subject)).to.deep.equal(['ns/source', 'ns/source']);
    pipeline.push('Pod', removed(source));
    expect([...pipeline.failures()]).to.deep.equal([]);
  });
});

describe('the results of a pipeline, as its OutputCollector passes them on', () => {
  it('become a delete of the old name and an upsert of the new name when a name changes', () => {
    const name = { '@concat': ['$.metadata.name', ':', '$.c'] };
    const run = runner([{ '@project': { metadata: { name, namespace: '$.metadata.namespace' } } }]);
    const [c, d] = ['c', 'd'].map((value) => object('default/name', { c: value }));
    expect(run.push(added(c ?? {}))).to.deep.equal(['upsert default/name:c']);
    expect(run.push(updated(c ?? {}, d ?? {}))).to.deep.equal([
      'delete default/name:c',
      'upsert default/name:d',
    ]);
  });

  it('become one upsert when several documents with the same name are added', () => {
    const run = runner([{ '@project': { metadata: { name: 'fixed' }, from: '$.metadata.name' } }]);
    expect(run.push(added(object('ns/b'), object('ns/c'), object('ns/a')))).to.deep.equal([
      'upsert /fixed',
    ]);
    expect(run.desired('fixed')).to.include({ from: 'a' });
    expect(run.push(removed(object('ns/c')))).to.deep.equal([]);
    expect(run.push(removed(object('ns/a')))).to.deep.equal(['upsert /fixed']);
    expect(run.push(removed(object('ns/b')))).to.deep.equal(['delete /fixed']);
  });

  it('become one upsert when a group of @gather grows several times', () => {
    const pipeline = pipelineOf([{ '@gather': ['x', '$.v'] }]);
    const collector = new OutputCollector();
    const push = (...names: readonly string[]) =>
      told(collector, pipeline.push('Pod', added(...names.map((v) => object(`ns/${v}`, { v })))));
    expect([push('b'), push('c', 'd'), push('a')]).to.deep.equal([
      ['upsert ns/b'],
      ['upsert ns/b'],
      ['delete ns/b', 'upsert ns/a'],
    ]);
  });
});
