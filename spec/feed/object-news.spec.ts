import { expect } from 'chai';
import { newsOf } from '../../lib/feed/object-news.js';
import type { CommittedChange } from '../../lib/apiserver/internal.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';

type Fields = Readonly<Record<string, unknown>>;

const object = (apiVersion: string, kind: string, fields: Fields = {}): UnstructuredObject => ({
  ...{ apiVersion, kind },
  metadata: { name: 'a', namespace: 'shop' },
  ...fields,
});

/** Returns the feed line for an object that is created in a state or changes from one to another. */
function told(apiVersion: string, kind: string, ...states: readonly [Fields, Fields?]): unknown {
  const [before, after] = states;
  const change =
    after === undefined
      ? { type: 'ADDED', object: object(apiVersion, kind, before) }
      : {
          ...{ type: 'MODIFIED', previous: object(apiVersion, kind, before) },
          object: object(apiVersion, kind, after),
        };
  return newsOf(change as CommittedChange);
}

const detailOf = (news: unknown): unknown => (news as { detail?: unknown } | undefined)?.detail;

describe('The feed of cluster changes', () => {
  it('shows the first two changed fields, without values of a Secret', () => {
    const [from, to] = [{ data: { a: '1' } }, { data: { a: '2', b: 'x'.repeat(99), c: '' } }];
    const detail = detailOf(told('v1', 'ConfigMap', from, to));
    expect(detail).to.match(/^data\.a: "1" → "2"; data\.b: "x{46}…; 1 more$/);
    const secret = detailOf(
      told('v1', 'Secret', { data: { a: 'c2VjcmV0' } }, { data: { a: 'bmV3' } }),
    );
    expect(secret)
      .to.match(/^data\.a: /)
      .and.not.match(/c2Vj|bmV3/);
  });

  it('shows spec before labels and annotations, and omits annotations of tools', () => {
    const metadata = (version: string): Fields => ({
      ...{ name: 'a', namespace: 'shop', labels: { version } },
      annotations: { 'operator-builder.io/applied-hash': version, team: version },
    });
    const [from, to] = [
      { metadata: metadata('1'), spec: { replicas: 1 } },
      { metadata: metadata('2'), spec: { replicas: 2 } },
    ];
    expect(detailOf(told('apps/v1', 'Deployment', from, to))).to.equal(
      'spec.replicas: 1 → 2; metadata.labels.version: "1" → "2"; 1 more',
    );
    const unmarked = { metadata: { name: 'a', namespace: 'shop' } };
    const hash = { 'operator-builder.io/applied-hash': '1' };
    const marked = { metadata: { ...unmarked.metadata, annotations: hash } };
    expect(told('apps/v1', 'Deployment', unmarked, marked)).to.equal(undefined);
  });

  it('shows the progress of workloads and custom resources', () => {
    const status = (fields: Fields): Fields => ({ status: fields });
    const ready = { type: 'Ready', status: 'True', reason: 'Done' };
    const available = { type: 'Available', status: 'True', reason: 'x' };
    expect(
      detailOf(
        told('apps/v1', 'Deployment', status({ replicas: 2 }), {
          ...status({ replicas: 2, readyReplicas: 1, conditions: [available] }),
        }),
      ),
    ).to.equal('1 of 2 ready');
    expect(
      detailOf(
        told(
          'shop.example/v1',
          'Shop',
          {},
          status({ url: 'x', observedGeneration: 1, conditions: [ready] }),
        ),
      ),
    ).to.equal('Ready=True (Done); status.url: "x"');
    expect(detailOf(told('v1', 'Pod', {}, status({ phase: 'Running' })))).to.equal('running');
    expect(told('v1', 'Pod', {}, { spec: { nodeName: 'node-1' } })).to.equal(undefined);
  });

  it('shows the conditions of a workload only if its replica counts do not show the same', () => {
    const conditions = [{ type: 'Available', status: 'True' }];
    const details = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].map((kind) =>
      detailOf(told('apps/v1', kind, {}, { status: { conditions } })),
    );
    expect(details).to.deep.equal([undefined, undefined, undefined, 'Available=True']);
  });

  it('shows Events, and marks those of type Warning', () => {
    const regarding = { kind: 'Shop', namespace: 'shop', name: 'a' };
    const fields = { regarding, type: 'Warning', reason: 'Late', note: 'no pods' };
    expect(told('events.k8s.io/v1', 'Event', fields)).to.deep.equal({
      ...{ mark: 'warned', text: 'Shop shop/a', detail: 'Late: no pods' },
    });
  });

  it("omits Normal Events of Kubernetes' own components, and shows their Warnings", () => {
    const involvedObject = { kind: 'Pod', namespace: 'shop', name: 'a' };
    const event = { involvedObject, source: { component: 'kubelet' }, reason: 'Started' };
    expect(told('v1', 'Event', { ...event, type: 'Normal' })).to.equal(undefined);
    const scheduled = { involvedObject, reportingComponent: 'default-scheduler', type: 'Normal' };
    expect(told('v1', 'Event', scheduled)).to.equal(undefined);
    expect(told('v1', 'Event', { ...event, type: 'Warning' })).to.include({ mark: 'warned' });
  });

  it('omits Leases, changes of the resourceVersion alone, and changes in system namespaces', () => {
    expect(told('coordination.k8s.io/v1', 'Lease', {})).to.equal(undefined);
    expect(
      told(
        'v1',
        'ConfigMap',
        {},
        { metadata: { name: 'a', namespace: 'shop', resourceVersion: '2' } },
      ),
    ).to.equal(undefined);
    const inSystem = { metadata: { name: 'a', namespace: 'kube-system' } };
    expect(told('v1', 'ConfigMap', inSystem)).to.equal(undefined);
  });

  it('shows writes of the operator in system namespaces, except Leases', () => {
    const created = (kind: string) => {
      const metadata = { name: 'a', namespace: 'kube-system' };
      const change = { type: 'ADDED', object: object('v1', kind, { metadata }) } as const;
      return newsOf(change, { isOperators: true })?.text;
    };
    expect(['ConfigMap', 'Endpoints', 'Lease'].map(created)).to.deep.equal([
      ...['ConfigMap kube-system/a', 'Endpoints kube-system/a', undefined],
    ]);
  });

  it('hides kinds that Kubernetes itself creates for other objects, like EndpointSlices', () => {
    const derived = ['APIService', 'Endpoints', 'EndpointSlice', 'ControllerRevision', 'IPAddress'];
    const kinds = [...derived, 'Service'];
    const created = (kind: string) => {
      const metadata = { name: 'a', namespace: 'shop' };
      return newsOf({ type: 'ADDED', object: object('v1', kind, { metadata }) })?.text;
    };
    expect(kinds.map(created).filter((text) => text !== undefined)).to.deep.equal([
      'Service shop/a',
    ]);
  });

  it('shows that an object is being deleted while finalizers hold it', () => {
    const metadata = { name: 'a', namespace: 'shop' };
    const leaving = { metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(detailOf(told('shop.example/v1', 'Shop', { metadata }, leaving))).to.equal(
      'is being deleted',
    );
  });
});
