import { expect } from 'chai';
import type { CacheEvent } from '../../lib/cache/informer.js';
import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelector,
  not,
  onEvents,
  or,
  resourceVersionChanged,
} from '../../lib/controller/kind-source.js';
import type { Predicate } from '../../lib/controller/kind-source.js';
import type { KubernetesObject, ObjectMeta } from '../../lib/object/kubernetes-object.js';

function object(metadata: ObjectMeta): KubernetesObject {
  return { apiVersion: 'v1', kind: 'O', metadata: { name: 'a', uid: 'u', ...metadata } };
}

function updated(before: ObjectMeta, after: ObjectMeta): CacheEvent {
  return { type: 'updated', old: object(before), object: object(after) };
}

function added(metadata: ObjectMeta): CacheEvent {
  return { type: 'added', object: object(metadata), isInInitialList: false };
}

function deleted(metadata: ObjectMeta): CacheEvent {
  return { type: 'deleted', object: object(metadata), finalStateUnknown: false };
}

const cases: readonly (readonly [string, Predicate, CacheEvent, boolean])[] = [
  [
    'an update with a new generation, by generationChanged',
    generationChanged(),
    updated({ generation: 1 }, { generation: 2 }),
    true,
  ],
  [
    'an update with the same generation, by generationChanged',
    generationChanged(),
    updated({ generation: 1 }, { generation: 1 }),
    false,
  ],
  [
    'an update of an object without a generation, by generationChanged',
    generationChanged(),
    updated({}, {}),
    true,
  ],
  [
    'the same generation of a recreated object, by generationChanged',
    generationChanged(),
    updated({ generation: 1 }, { generation: 1, uid: 'other' }),
    true,
  ],
  [
    'the addition of an object, by generationChanged',
    generationChanged(),
    added({ generation: 1 }),
    true,
  ],
  [
    'an update with a new resourceVersion, by resourceVersionChanged',
    resourceVersionChanged(),
    updated({ resourceVersion: '1' }, { resourceVersion: '2' }),
    true,
  ],
  [
    'an update with the same resourceVersion, by resourceVersionChanged',
    resourceVersionChanged(),
    updated({ resourceVersion: '1' }, { resourceVersion: '1' }),
    false,
  ],
  [
    'a changed label, by labelChanged',
    labelChanged(),
    updated({ labels: { a: '1' } }, { labels: { a: '2' } }),
    true,
  ],
  [
    'an update without a changed label, by labelChanged',
    labelChanged(),
    updated({ labels: { a: '1' } }, { labels: { a: '1' } }),
    false,
  ],
  ['a removed label, by labelChanged', labelChanged(), updated({ labels: { a: '1' } }, {}), true],
  [
    'a change of another label than the named one, by labelChanged',
    labelChanged('b'),
    updated({ labels: { a: '1' } }, {}),
    false,
  ],
  [
    'a change of the named label, by labelChanged',
    labelChanged('a'),
    updated({ labels: { a: '1' } }, {}),
    true,
  ],
  [
    'an added annotation, by annotationChanged',
    annotationChanged(),
    updated({}, { annotations: { a: '' } }),
    true,
  ],
  [
    'a change of another annotation than the named one, by annotationChanged',
    annotationChanged('b'),
    updated({}, { annotations: { a: '' } }),
    false,
  ],
  [
    'an object that matches, by labelSelector',
    labelSelector('app=web'),
    added({ labels: { app: 'web' } }),
    true,
  ],
  [
    'an object that does not match, by labelSelector',
    labelSelector({ matchLabels: { app: 'web' } }),
    added({}),
    false,
  ],
  [
    'an object that no longer matches, by labelSelector',
    labelSelector('app'),
    updated({ labels: { app: '' } }, {}),
    true,
  ],
  ['a predicate and its negation, by and', and(onEvents({}), not(onEvents({}))), added({}), false],
  ['a predicate or its negation, by or', or(onEvents({}), not(onEvents({}))), added({}), true],
  [
    'an event for whose type the function returns false, by onEvents',
    onEvents({ deleted: () => false }),
    deleted({}),
    false,
  ],
  [
    'an event for whose type there is no function, by onEvents',
    onEvents({ deleted: () => false }),
    added({}),
    true,
  ],
];

describe('predicates', () => {
  for (const [what, predicate, event, passes] of cases) {
    it(`${passes ? 'let pass' : 'filter out'}: ${what}`, () => {
      expect(predicate(event)).to.equal(passes);
    });
  }

  it('reject an invalid selector', () => {
    expect(() => labelSelector('a in'))
      .to.throw()
      .with.property('code', 'InvalidSelector');
  });
});
