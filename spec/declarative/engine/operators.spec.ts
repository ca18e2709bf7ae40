import { expect } from 'chai';
import type { Document } from '../../../lib/declarative/document.js';
import type { Delta } from '../../../lib/declarative/engine/z-set.js';
import type { OutputChange } from '../../../lib/declarative/engine/pipeline.js';
import { OutputCollector } from '../../../lib/declarative/engine/pipeline.js';
import { added, object, pipelineOf, planOf, removed, runner, updated } from './pipelines.js';

describe('a pipeline that joins routes with their gateways', () => {
  const from = (who: string) => ({ '@eq': ['$.Gateway.spec.from', who] });
  const stages = [
    {
      '@join': {
        '@and': [
          { '@eq': ['$.Route.metadata.namespace', '$.Namespace.metadata.name'] },
          { '@in': ['$.Gateway.metadata.name', { '@map': ['$$.name', '$.Route.spec.parents'] }] },
          {
            '@or': [
              from('All'),
              {
                '@and': [
                  from('Same'),
                  { '@eq': ['$.Gateway.metadata.namespace', '$.Route.metadata.namespace'] },
                ],
              },
              {
                '@and': [
                  from('Selector'),
                  { '@selector': ['$.Gateway.spec.selector', '$.Namespace.metadata.labels'] },
                ],
              },
            ],
          },
        ],
      },
    },
    {
      '@project': {
        metadata: '$.Gateway.metadata',
        routes: { '@concat': ['$.Route.metadata.namespace', '/', '$.Route.metadata.name'] },
      },
    },
    { '@gather': ['$.metadata', '$.routes'] },
  ];
  const kinds = ['Gateway', 'Route', 'Namespace'];
  const gateway = (name: string, who: string): Document =>
    object(`infra/${name}`, {
      spec: { from: who, selector: { matchLabels: { shared: 'yes' } } },
    });
  const route = (key: string, ...parents: readonly string[]): Document =>
    object(key, { spec: { parents: parents.map((name) => ({ name })) } });
  const namespace = (name: string, shared: string): Document => ({
    metadata: { name, labels: { shared } },
  });

  it('compiles without a warning about a full scan', () => {
    expect(planOf(stages, kinds).warnings).to.deep.equal([]);
  });

  it('joins routes of all namespaces, of the namespace of the gateway, or of selected namespaces', () => {
    const run = runner(stages, kinds);
    run.push(added(gateway('all', 'All'), gateway('same', 'Same'), gateway('some', 'Selector')));
    run.push(
      added(namespace('infra', 'no'), namespace('a', 'yes'), namespace('b', 'no')),
      'Namespace',
    );
    const parents = ['all', 'same', 'some'];
    run.push(
      added(route('infra/r', ...parents), route('a/r', ...parents), route('b/r', ...parents)),
      'Route',
    );
    const routes = () => parents.map((name) => run.desired(`infra/${name}`)?.['routes']);
    expect(routes()).to.deep.equal([['a/r', 'b/r', 'infra/r'], ['infra/r'], ['a/r']]);

    const relabelled = updated(namespace('b', 'no'), namespace('b', 'yes'));
    expect(run.push(relabelled, 'Namespace')).to.deep.equal(['upsert infra/some']);
    expect(routes()[2]).to.deep.equal(['a/r', 'b/r']);

    expect(run.push(updated(gateway('all', 'All'), gateway('all', 'Same')))).to.deep.equal([
      'upsert infra/all',
    ]);
    expect(run.push(removed(route('infra/r', ...parents)), 'Route')).to.deep.equal([
      'delete infra/all',
      'delete infra/same',
    ]);
  });
});

