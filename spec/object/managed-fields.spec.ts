import { expect } from 'chai';
import { fieldPath, keyElement } from '../../lib/object/field-path.js';
import type {
  FieldsV1,
  KubernetesObject,
  ManagedFieldsEntry,
} from '../../lib/object/kubernetes-object.js';
import {
  adoptManagedFields,
  appliedFields,
  fieldManagersOf,
  lastUpdater,
} from '../../lib/object/managed-fields.js';

const fields = (...names: string[]): FieldsV1 => ({
  'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});

function entry(
  manager: string,
  operation: 'Apply' | 'Update',
  more: Partial<ManagedFieldsEntry>,
): ManagedFieldsEntry {
  return { manager, operation, apiVersion: 'v1', fieldsType: 'FieldsV1', ...more };
}

function object(...managedFields: ManagedFieldsEntry[]): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', managedFields } };
}

describe('appliedFields', () => {
  const live = object(
    entry('op', 'Apply', { fieldsV1: fields('a') }),
    entry('op', 'Apply', { fieldsV1: fields('s'), subresource: 'status' }),
    entry('op', 'Update', { fieldsV1: fields('u') }),
  );

  it('returns the fields in the Apply entry of a manager for the given subresource', () => {
    expect(String(appliedFields(live, 'op'))).to.equal('.data.a');
    expect(String(appliedFields(live, 'op', { subresource: 'status' }))).to.equal('.data.s');
    expect(String(appliedFields(live, 'op', { apiVersion: 'v1' }))).to.equal('.data.a');
    expect(appliedFields(live, 'op', { apiVersion: 'v2' })).to.equal(undefined);
  });

  it('returns undefined for a manager without Apply entries, or without any entries', () => {
    expect(appliedFields(live, 'other')).to.equal(undefined);
    expect(appliedFields(object(entry('op', 'Update', {})), 'op')).to.equal(undefined);
    expect(appliedFields({ ...live, metadata: {} }, 'op')).to.equal(undefined);
  });
});

describe('fieldManagersOf', () => {
  const live = object(
    entry('one', 'Apply', { time: '2026-01-01T00:00:00Z', fieldsV1: fields('a', 'b') }),
    entry('two', 'Update', { time: '2026-01-03T00:00:00Z', fieldsV1: fields('a') }),
    entry('scaler', 'Update', { subresource: 'scale', fieldsV1: fields('a') }),
    entry('atomic', 'Apply', {
      time: '2026-01-02T00:00:00Z',
      fieldsV1: { 'f:spec': { 'f:list': {} } },
    }),
  );

  it('names the owners of a field, newest first', () => {
    expect(fieldManagersOf(live, fieldPath('data', 'a'))).to.deep.equal([
      { name: 'two', operation: 'Update', subresource: '', time: '2026-01-03T00:00:00Z' },
      { name: 'one', operation: 'Apply', subresource: '', time: '2026-01-01T00:00:00Z' },
      { name: 'scaler', operation: 'Update', subresource: 'scale', time: undefined },
    ]);
  });

  it('names the owner of an atomic list or map for a field in it', () => {
    const path = [...fieldPath('spec', 'list'), keyElement({ name: 'x' }), 'f:image'];
    expect(fieldManagersOf(live, path).map(({ name }) => name)).to.deep.equal(['atomic']);
  });

  it('keeps the order of entries with the same time, and treats an entry without an operation as an Update', () => {
    const time = '2026-01-01T00:00:00Z';
    const managers = ['b', 'a', 'c'].map((manager) => ({ manager, time, fieldsV1: fields('a') }));
    const found = fieldManagersOf(object(...managers), fieldPath('data', 'a'));
    const same = { operation: 'Update' as const, subresource: '', time };
    expect(found).to.deep.equal(['b', 'a', 'c'].map((name) => ({ name, ...same })));
  });

  it('names no owner of an object with members, or of a field that is not set', () => {
    expect(fieldManagersOf(live, fieldPath('data'))).to.deep.equal([]);
    expect(fieldManagersOf(live, fieldPath('data', 'z'))).to.deep.equal([]);
    expect(fieldManagersOf(live, [])).to.deep.equal([]);
    expect(fieldManagersOf(object(entry('none', 'Apply', {})), fieldPath('data'))).to.deep.equal(
      [],
    );
    expect(fieldManagersOf(object(entry('none', 'Apply', {})), [])).to.deep.equal([]);
  });
});

describe('lastUpdater', () => {
  it('returns the newest Update entry', () => {
    const live = object(
      entry('a', 'Apply', { time: '2026-01-09T00:00:00Z' }),
      entry('b', 'Update', { time: '2026-01-02T00:00:00Z' }),
      entry('c', 'Update', { time: '2026-01-03T00:00:00Z' }),
      entry('d', 'Update', { time: '2026-01-04T00:00:00Z', subresource: 'status' }),
    );
    expect(lastUpdater(live)?.name).to.equal('c');
    expect(lastUpdater(object())).to.equal(undefined);
  });
});

describe('adoptManagedFields', () => {
  const adopt = (entries: ManagedFieldsEntry[], ...managers: string[]) =>
    adoptManagedFields(entries, { managers, into: 'op' });
  const applied = entry('op', 'Apply', { fieldsV1: fields('a'), time: '2026-01-01T00:00:00Z' });
  const updated = entry('manager', 'Update', {
    fieldsV1: fields('b'),
    time: '2026-01-02T00:00:00Z',
  });
  const other = entry('hpa', 'Update', { fieldsV1: fields('c') });

  it('merges the Update entries of the given managers into the Apply entry of another manager', () => {
    const kubectl = entry('kubectl', 'Update', { fieldsV1: fields('d') });
    expect(adopt([applied, updated, other, kubectl], 'manager', 'kubectl')).to.deep.equal([
      { ...applied, fieldsV1: fields('a', 'b', 'd') },
      other,
    ]);
  });

  it('turns the first of these Update entries into an Apply entry if the other manager has none', () => {
    const second = entry('before', 'Update', { fieldsV1: fields('d') });
    expect(adopt([updated, other, second], 'manager', 'before')).to.deep.equal([
      { ...updated, manager: 'op', operation: 'Apply', fieldsV1: fields('b', 'd') },
      other,
    ]);
  });

  it('does not take over fields of another API version', () => {
    const old = entry('manager', 'Update', { apiVersion: 'v1beta1', fieldsV1: fields('x') });
    expect(adopt([applied, old, updated], 'manager')).to.deep.equal([
      { ...applied, fieldsV1: fields('a', 'b') },
    ]);
  });

  it('leaves subresources, other operations and other managers unchanged', () => {
    const status = entry('manager', 'Update', { subresource: 'status' });
    expect(adopt([applied, status, other], 'manager')).to.equal(undefined);
    expect(adopt([applied], 'op')).to.equal(undefined);
    expect(adoptManagedFields(undefined, { managers: ['x'], into: 'op' })).to.equal(undefined);
  });

  it('does not modify its input', () => {
    const entries = [structuredClone(applied), structuredClone(updated)];
    adopt(entries, 'manager');
    expect(entries).to.deep.equal([applied, updated]);
  });
});
