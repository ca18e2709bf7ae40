import { expect } from 'chai';
import { graphOf } from './graphed.js';

const health = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: health }
spec:
  controllers:
    - name: pods
      sources:
        - { apiGroup: '', kind: Pod, namespace: shop, predicate: GenerationChanged }
        - { kind: Tick, type: Periodic, parameters: { period: 30s } }
      pipeline:
        - '@join': true
        - '@project': { metadata: $.Pod.metadata }
      target: { kind: PodHealth }
    - name: services
      sources: [{ kind: PodHealth }, { apiGroup: '', version: v1, kind: Service, as: svc }]
      pipeline: { '@join': { '@eq': [$.PodHealth.x, $.svc.x] } }
      target: { apiGroup: '', kind: Service, type: Patcher }
---
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: alarms }
spec:
  controllers:
    - name: alarm
      sources: [{ apiGroup: health.view.dcontroller.io, kind: PodHealth }]
      target: { kind: PodHealth }
`;

describe('operatorGraph', () => {
  it('contains each kind once, and each kind of views with its operator', () => {
    expect(graphOf(health).resources).to.deep.equal([
      { id: '/Pod', apiGroup: '', kind: 'Pod' },
      { id: '/Service', apiGroup: '', kind: 'Service' },
      {
        ...{ id: 'alarms.view.dcontroller.io/PodHealth', apiGroup: 'alarms.view.dcontroller.io' },
        ...{ kind: 'PodHealth', viewOf: 'alarms' },
      },
      {
        ...{ id: 'health.view.dcontroller.io/PodHealth', apiGroup: 'health.view.dcontroller.io' },
        ...{ kind: 'PodHealth', viewOf: 'health' },
      },
    ]);
  });

  it('contains the sources, the stages and the target of a controller', () => {
    const [pods] = graphOf(health).operators[0]?.controllers ?? [];
    expect(pods).to.deep.equal({
      id: 'health/pods',
      name: 'pods',
      sources: [
        {
          ...{ type: 'Watcher', resource: '/Pod', namespace: 'shop' },
          predicate: { type: 'basic', name: 'GenerationChanged' },
        },
        { type: 'Periodic', kind: 'Tick', periodMs: 30_000 },
      ],
      stages: [
        { name: '@join', argument: true },
        { name: '@project', argument: { metadata: '$.Pod.metadata' } },
      ],
      target: { resource: 'health.view.dcontroller.io/PodHealth', type: 'Updater' },
    });
  });

  it('connects controllers that write a kind with those that read it, also of other operators and the same controller', () => {
    expect(graphOf(health).links).to.deep.equal([
      {
        ...{ from: 'health/pods', to: 'health/services' },
        resource: 'health.view.dcontroller.io/PodHealth',
      },
      {
        ...{ from: 'health/pods', to: 'alarms/alarm' },
        resource: 'health.view.dcontroller.io/PodHealth',
      },
      { from: 'health/services', to: 'health/services', resource: '/Service' },
    ]);
  });

  it('does not confuse a OneShot source with the view of the same name', () => {
    const { links, resources } = graphOf(`
      controllers:
        - name: a
          sources: [{ kind: Tick, type: OneShot }]
          target: { kind: Tick }
    `);
    expect(links).to.deep.equal([]);
    expect(resources.map(({ id }) => id)).to.deep.equal(['op.view.dcontroller.io/Tick']);
  });

  it('contains the stages of a pipeline that is one stage, and of a pipeline with @join and @aggregate', () => {
    const graph = graphOf(`
      controllers:
        - name: one
          sources: [{ kind: A }]
          pipeline: { '@select': true }
          target: { kind: B }
        - name: first
          sources: [{ kind: A }]
          pipeline: { '@join': true, '@aggregate': [{ '@select': true }] }
          target: { kind: B }
    `);
    const stages = graph.operators[0]?.controllers.map((each) =>
      each.stages.map(({ name }) => name),
    );
    expect(stages).to.deep.equal([['@select'], ['@join', '@select']]);
  });
});
