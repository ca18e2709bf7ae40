import { expect } from 'chai';
import fc from 'fast-check';
import {
  fieldManagerApply,
  fieldManagerUpdate,
  keepManagedFieldsTimes,
  managedFieldsProblem,
} from '../../../lib/apiserver/structured-merge/index.js';
import type { ApplyOptions } from '../../../lib/apiserver/structured-merge/index.js';
import type {
  ManagedFieldsEntry,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import type { Schema } from '../../../lib/object/schema.js';
import { appliedFields } from '../../../lib/object/managed-fields.js';
import { uncoveredPaths } from '../../../lib/object/uncovered-paths.js';
import { thing, thingSchema } from './arbitrary-thing.js';

const base = {
  apiVersion: 'example.com/v1',
  schema: thingSchema,
  customResource: true,
  now: Date.UTC(2026, 0, 1),
};
const later = base.now + 60_000;

type More = Partial<ApplyOptions>;

const apply = (
  live: UnstructuredObject | undefined,
  applied: UnstructuredObject,
  manager = 'op',
  more: More = {},
) => fieldManagerApply(live, applied, { ...base, manager, ...more });

const update = (
  live: UnstructuredObject | undefined,
  next: UnstructuredObject,
  manager = 'ed',
  more: More = {},
) => fieldManagerUpdate(live, next, { ...base, manager, ...more });

function make(spec: object, more: object = {}): UnstructuredObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing' },
    spec,
    ...more,
  };
}

