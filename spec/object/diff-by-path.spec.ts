import { expect } from 'chai';
import fc from 'fast-check';
import isEqual from 'lodash/isEqual.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import { diffObjects, fieldsOf, serverSetFields } from '../../lib/object/diff-by-path.js';
import type { Schema } from '../../lib/object/schema.js';
import { tries } from '../sample.js';

const pod = (...containers: object[]) => ({ spec: { template: { spec: { containers } } } });

describe('diffObjects', () => {
  it('names list entries by their merge key', () => {
    const from = pod({ name: 'web', image: 'web:1' }, { name: 'log', image: 'log:1' });
    const to = pod({ name: 'web', image: 'web:2' }, { name: 'proxy', image: 'proxy:1' });
    expect(diffObjects(from, to)).to.deep.equal([
      { path: 'spec.template.spec.containers[name=web].image', from: 'web:1', to: 'web:2' },
      {
        path: 'spec.template.spec.containers[name=log]',
        from: { name: 'log', image: 'log:1' },
        to: undefined,
      },
      {
        path: 'spec.template.spec.containers[name=proxy]',
        from: undefined,
        to: { name: 'proxy', image: 'proxy:1' },
      },
    ]);
  });

  it('names list entries by another unique key, or by index if none exists', () => {
    const mount = (mountPath: string, readOnly: boolean) => ({ name: 'v', mountPath, readOnly });
    const mounts = [
      [mount('/a', true), mount('/b', true)],
      [mount('/a', true), mount('/b', false)],
    ];
    expect(diffObjects({ m: mounts[0] }, { m: mounts[1] })).to.deep.equal([
      { path: 'm[mountPath=/b].readOnly', from: true, to: false },
    ]);
    const odd = [{ name: { a: 1 } }, { name: { a: 2 } }];
    expect(diffObjects({ odd }, { odd: odd.slice(1) }).map(({ path }) => path)).to.deep.equal([
      'odd[0].name.a',
      'odd[1]',
    ]);
    expect(diffObjects({ args: ['a', 'b'] }, { args: ['a', 'c', 'd'] })).to.deep.equal([
      { path: 'args[1]', from: 'b', to: 'c' },
      { path: 'args[2]', from: undefined, to: 'd' },
    ]);
  });

  it('names list entries by the list map keys of the schema, if each entry has these keys', () => {
    const hosts: Schema = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['ip', 'port'],
      items: { type: 'object', properties: { tags: rules('id') } },
    };
    function rules(key: string): Schema {
      return {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': [key],
        items: { type: 'object' },
      };
    }
    const schema: Schema = {
      type: 'object',
      properties: { hosts },
      additionalProperties: rules('id'),
    };
    const host = (port: number, tags: object[] = []) => ({ ip: '10.0.0.1', port, tags });
    const changes = (from: object, to: object) =>
      diffObjects(from, to, { schema }).map(({ path }) => path);
    const two = { hosts: [host(80, [{ id: 'a', n: 1 }]), host(443)] };
    const one = { hosts: [host(443, [{ id: 'a' }])] };
    expect(changes(two, { hosts: [host(80, [{ id: 'a', n: 2 }]), host(443)] })).to.deep.equal([
      'hosts[ip=10.0.0.1,port=80].tags[id=a].n',
    ]);
    expect(changes(two, one)).to.deep.equal([
      'hosts[ip=10.0.0.1,port=80]',
      'hosts[ip=10.0.0.1,port=443].tags[id=a]',
    ]);
    const [a, b] = [
      { id: 'a', name: 'x' },
      { id: 'b', name: 'y' },
    ];
    expect(changes({ eu: [a, b] }, { eu: [b] })).to.deep.equal(['eu[id=a]']);
    expect(changes({ eu: [a] }, { eu: [{ name: 'x', id: null }] })).to.deep.equal([
      'eu[name=x].id',
    ]);
    expect(diffObjects(two, { hosts: two.hosts.toReversed() }, { schema })).to.deep.equal([
      {
        path: 'hosts[order]',
        from: ['ip=10.0.0.1,port=80', 'ip=10.0.0.1,port=443'],
        to: ['ip=10.0.0.1,port=443', 'ip=10.0.0.1,port=80'],
      },
    ]);
  });

  it('reports reordered entries as one change of order', () => {
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    expect(diffObjects({ list: [a, b] }, { list: [b, a] })).to.deep.equal([
      { path: 'list[order]', from: ['a', 'b'], to: ['b', 'a'] },
    ]);
  });

  it('quotes names that are not identifiers', () => {
    const from = { data: { 'app.conf': '1' }, metadata: { annotations: { 'example.com/a': 'b' } } };
    expect(diffObjects(from, { data: { 'app.conf': '2' }, metadata: {} })).to.deep.equal([
      { path: 'data["app.conf"]', from: '1', to: '2' },
      { path: 'metadata.annotations', from: { 'example.com/a': 'b' }, to: undefined },
    ]);
  });

  it('treats undefined as absent', () => {
    expect(diffObjects({ a: undefined, b: { c: 1 } }, { b: { c: 1, d: undefined } })).to.be.empty;
  });

  it('ignores changes below the paths to ignore', () => {
    const metadata = { name: 'web', resourceVersion: '1', managedFields: [{}], generation: 1 };
    const from = { metadata, status: { a: 1 } };
    const to = { metadata: { name: 'web', resourceVersion: '2', generation: 2 }, status: {} };
    const ignore = [...serverSetFields, 'status'];
    expect(diffObjects(from, to, { ignore })).to.be.empty;
    expect(diffObjects(from, to)).to.have.length(4);
  });

  it('can ignore all fields that the server sets, so that an object equals the one it replaces', () => {
    const recreated = (n: number) => ({
      name: 'web',
      ...{ uid: `uid-${n}`, resourceVersion: `${n}`, generation: n, selfLink: `/${n}` },
      creationTimestamp: `2026-01-0${n}T00:00:00Z`,
      ...(n === 1 && {
        deletionTimestamp: 'now',
        deletionGracePeriodSeconds: 30,
        managedFields: [],
      }),
    });
    const [before, after] = [{ metadata: recreated(1) }, { metadata: recreated(2) }];
    expect(diffObjects(before, after, { ignore: serverSetFields })).to.deep.equal([]);
    expect(diffObjects(before, after).map(({ path }) => path)).to.have.members(serverSetFields);
  });

  it('treats a missing object as the value undefined', () => {
    expect(diffObjects(undefined, { a: 1 })).to.deep.equal([
      { path: '', from: undefined, to: { a: 1 } },
    ]);
    expect(diffObjects(undefined, undefined)).to.be.empty;
  });

  it('compares an own member called __proto__, and no inherited members', () => {
    const from = JSON.parse('{"data": {"__proto__": "1"}}') as object;
    expect(diffObjects(from, { data: {} })).to.deep.equal([
      { path: 'data.__proto__', from: '1', to: undefined },
    ]);
    expect(diffObjects({ data: {} }, { data: { constructor: 'x' } })).to.have.length(1);
  });

  it('is empty if and only if the two objects are equal', () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 3 }, fc.nat(1), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(fc.oneof(tie('named'), tie('tree')), { maxLength: 3 }),
      named: fc.record({ name: fc.constantFrom('a', 'b'), value: fc.nat(1) }),
      object: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('tree'), {
        noNullPrototype: true,
      }),
    }));
    const property = fc.property(tree, tree, (from, to) => {
      const changes = diffObjects(deepFreeze(from), deepFreeze(to));
      expect(changes.length === 0).to.equal(isEqual(from, to));
      for (const change of changes) expect(change.from).not.to.deep.equal(change.to);
    });
    fc.assert(property, { numRuns: tries(500) });
  });
});

describe('fieldsOf', () => {
  it('lists a change for each field of a new value, with the paths of diffObjects', () => {
    const to = { containers: [{ name: 'web', args: ['a', 'b'], env: [] }], 'app.conf': 1 };
    const fields = fieldsOf({ path: 'spec', from: undefined, to });
    expect(fields.map((field) => [field.path, field.to])).to.deep.equal([
      ['spec.containers[name=web].name', 'web'],
      ['spec.containers[name=web].args[0]', 'a'],
      ['spec.containers[name=web].args[1]', 'b'],
      ['spec.containers[name=web].env', []],
      ['spec["app.conf"]', 1],
    ]);
  });
});
