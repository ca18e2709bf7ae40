import { collectionOf, sampleKinds, sampleObject, settled } from '../kinds.js';
import type { SampleKind } from '../kinds.js';
import { apply, get, patch, post, put, remove, representations } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

/** Every verb and patch type on each kind. */
export const verbs: readonly Scenario[] = sampleKinds.flatMap((sample) => [
  { title: `life of ${sample.apiVersion} ${sample.kind}`, requests: lifeOf(sample) },
  { title: `applies of ${sample.apiVersion} ${sample.kind}`, requests: appliesOf(sample) },
]);

function lifeOf(sample: SampleKind): Request[] {
  const { change = {} } = sample;
  const all = collectionOf(sample);
  const name = sample.name ?? '{{ns}}-one';
  const one = `${all}/${name}`;
  const own = '?labelSelector=scenario%3D{{ns}}';
  const labels = { scenario: '{{ns}}' };
  const object = sampleObject(sample, { name, labels });
  const { table, partial, partialList } = representations;
  return [
    get(one),
    post(`${all}?dryRun=All`, object),
    get(one),
    post(`${all}?fieldValidation=Strict`, { ...object, unknown: 1 }),
    post(`${all}?fieldValidation=Warn&dryRun=All`, { ...object, unknown: 1 }),
    post(all, { ...object, kind: 'Other' }),
    post(all, { ...object, apiVersion: 'other/v1' }),
    // A dry run, because some kinds generate a random name.
    post(`${all}?dryRun=All`, { ...object, metadata: {} }),
    post(all, { ...object, metadata: { name: 'Not_Valid/' } }),
    post(all, {
      ...object,
      metadata: { name, labels: { 'a b': 'c d' }, annotations: { '': 'x' } },
    }),
    post(all, { ...object, metadata: { name, namespace: 'elsewhere' } }),
    post(`${all}?dryRun=All`, { ...object, metadata: { name, finalizers: ['plain'] } }),
    post(all, object, { as: 'created' }),
    ...settled(sample, one),
    post(all, object),
    get(one),
    get(one, { accept: table }),
    get(one, { accept: partial }),
    get(`${all}${own}`),
    get(`${all}${own}&limit=1`),
    get(`${all}${own}`, { accept: table }),
    get(`${all}${own}`, { accept: partialList }),
    get(`${all}?fieldSelector=metadata.name%3D${name}`),
    get(`${all}?fieldSelector=spec.nothing%3Dx`),
    get(`${all}?labelSelector=a%20b`),
    patch('merge', one, { ...change, metadata: { labels: { changed: 'yes' } } }, { as: 'changed' }),
    patch('merge', one, { metadata: { labels: { changed: 'yes' } } }),
    patch('merge', `${one}?dryRun=All`, { metadata: { finalizers: ['plain'] } }),
    patch('merge', `${one}?dryRun=All`, { metadata: { finalizers: ['not valid'] } }),
    patch('merge', one, { metadata: { uid: 'other' } }),
    patch('merge', one, { metadata: { name: 'other' } }),
    patch('merge', one, { metadata: { resourceVersion: '1' } }),
    patch('json', one, [{ op: 'add', path: '/metadata/annotations', value: { note: 'a' } }]),
    patch('json', one, [{ op: 'test', path: '/metadata/name', value: 'other' }]),
    patch('json', one, [{ op: 'remove', path: '/metadata/none' }]),
    patch('json', one, { op: 'remove' }),
    patch('strategic', one, { metadata: { annotations: { note: null, more: 'b' } } }),
    patch('strategic', one, { metadata: { labels: { $patch: 'replace', scenario: '{{ns}}' } } }),
    patch('strategic', one, { metadata: { $deleteFromPrimitiveList: 1 } }),
    put(one, { ...object, metadata: { name: 'other' } }),
    put(one, { ...object, metadata: { name, resourceVersion: '1' } }),
    put(one, { ...object, metadata: { name, uid: 'other' } }),
    put(`${one}-absent`, object),
    get(one, { as: 'latest' }),
    put(one, {
      ...object,
      metadata: { name, labels, resourceVersion: '{{latest.metadata.resourceVersion}}' },
    }),
    put(one, object),
    get(`${all}${own}&resourceVersion=0&resourceVersionMatch=Exact`),
    get(`${all}${own}&resourceVersion=x`),
    ...subresourcesOf(sample, one),
    remove(`${one}?dryRun=All`),
    remove(one, { preconditions: { uid: 'other' } }),
    remove(one, { preconditions: { resourceVersion: '1' } }),
    remove(one, { propagationPolicy: 'Sideways' }),
    remove(`${all}?labelSelector=none%3D{{ns}}`),
    patch('merge', one, { metadata: { finalizers: ['example.com/hold'] } }),
    remove(one),
    ...(sample.kind === 'CustomResourceDefinition' ? [cleanedUp(one)] : []),
    remove(one),
    patch('merge', one, { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }),
    patch('merge', one, { metadata: { finalizers: null } }),
    get(one),
    remove(one),
  ];
}