/** Returns an object as stored. */
function stored(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1' } };
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

const managers = (object: UnstructuredObject) =>
  (object.metadata.managedFields ?? []).map(
    ({ manager, operation, time }) =>
      `${manager ?? ''} ${operation ?? ''} ${time?.slice(11, 16) ?? ''}`,
  );

const owned = (object: UnstructuredObject, manager: string) =>
  String(appliedFields(object, manager) ?? '').split('\n');

describe('fieldManagerApply', () => {
  it('is idempotent: a second apply returns the live object itself', () => {
    const property = fc.property(thing, thing, (applied, other) => {
      const live = stored(apply(apply(undefined, other, 'other'), applied, 'op', { force: true }));
      expect(apply(live, structuredClone(applied), 'op', { now: later })).to.equal(live);
    });
    fc.assert(property);
  });

  it('removes fields that only this manager has applied before', () => {
    const property = fc.property(thing, thing, (first, second) => {
      const live = apply(stored(apply(undefined, first)), second);
      expect(live['spec']).to.deep.equal(second['spec']);
      expect(live.metadata.labels).to.deep.equal(second.metadata.labels);
    });
    fc.assert(property);
  });

  it('changes nothing if the live object already has all applied fields under the manager', () => {
    const property = fc.property(thing, thing, thing, (applied, other, next) => {
      const first = stored(apply(undefined, applied));
      const between = apply(first, other, 'other', { force: true });
      const live = update(between, { ...between, spec: next['spec'] });
      const entry = appliedFields(live, 'op');
      if (entry === undefined) return;
      const again = apply(live, applied, 'op', { force: true });
      if (uncoveredPaths(entry, applied, { live }).length === 0) {
        expect(again['spec']).to.equal(live['spec']);
        expect(again.metadata.labels).to.equal(live.metadata.labels);
      }
      const fresh = appliedFields(again, 'op')!;
      expect(uncoveredPaths(fresh, applied, { live: again })).to.deep.equal([]);
    });
    fc.assert(property);
  });

  it('does not change its arguments', () => {
    const property = fc.property(thing, thing, (first, second) => {
      const live = frozen(stored(apply(undefined, frozen(first))));
      apply(live, frozen(second), 'other', { force: true });
      update(live, frozen(structuredClone(second)));
    });
    fc.assert(property);
  });

  it('shares unchanged values with the live object', () => {
    const live = stored(apply(undefined, make({ text: 'x', map: { a: 'b' }, list: [{ a: 'x' }] })));
    const next = apply(live, make({ text: 'y', map: { a: 'b' }, list: [{ a: 'x' }] }));
    const [before, after] = [live['spec'] as never, next['spec'] as never];
    expect(after['map']).to.equal(before['map']);
    expect(after['list']).to.equal(before['list']);
  });

  it('keeps the time of an entry until the object changes, and sets no time for a new entry', () => {
    const live = stored(apply(undefined, make({ text: 'x' })));
    const second = apply(live, make({ text: 'x' }), 'two', { now: later });
    expect(managers(second)).to.deep.equal(['two Apply ', 'op Apply 00:00']);
    const third = apply(stored(second), make({ text: 'x', tags: ['t'] }), 'two', { now: later });
    expect(managers(third)).to.deep.equal(['op Apply 00:00', 'two Apply 00:01']);
  });

  it('assigns the fields of an object without managers to before-first-apply', () => {
    const live = stored(make({ text: 'x', tags: ['t'] }));
    const applied = () => apply(live, make({ text: 'y' }));
    expect(applied).to.throw('conflict with "before-first-apply" using example.com/v1: .spec.text');
    const more = { subresource: 'status', force: true };
    const taken = apply(live, make({ text: 'y' }), 'op', more);
    expect(taken.metadata.managedFields?.map(({ subresource }) => subresource)).to.deep.equal([
      'status',
      'status',
    ]);
  });

  it('refuses an object of another kind or version, and an object with managedFields', () => {
    const other = { ...make({}), kind: 'Other' };
    const live = stored(make({}));
    expect(() => apply(live, other)).to.throw('invalid object type: example.com/v1, Kind=Other');
    expect(() => apply(undefined, other, 'op', { kind: 'Thing' })).to.throw('invalid object type');
    const core = { ...make({}), apiVersion: 'v1' };
    expect(() => apply(live, core))
      .to.throw('invalid object type: /v1, Kind=Thing')
      .with.property('code', 'InvalidPatch');
    const managed = { ...make({}), metadata: { name: 'thing', managedFields: [] } };
    expect(() => apply(live, managed)).to.throw('metadata.managedFields must be nil');
  });

  it('names the live object in its error if the live object does not fit the schema', () => {
    const live = stored(make({ text: 5 }));
    live.metadata.managedFields = apply(undefined, make({ text: 'x' })).metadata.managedFields!;
    expect(() => apply(live, make({ tags: ['a'] }))).to.throw(
      'failed to create typed live object (/thing; example.com/v1, Kind=Thing): ' +
        '.spec.text: expected string, got &value.valueUnstructured{Value:5}',
    );
  });

  it('treats fields named like JavaScript prototype members as data', () => {
    const applied = JSON.parse(
      '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"thing"},' +
        '"spec":{"map":{"__proto__":"a","constructor":"b"}}}',
    ) as UnstructuredObject;
    const live = stored(apply(undefined, applied));
    expect(JSON.stringify(live['spec'])).to.equal('{"map":{"__proto__":"a","constructor":"b"}}');
    const second = apply(live, make({ map: { constructor: 'b' } }));
    expect(JSON.stringify(second['spec'])).to.equal('{"map":{"constructor":"b"}}');
    expect(owned(live, 'op')).to.deep.equal(['.spec.map.__proto__', '.spec.map.constructor']);
  });
});

describe('fieldManagerApply across versions', () => {
  // v2 renames `text` to `string`.
  const v2Schema = {
    ...thingSchema,
    properties: {
      ...thingSchema.properties,
      spec: { type: 'object' as const, properties: { string: { type: 'string' as const } } },
    },
  };
  const convert: ApplyOptions['convert'] = (object, apiVersion) => {
    const { text, string } = (object['spec'] ?? {}) as { text?: string; string?: string };
    const value = text ?? string;
    const schemas: Record<string, Schema> = {
      'example.com/v1': thingSchema,
      'example.com/v2': v2Schema,
    };
    const schema = schemas[apiVersion];
    if (schema === undefined) return undefined;
    const name = apiVersion === 'example.com/v1' ? 'text' : 'string';
    const spec = value === undefined ? {} : { [name]: value };
    return { object: { ...object, apiVersion, spec }, schema };
  };
  const v2 = (spec: object): UnstructuredObject => ({
    ...make(spec),
    apiVersion: 'example.com/v2',
  });
  const asV2 = { apiVersion: 'example.com/v2', schema: v2Schema, convert };
  const live = stored(apply(undefined, make({ text: 'x' })));
  const liveV2 = stored({ ...live, ...v2({ string: 'x' }), metadata: live.metadata });

  it('detects conflicts with fields owned in another version', () => {
    const applied = () => apply(liveV2, v2({ string: 'y' }), 'two', asV2);
    expect(applied).to.throw('conflict with "op": .spec.text');
  });

  it('removes fields applied in another version', () => {
    const next = apply(liveV2, v2({}), 'op', asV2);
    expect(next['spec']).to.deep.equal({});
    expect(next.apiVersion).to.equal('example.com/v2');
    expect(next.metadata.managedFields?.[0]?.apiVersion).to.equal('example.com/v2');
  });

  it('converts the entry of the same manager from another version', () => {
    const next = apply(liveV2, v2({ string: 'y' }), 'op', asV2);
    expect(owned(next, 'op')).to.deep.equal(['.spec.string']);
    expect(next['spec']).to.deep.equal({ string: 'y' });
  });

  it('drops entries for a version that is no longer served', () => {
    const [entry] = live.metadata.managedFields!;
    const old = { ...entry!, manager: 'old', apiVersion: 'example.com/v0' };
    const metadata = { ...liveV2.metadata, managedFields: [...live.metadata.managedFields!, old] };
    const next = apply({ ...liveV2, metadata }, v2({ string: 'x' }), 'two', asV2);
    expect(managers(next)).to.deep.equal(['two Apply ', 'op Apply 00:00']);
  });
});

describe('fieldManagerUpdate', () => {
  it('records the manager unknown for a writer without a name', () => {
    expect(managers(update(undefined, make({ text: 'x' }), ''))).to.deep.equal([
      'unknown Update 00:00',
    ]);
  });

  it('leaves all entries unchanged if the object does not change', () => {
    const property = fc.property(thing, thing, (first, second) => {
      const live = stored(update(stored(apply(undefined, first)), second));
      const again = update(live, structuredClone(live), 'late', { now: later });
      expect(again).to.deep.equal(live);
    });
    fc.assert(property);
  });

  it('assigns every field of a new object to its creator', () => {
    const property = fc.property(thing, (created) => {
      const live = update(undefined, created);
      const [entry] = live.metadata.managedFields ?? [];
      const applied = {
        ...live,
        metadata: { ...live.metadata, managedFields: [{ ...entry, operation: 'Apply' as const }] },
      };
      expect(uncoveredPaths(appliedFields(applied, 'ed')!, created)).to.deep.equal([]);
    });
    fc.assert(property);
  });

  it('assigns no owner to the fields of the zero value of a built-in kind', () => {
    const more = { customResource: false, emptyObject: { spec: {}, metadata: {} } };
    const live = update(undefined, make({ text: 'x' }), 'ed', more);
    const entry = JSON.stringify(live.metadata.managedFields?.[0]?.fieldsV1);
    expect(entry).to.equal('{"f:spec":{"f:text":{}}}');
  });

  it('removes managedFields from an object that does not fit the schema', () => {
    const live = stored(apply(undefined, make({ text: 'x' })));
    const next = make({ entries: [{ value: 'no name' }, { name: 5 }] });
    expect(update(live, next).metadata.managedFields).to.equal(undefined);
  });

  it('ignores managedFields sent through a subresource', () => {
    const live = stored(apply(undefined, make({ text: 'x' })));
    const next = { ...live, metadata: { ...live.metadata, managedFields: [] } };
    expect(managers(update(live, next, 'ed', { subresource: 'status' }))).to.deep.equal([
      'op Apply 00:00',
    ]);
    expect(managers(update(live, next))).to.deep.equal([]);
  });

  it('truncates times sent by a client to seconds', () => {
    const live = stored(apply(undefined, make({ text: 'x' })));
    const [entry] = live.metadata.managedFields!;
    const managedFields = [{ ...entry, time: '2026-01-01T03:00:00.999+01:00' }];
    const next = update(live, { ...live, metadata: { ...live.metadata, managedFields } });
    expect(next.metadata.managedFields?.[0]?.time).to.equal('2026-01-01T02:00:00Z');
  });
});

describe('managedFieldsProblem', () => {
  const entry = { operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };

  for (const [change, problem] of [
    [{}, undefined],
    [{ operation: 'Guess' }, 'operation must be `Apply` or `Update`'],
    [{ apiVersion: '' }, 'apiVersion must not be empty'],
    [{ fieldsType: undefined }, 'missing fieldsType in managed fields entry 0'],
    [{ fieldsType: 'FieldsV9' }, 'invalid fieldsType "FieldsV9" in managed fields entry 0'],
    [{ fieldsV1: null }, undefined],
    [{ fieldsV1: [] }, 'fieldsV1 must be an object'],
  ] as const) {
    it(`returns for ${JSON.stringify(change)}: ${problem ?? 'undefined'}`, () => {
      const entries = [{ ...entry, ...change }] as unknown as ManagedFieldsEntry[];
      expect(managedFieldsProblem(entries)).to.equal(problem);
    });
  }

  it('returns undefined without entries', () => {
    expect(managedFieldsProblem(undefined)).to.equal(undefined);
  });
});

describe('keepManagedFieldsTimes', () => {
  const live = stored(apply(undefined, make({ text: 'x' })));
  const retimed = (object: UnstructuredObject) => {
    const managedFields = object.metadata.managedFields?.map((entry) => ({
      ...entry,
      time: '2026-01-09T00:00:00Z',
    }));
    return { ...object, metadata: { ...object.metadata, managedFields: managedFields! } };
  };

  it('restores the old times if nothing else changed', () => {
    expect(keepManagedFieldsTimes(live, retimed(live))).to.deep.equal(live);
  });

  it('keeps the new times if anything else changed', () => {
    const changed = retimed({ ...live, spec: { text: 'y' } });
    expect(keepManagedFieldsTimes(live, changed)).to.equal(changed);
    const [entry] = live.metadata.managedFields!;
    const managedFields = [{ ...entry, fieldsV1: {} }];
    const other = retimed({ ...live, metadata: { ...live.metadata, managedFields } });
    expect(keepManagedFieldsTimes(live, other)).to.equal(other);
    const more = retimed({
      ...live,
      metadata: { ...live.metadata, managedFields: [entry!, entry!] },
    });
    expect(keepManagedFieldsTimes(live, more)).to.equal(more);
  });
});
