import { expect } from 'chai';
import { InternalStore } from '../../lib/store/index.js';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' };

describe('InternalStore', () => {
  it('distinguishes a Service from a ConfigMap of the same name', () => {
    const store = new InternalStore();
    store.put(configMap);
    expect(store.has({ ...configMap, kind: 'Service' })).to.equal(false);
    store.put({ ...configMap, kind: 'Service' });
    expect(store.objectNameKind.get('web')).to.deep.equal(['ConfigMap', 'Service']);
  });

  it('distinguishes objects of one kind and name by group and namespace', () => {
    const store = new InternalStore();
    store.put({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'a', name: 'web' });
    const others = [
      { apiVersion: 'extensions/v1beta1', kind: 'Ingress', namespace: 'a', name: 'web' },
      { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'b', name: 'web' },
      { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web' },
    ];
    expect(others.map((other) => store.has(other))).to.deep.equal([false, false, false]);
  });

  it('treats two versions of an API as one object', () => {
    const store = new InternalStore();
    store.put({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name: 'web' });
    const newer = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'web' };
    expect(store.has(newer)).to.equal(true);
    expect(store.put(newer)).to.equal(false);
    expect(store.references()).to.have.length(1);
  });

  it('returns true from put only for an object that was not stored before', () => {
    const store = new InternalStore();
    expect([store.put(configMap), store.put({ ...configMap })]).to.deep.equal([true, false]);
  });
});
