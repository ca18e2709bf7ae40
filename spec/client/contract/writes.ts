import { expect } from 'chai';
import { inspect } from 'node:util';
import { isStaleWrite } from '../../../lib/client/index.js';
import {
  isAlreadyExists,
  isApiError,
  isConflict,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
} from '../../../lib/object/api-error.js';
import { ConfigMap, Namespace, Secret } from '../../../lib/object/kinds.js';
import type { Service } from '../../../lib/object/kinds.js';
import { failureOf } from '../scripted-transport.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour } from './contract-subject.js';

const causesOf = (error: unknown) => (isApiError(error) ? error.causes : []);

const asContract = { fieldManager: 'contract', force: true } as const;

const merge = (body: object) => ({ type: 'merge', body }) as const;

/** Declares the behaviours of `create`, `update`, `patch` and `apply`. */
export function writeContract(it: Behaviour): void {
  it('create returns the object with uid, resourceVersion and creationTimestamp', async (subject) => {
    const { metadata } = await subject.client.create(configMapIn(subject, 'a'));
    expect(metadata.uid).to.match(/^[0-9a-f-]{36}$/);
    expect(Number(metadata.resourceVersion)).to.be.above(0);
    expect(metadata.creationTimestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('create of an existing object fails with AlreadyExists, not Conflict', async (subject) => {
    await subject.client.create(configMapIn(subject, 'a'));
    const error = await failureOf(subject.client.create(configMapIn(subject, 'a')));
    expect(isAlreadyExists(error)).to.equal(true);
    expect(isConflict(error)).to.equal(false);
  });

  it('create with generateName returns a generated name', async (subject) => {
    const { client, namespace } = subject;
    const metadata = { namespace, generateName: 'made-up-' };
    const created = await client.create<ConfigMap>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    });
    expect(created.metadata.name).to.match(/^made-up-\w{5}$/);
  });

  it('create in a missing namespace fails with NotFound', async (subject) => {
    const namespace = `${subject.namespace}-none`;
    const error = await failureOf(
      subject.client.create(configMapIn({ ...subject, namespace }, 'a')),
    );
    expect(isNotFound(error)).to.equal(true);
  });

  it('create in a namespace that is being deleted fails with NamespaceTerminating', async (subject) => {
    const { client, namespace } = subject;
    const finalizers = ['example.com/hold'];
    const held = await client.create(
      configMapIn(subject, 'held', { metadata: { name: 'held', namespace, finalizers } }),
    );
    await client.delete(Namespace, { name: namespace });
    const error = await failureOf(client.create(configMapIn(subject, 'late')));
    const key = { namespace, name: 'held' };
    await client.patch(ConfigMap, key, merge({ metadata: { finalizers: null } }));
    expect(held.metadata.finalizers).to.deep.equal(finalizers);
    expect(isNamespaceTerminating(error)).to.equal(true);
    expect(isForbidden(error)).to.equal(true);
  });

  it('an error about a Secret names the fields and the reason, but quotes no values', async (subject) => {
    const { client, namespace } = subject;
    const kind = { apiVersion: 'v1', kind: 'Secret' } as const;
    const label = { ...kind, metadata: { name: 'label', namespace, labels: { pin: 'hunter2 ' } } };
    const refused = await failureOf(client.create(label));
    const typed = { ...kind, metadata: { name: 'typed', namespace }, data: { pin: 918273 } };
    const unusable = await failureOf(client.apply(typed as unknown as Secret, asContract));
    const keyed = {
      ...kind,
      metadata: { name: 'keyed', namespace },
      data: { 'a key': 'aHVudGVyMg==' },
    };
    const misnamed = await failureOf(client.create(keyed));
    expect(isInvalid(refused)).to.equal(true);
    expect(causesOf(refused).map(({ field }) => field)).to.deep.equal(['metadata.labels']);
    expect(misnamed.message).to.include('422 Invalid').and.include('data[a key]');
    expect(unusable.message).to.include('failed to create typed patch object');
    const shown = [refused, unusable, misnamed].map((error) => inspect(error, { depth: 9 }));
    expect(shown.join()).not.to.match(/hunter2|918273|aHVudGVyMg/);
  });

  it('an error about a Secret keeps its message if the message quotes no value', async (subject) => {
    const { client, namespace } = subject;
    const missing = await failureOf(client.get(Secret, { namespace, name: 'none' }));
    expect(missing.message).to.include('secrets "none" not found');
  });

  it('create of an invalid object fails with Invalid, and names the invalid fields', async (subject) => {
    const { client, namespace } = subject;
    const error = await failureOf(
      client.create<Service>({
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace } },
        spec: { ports: [{ port: 0 }] },
      }),
    );
    expect(isInvalid(error)).to.equal(true);
    expect(causesOf(error).map(({ field }) => field)).to.include('spec.ports[0].port');
  });

  it('strict validation rejects an unknown field', async (subject) => {
    const object = { ...configMapIn(subject, 'a'), nonsense: 1 };
    const error = await failureOf(subject.client.create(object, { fieldValidation: 'Strict' }));
    expect(error).to.have.property('status', 400);
    expect(error.message).to.contain('nonsense');
  });

  it('a dry run returns the result and stores nothing', async (subject) => {
    const { client, namespace } = subject;
    const created = await client.create(configMapIn(subject, 'a'), { dryRun: true });
    expect(created.metadata.uid).to.be.a('string');
    const error = await failureOf(client.get(ConfigMap, { namespace, name: 'a' }));
    expect(isNotFound(error)).to.equal(true);
  });

  it('update replaces the object', async (subject) => {
    const { client, namespace } = subject;
    const created = await client.create(configMapIn(subject, 'a', { data: { a: '1', b: '1' } }));
    const updated = await client.update({ ...created, data: { a: '2' } });
    expect(updated.data).to.deep.equal({ a: '2' });
    expect(updated.metadata.resourceVersion).not.to.equal(created.metadata.resourceVersion);
    expect(await client.get(ConfigMap, { namespace, name: 'a' })).to.deep.equal(updated);
  });

  it('update of an outdated version fails with Conflict, not AlreadyExists', async (subject) => {
    const { client } = subject;
    const old = await client.create(configMapIn(subject, 'a'));
    await client.update({ ...old, data: { a: '1' } });
    const error = await failureOf(client.update({ ...old, data: { a: '2' } }));
    expect(isConflict(error)).to.equal(true);
    expect(isAlreadyExists(error)).to.equal(false);
    expect(isStaleWrite(error)).to.equal(true);
  });

  it('update of a missing object fails with NotFound', async (subject) => {
    const error = await failureOf(subject.client.update(configMapIn(subject, 'none')));
    expect(isNotFound(error)).to.equal(true);
  });

  it('patch applies merge, JSON and strategic patches', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a', { data: { a: '1', b: '1' } }));
    const key = { namespace, name: 'a' };
    await client.patch(ConfigMap, key, merge({ data: { a: null, c: '1' } }));
    const operations = [{ op: 'replace', path: '/data/b', value: '2' }] as const;
    await client.patch(ConfigMap, key, { type: 'json', operations });
    const body = { data: { d: '1' } };
    const { data } = await client.patch(ConfigMap, key, { type: 'strategic', body });
    expect(data).to.deep.equal({ b: '2', c: '1', d: '1' });
  });

  it('a patch fails as a stale write if its resourceVersion or its test operation expects another version', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a'));
    const key = { namespace, name: 'a' };
    const merged = client.patch(ConfigMap, key, merge({ metadata: { resourceVersion: '1' } }));
    expect(isStaleWrite(await failureOf(merged))).to.equal(true);
    const operations = [{ op: 'test', path: '/metadata/resourceVersion', value: '1' }] as const;
    const tested = client.patch(ConfigMap, key, { type: 'json', operations });
    expect(isStaleWrite(await failureOf(tested))).to.equal(true);
  });

  it('a patch of a missing object fails with NotFound', async ({ client, namespace }) => {
    const key = { namespace, name: 'none' };
    expect(isNotFound(await failureOf(client.patch(ConfigMap, key, merge({}))))).to.equal(true);
  });

  it('apply creates a missing object, updates an existing one, and returns whether it created the object', async (subject) => {
    const { client } = subject;
    const options = { fieldManager: 'one' };
    const first = await client.apply(
      configMapIn(subject, 'a', { data: { a: '1', b: '1' } }),
      options,
    );
    expect(first.created).to.equal(true);
    const second = await client.apply(configMapIn(subject, 'a', { data: { a: '2' } }), options);
    expect(second.created).to.equal(false);
    expect(second.object.data).to.deep.equal({ a: '2' });
  });

  it('apply keeps all characters, even those that YAML does not allow', async (subject) => {
    const { client } = subject;
    const data = {
      a: 'a\u0085\u0085b',
      b: '\u007f\u0080\u009f',
      c: '\ufffe\uffff \ufeff😀\\/',
      d: 'a \u2028 b\u2029--- c',
    };
    const { object } = await client.apply(configMapIn(subject, 'a', { data }), {
      fieldManager: 'one',
    });
    expect(object.data).to.deep.equal(data);
  });

  it('apply fails with Conflict for fields of other managers, and takes the fields over only with force', async (subject) => {
    const { client } = subject;
    await client.apply(configMapIn(subject, 'a', { data: { a: '1' } }), { fieldManager: 'one' });
    const other = { fieldManager: 'other' };
    await client.apply(configMapIn(subject, 'a', { data: { b: '1' } }), other);
    const mine = configMapIn(subject, 'a', { data: { a: '2', b: '1' } });
    const error = await failureOf(client.apply(mine, other));
    expect(isConflict(error)).to.equal(true);
    expect(causesOf(error).map(({ reason }) => reason)).to.deep.equal(['FieldManagerConflict']);
    const { object } = await client.apply(mine, { ...other, force: true });
    expect(object.data).to.deep.equal({ a: '2', b: '1' });
  });

  it('apply without a change keeps the resource version', async (subject) => {
    const { client } = subject;
    const object = configMapIn(subject, 'a', { data: { a: '1' } });
    const first = await client.apply(object, { fieldManager: 'one' });
    const second = await client.apply(object, { fieldManager: 'one' });
    expect(second.object.metadata.resourceVersion).to.equal(first.object.metadata.resourceVersion);
  });

  it('writes record the field manager', async (subject) => {
    const { client } = subject;
    const created = await client.create(configMapIn(subject, 'a', { data: { a: '1' } }), {
      fieldManager: 'me',
    });
    const [entry] = created.metadata.managedFields ?? [];
    expect(entry).to.include({ manager: 'me', operation: 'Update' });
  });

  it('the keys __proto__ and constructor are stored like other keys', async (subject) => {
    const { client, namespace } = subject;
    const text = '{"__proto__":"1","constructor":"2"}';
    const data = JSON.parse(text) as Record<string, string>;
    await client.create(configMapIn(subject, 'a', { data }));
    const read = await client.get(ConfigMap, { namespace, name: 'a' });
    expect(JSON.stringify(read.data)).to.equal(text);
  });
}