/** Waits until the real server has removed the finalizer of a definition, in the background. */
function cleanedUp(one: string): Request {
  const test = { op: 'test', path: '/metadata/finalizers', value: ['example.com/hold'] };
  return patch('json', one, [test], { whileStatus: 422 });
}

function subresourcesOf(
  { subresources = [], apiVersion, kind }: SampleKind,
  one: string,
): Request[] {
  return subresources.flatMap((subresource) => {
    const path = `${one}/${subresource}`;
    const changed =
      subresource === 'scale' ? { spec: { replicas: 3 } } : { status: { unknown: 1 } };
    const type =
      subresource === 'scale'
        ? { apiVersion: 'autoscaling/v1', kind: 'Scale' }
        : { apiVersion, kind };
    return [
      get(path),
      get(path, { accept: representations.table }),
      patch('merge', path, changed),
      patch('merge', path, { metadata: { labels: { sub: 'yes' } } }),
      patch('json', path, [{ op: 'replace', path: '/spec/replicas', value: -1 }]),
      put(path, { ...type, metadata: { name: 'other' } }),
      apply('subresource', path, { ...type, ...changed }, true),
      get(one),
    ];
  });
}

function appliesOf(sample: SampleKind): Request[] {
  const { change = {}, apiVersion, kind } = sample;
  const all = collectionOf(sample);
  const name = sample.name ?? '{{ns}}-one';
  const one = `${all}/${name}`;
  const object = sampleObject(sample, { name, labels: { by: 'first', one: '1' } });
  const labelled = (labels: object) => ({ apiVersion, kind, metadata: { name, labels } });
  return [
    patch('apply', one, object),
    apply('first', one, { ...object, unknown: 1 }),
    apply('first', one, { ...object, kind: 'Other' }),
    apply('first', one, { ...object, metadata: { name: 'other' } }),
    apply('first', one, { ...object, metadata: { name, managedFields: [{}] } }),
    apply('first', one, object),
    ...settled(sample, one),
    apply('first', one, object),
    apply('second', one, labelled({ by: 'second' })),
    apply('second', one, labelled({ by: 'second', two: '2' }), true),
    apply('first', one, { ...object, ...change }, true),
    patch('merge', `${one}?fieldManager=third`, {
      ...change,
      metadata: { labels: { by: 'third' } },
    }),
    apply('second', one, labelled({})),
    apply('first', one, labelled({ by: 'first' })),
    apply('first', one, labelled({ by: 'first' }), true),
    get(one),
    patch('merge', one, { metadata: { managedFields: [{}] } }),
    remove(`${all}/${name}?gracePeriodSeconds=0`, { propagationPolicy: 'Orphan' }),
    // The server removes a CRD in the background.
    get(one, kind === 'CustomResourceDefinition' ? { whileStatus: 200 } : {}),
  ];
}