describe('a pipeline that lists the addresses for each port of a Service', () => {
  const slice = (name: string, ...endpoints: readonly Document[]): Document => ({
    metadata: { namespace: 'ns', name, labels: { 'example/service': 'web' } },
    endpoints,
  });
  const endpoint = (ready: boolean, ...addresses: readonly string[]) => ({ ready, addresses });
  const stages = [
    {
      '@join': {
        '@and': [
          { '@eq': ['$.Port.service', "$.Slice.metadata.labels['example/service']"] },
          { '@eq': ['$.Port.metadata.namespace', '$.Slice.metadata.namespace'] },
        ],
      },
    },
    {
      '@project': {
        metadata: '$.Slice.metadata',
        id: { name: '$.Port.service', port: '$.Port.port' },
        endpoints: '$.Slice.endpoints',
      },
    },
    { '@unwind': '$.endpoints' },
    { '@select': { '@eq': ['$.endpoints.ready', true] } },
    { '@unwind': '$.endpoints.addresses' },
    { '@gather': ['$.id', '$.endpoints.addresses'] },
    {
      '@project': {
        metadata: {
          name: { '@concat': ['$.id.name', '-', { '@string': '$.id.port' }] },
          namespace: '$.metadata.namespace',
        },
        addresses: '$.endpoints.addresses',
      },
    },
  ];

  it('changes its results with the ports, the endpoint slices and the readiness of endpoints', () => {
    const run = runner(stages, ['Port', 'Slice']);
    const ports = [80, 443].map((port) => object(`ns/web-${port}`, { service: 'web', port }));
    const first = slice('s1', endpoint(true, '10.0.0.2', '10.0.0.1'), endpoint(false, '10.0.0.9'));
    expect(run.push(added(...ports))).to.deep.equal([]);
    expect(run.push(added(first), 'Slice')).to.deep.equal([
      'upsert ns/web-80',
      'upsert ns/web-443',
    ]);
    run.push(added(slice('s2', endpoint(true, '10.0.0.3'))), 'Slice');
    expect(run.desired('ns/web-443')?.['addresses']).to.deep.equal([
      '10.0.0.1',
      '10.0.0.2',
      '10.0.0.3',
    ]);
    const gone = slice('s1', endpoint(false, '10.0.0.2', '10.0.0.1'));
    run.push(updated(first, gone), 'Slice');
    expect(run.desired('ns/web-80')?.['addresses']).to.deep.equal(['10.0.0.3']);
    expect(run.push(removed(...ports.slice(0, 1)))).to.deep.equal(['delete ns/web-80']);
    expect([...run.pipeline.failures()]).to.deep.equal([]);
  });
});

describe('two pipelines, each of which reads the results of the other', () => {
  // Each grant n requests n + 1, and each request is granted. This ends with grant 3.
  const asks = pipelineOf(
    [
      { '@select': { '@lt': ['$.n', 3] } },
      {
        '@project': {
          metadata: { name: { '@concat': ['r', { '@string': { '@add': ['$.n', 1] } }] } },
          n: { '@add': ['$.n', 1] },
        },
      },
    ],
    ['Grant'],
  );
  const grants = pipelineOf(
    [
      {
        '@project': {
          metadata: { name: { '@concat': ['g', { '@string': '$.n' }] } },
          n: '$.n',
        },
      },
    ],
    ['Request'],
  );
  const [requested, granted] = [new OutputCollector(), new OutputCollector()];

  /** Passes changes between the two pipelines until nothing changes. @returns the number of rounds */
  function settle(start: readonly Delta[]): number {
    let rounds = 0;
    for (let deltas = start; deltas.length > 0; rounds++) {
      const asked = deltasOf(requested.apply(asks.push('Grant', deltas)));
      deltas = deltasOf(granted.apply(grants.push('Request', asked)));
    }
    return rounds;
  }

  function deltasOf(changes: readonly OutputChange[]): Delta[] {
    return changes.map(({ type, document }) => ({ document, weight: type === 'upsert' ? 1 : -1 }));
  }

  it('stop changing, and remove all results when their first document is removed', () => {
    const seed = { metadata: { name: 'seed' }, n: 0 };
    expect(settle(added(seed))).to.equal(4);
    expect([...granted.desired().keys()]).to.deep.equal(['g1', 'g2', 'g3']);
    settle(removed(seed));
    expect(granted.desired().size).to.equal(0);
    expect(requested.desired().size).to.equal(0);
  });
});
