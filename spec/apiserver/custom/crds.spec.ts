import { expect } from 'chai';
import { Api, configMaps, jsonPatch, merge } from '../api.js';
import { crds, installed, version, widget, widgetCrd, widgets } from './widgets.js';

interface Condition {
  type: string;
  status: string;
  reason: string;
}

function conditionsOf(object: object): string[] {
  const { status } = object as { status: { conditions: Condition[] } };
  return status.conditions.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`);
}

describe('custom resource definitions', () => {
  it('are established at once, with their kinds served and discoverable', async () => {
    const api = new Api();
    expect((await api.get(widgets)).code).to.equal(404);
    const crd = await installed(api);
    expect(conditionsOf(crd)).to.deep.equal([
      'NamesAccepted True NoConflicts',
      'Established True InitialNamesAccepted',
    ]);
    expect(crd['status']).to.deep.include({
      storedVersions: ['v1'],
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        shortNames: ['wd'],
        listKind: 'WidgetList',
      },
    });
    expect((await api.get(widgets)).body.kind).to.equal('WidgetList');
    const { body } = await api.get('/apis/example.com/v1');
    const { resources } = body as unknown as { resources: { name: string }[] };
    const served = resources.map(({ name }) => name);
    expect(served).to.have.members(['widgets', 'widgets/status', 'widgets/scale']);
  });

  it('accept their names before they are established, as a watch shows', async () => {
    const api = new Api();
    const watch = await api.watch(`${crds}?watch=true&resourceVersion=0`);
    await installed(api);
    const states: string[][] = [];
    for (let n = 0; n < 3; n++) {
      const { object } = (await watch.next()) ?? { object: {} };
      const { conditions } = (object as { status: { conditions: Condition[] | null } }).status;
      states.push(conditions === null ? [] : conditionsOf(object));
    }
    const accepted = 'NamesAccepted True NoConflicts';
    expect(states).to.deep.equal([
      [],
      [accepted, 'Established False Installing'],
      [accepted, 'Established True InitialNamesAccepted'],
    ]);
    await api.call('DELETE', `${crds}/widgets.example.com`);
    const ends: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      const { type, object } = (await watch.next()) ?? { type: 'END', object: {} };
      ends.push(`${type} ${conditionsOf(object).at(-1) ?? ''}`);
    }
    expect(ends).to.deep.equal([
      'MODIFIED Terminating True InstanceDeletionPending',
      'MODIFIED Terminating True InstanceDeletionInProgress',
      'DELETED Terminating True InstanceDeletionInProgress',
    ]);
    await api.server.stop();
  });

  it('are not established with an invalid caBundle of their webhook', async () => {
    const api = new Api();
    const clientConfig = { url: 'https://localhost/', caBundle: 'aGVsbG8=' };
    const webhook = { conversionReviewVersions: ['v1'], clientConfig };
    const crd = widgetCrd() as { spec: object };
    const conversion = { strategy: 'Webhook', webhook };
    await api.create(crds, { ...crd, spec: { ...crd.spec, conversion } });
    const { body } = await api.get(`${crds}/widgets.example.com`);
    expect(conditionsOf(body)[1]).to.equal('Established False InvalidCABundle');
  });

  it('accept those of their names that do not conflict', async () => {
    const api = new Api();
    const crd = (plural: string, names: object): object => {
      const spec = { group: 'example.com', scope: 'Cluster', versions: [version] };
      const metadata = { name: `${plural}.example.com` };
      return { metadata, spec: { ...spec, names: { plural, ...names } } };
    };
    await api.create(crds, crd('wheels', { kind: 'Wheel', shortNames: ['wh'] }));
    await api.create(crds, crd('rims', { kind: 'Wheel', singular: 'rim', shortNames: ['wh'] }));
    const path = `${crds}/rims.example.com`;
    const accepted = async (): Promise<unknown> => {
      const { status } = (await api.get(path)).body as unknown as { status: object };
      return (status as { acceptedNames: unknown }).acceptedNames;
    };
    expect(await accepted()).to.deep.equal({ plural: 'rims', singular: 'rim', kind: '' });
    const names = { shortNames: ['w'] };
    await api.call('PATCH', `${crds}/wheels.example.com`, { spec: { names } }, merge);
    expect(await accepted()).to.deep.include({ shortNames: ['wh'], kind: '' });
  });

  it('do not accept the same kind twice in a group', async () => {
    const api = new Api();
    await installed(api);
    const other = { plural: 'gadgets', kind: 'Widget', listKind: 'GadgetList' };
    await api.create(crds, widgetCrd({ names: other }, 'gadgets.example.com'));
    const { body } = await api.get(`${crds}/gadgets.example.com`);
    expect(conditionsOf(body)).to.deep.equal([
      'NamesAccepted False KindConflict',
      'Established False NotAccepted',
    ]);
    expect((await api.get('/apis/example.com/v1/gadgets')).code).to.equal(404);
  });

  it('accept names that conflicted when the other CRD of their group is deleted', async () => {
    const api = new Api();
    await installed(api);
    const gadgets = widgetCrd(
      { names: { plural: 'gadgets', kind: 'Widget', listKind: 'GadgetList' } },
      'gadgets.example.com',
    );
    await api.create(crds, gadgets);
    expect((await api.get('/apis/example.com/v1/gadgets')).code).to.equal(404);
    await api.call('DELETE', `${crds}/widgets.example.com`);
    const { body } = await api.get(`${crds}/gadgets.example.com`);
    expect(conditionsOf(body)).to.deep.equal([
      'NamesAccepted True NoConflicts',
      'Established True InitialNamesAccepted',
    ]);
    expect((await api.get('/apis/example.com/v1/gadgets')).code).to.equal(200);
  });

  it('are refused if invalid', async () => {
    const api = new Api();
    const untyped = { openAPIV3Schema: { type: 'object', properties: { spec: {} } } };
    const refused: [object, string][] = [
      [widgetCrd({}, 'wrong'), 'metadata.name'],
      [widgetCrd({ scope: 'Galaxy' }), 'spec.scope'],
      [
        widgetCrd({ versions: [{ ...version, storage: false }] }),
        'spec.versions,status.storedVersions',
      ],
      [
        widgetCrd({ versions: [{ ...version, schema: untyped }] }),
        'spec.validation.openAPIV3Schema.properties[spec].type',
      ],
      [
        widgetCrd({ versions: [{ ...version, schema: undefined }] }),
        'spec.versions[0].schema.openAPIV3Schema',
      ],
    ];
    for (const [body, field] of refused) {
      const { code, body: status } = await api.call('POST', crds, body);
      const { causes = [] } = status['details'] as { causes?: { field: string }[] };
      const fields = causes.map((cause) => cause.field).sort();
      expect([code, fields.join()]).to.deep.equal([422, field]);
    }
  });

  it('serve all versions of an object that is stored once', async () => {
    const api = new Api();
    const older = { ...version, name: 'v1beta1', storage: false, deprecated: true };
    await installed(api, { versions: [version, older] });
    await api.create(widgets, widget('a'));
    const { body } = await api.get(`${widgets.replace('v1', 'v1beta1')}/a`);
    expect(body.apiVersion).to.equal('example.com/v1beta1');
    expect(body).to.have.nested.property('metadata.uid');
    const stop = { spec: { versions: [version, { ...older, served: false }] } };
    await api.call('PATCH', `${crds}/widgets.example.com`, stop, merge);
    expect((await api.get(`${widgets.replace('v1', 'v1beta1')}/a`)).code).to.equal(404);
  });

  it('warn of a deprecated version, and name the version to use instead', async () => {
    const api = new Api();
    const more = { ...version, storage: false };
    const versions = [
      ...[version, { ...more, name: 'v1beta2' }, { ...more, name: 'v2', served: false }],
      ...['v1beta1', 'v3'].map((name) => ({ ...more, name, deprecated: true })),
    ];
    await installed(api, { versions });
    const warning = async (name: string): Promise<string | undefined> =>
      (await api.get(widgets.replace('v1', name))).headers['warning'];
    const use = '; use example.com/v1 Widget';
    expect(await warning('v1beta1')).to.equal(
      `299 - "example.com/v1beta1 Widget is deprecated${use}"`,
    );
    expect(await warning('v3')).to.equal('299 - "example.com/v3 Widget is deprecated"');
  });

  it('apply a new schema at once, including to existing objects', async () => {
    const api = new Api();
    await installed(api);
    await api.create(widgets, widget('a', { color: 'blue' }));
    const schema = structuredClone(version.schema);
    schema.openAPIV3Schema.properties.spec.properties!['extra'] = { type: 'string' };
    schema.openAPIV3Schema.properties.spec.properties!['color'] = { type: 'string' };
    const wider = { spec: { versions: [{ ...version, schema }] } };
    await api.call('PATCH', `${crds}/widgets.example.com`, wider, merge);
    const patch = { spec: { extra: 'x', color: 'green' } };
    const { body } = await api.call('PATCH', `${widgets}/a`, patch, merge);
    expect(body['spec']).to.include(patch.spec);
  });

  it('are deleted with their objects, as soon as the finalizers of the objects are removed', async () => {
    const api = new Api();
    await installed(api);
    await api.create(configMaps, { metadata: { name: 'stays' } });
    await api.create(widgets, widget('a'));
    await api.create(widgets, { ...widget('b'), metadata: { name: 'b', finalizers: ['x.y/z'] } });
    const events = await api.watch(`${widgets}?watch=1`);
    expect(await events.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
    await api.call('DELETE', `${crds}/widgets.example.com`);
    expect(await events.names(2)).to.deep.equal(['DELETED a', 'MODIFIED b']);
    expect((await api.get(`${crds}/widgets.example.com`)).body.metadata.finalizers).to.deep.equal([
      'customresourcecleanup.apiextensions.k8s.io',
    ]);
    await api.call('PATCH', `${widgets}/b`, { metadata: { finalizers: null } }, merge);
    expect((await api.get(`${crds}/widgets.example.com`)).code).to.equal(404);
    expect((await api.get(widgets)).code).to.equal(404);
    expect((await api.get(`${configMaps}/stays`)).code).to.equal(200);
  });

  it('report in a condition that their objects are gone while another finalizer delays the deletion of the definition', async () => {
    const api = new Api();
    const finalizers = ['acme.com/hold'];
    const crd = widgetCrd() as { metadata: object };
    await api.create(crds, { ...crd, metadata: { ...crd.metadata, finalizers } });
    await api.create(widgets, widget('a'));
    const path = `${crds}/widgets.example.com`;
    await api.call('DELETE', path);
    const { body } = await api.get(path);
    expect(body.metadata.finalizers).to.deep.equal(finalizers);
    const { conditions } = body['status'] as { conditions: object[] };
    expect(conditions.at(-1)).to.deep.equal({
      ...{ type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted' },
      ...{ message: 'removed all instances', lastTransitionTime: '2026-01-01T00:00:00Z' },
    });
    expect((await api.get(widgets)).body['items']).to.deep.equal([]);
    await api.call('PATCH', path, { metadata: { finalizers: null } }, merge);
    expect((await api.get(path)).code).to.equal(404);
  });

  it('are discovered with their versions by stability, then by number, then by name', async () => {
    const api = new Api();
    const names = [
      ...['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2'],
      ...['bar', 'foo1', 'foo10'],
    ];
    const shuffled = [...names].sort((one, other) =>
      one.at(-1)! + one < other.at(-1)! + other ? -1 : 1,
    );
    const versions = shuffled.map((name) => ({ ...version, name, storage: name === 'foo1' }));
    await installed(api, { versions });
    const { body } = await api.get('/apis/example.com');
    const found = body['versions'] as { version: string }[];
    expect(found.map((one) => one.version)).to.deep.equal(names);
    expect(body['preferredVersion']).to.deep.include({ version: 'v10' });
  });

  it('end the watches of their kind when deleted', async () => {
    const api = new Api();
    await installed(api);
    const events = await api.watch(`${widgets}?watch=1&allowWatchBookmarks=true`);
    expect((await events.next())?.object).to.deep.include({
      ...{ kind: 'Widget', apiVersion: 'example.com/v1' },
    });
    const next = events.next();
    await api.call('DELETE', `${crds}/widgets.example.com`);
    expect(await next).to.equal(undefined);
  });

  it('end the watches of their kind when their spec changes, so that clients watch by the new schema', async () => {
    const api = new Api();
    const versions = (...fields: string[]): object[] => {
      const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]));
      const spec = { type: 'object', properties };
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
      const others = { served: true, schema };
      return [
        { name: 'v1', storage: true, ...others },
        { name: 'v2', storage: false, ...others },
      ];
    };
    await installed(api, { versions: versions('a') });
    const before = await api.watch(`${widgets}?watch=1`);
    const change = (patch: object) =>
      api.call('PATCH', `${crds}/widgets.example.com`, patch, merge);
    await change({ metadata: { labels: { l: 'v' } } });
    const one = await api.create(widgets, { ...widget('one'), spec: { a: '1' } });
    expect(await before.names(1)).to.deep.equal(['ADDED one']);
    await change({ spec: { versions: versions('a', 'b') } });
    expect(await before.next()).to.equal(undefined);
    const { resourceVersion = '' } = one.metadata;
    const continued = await api.watch(`${widgets}?watch=1&resourceVersion=${resourceVersion}`);
    expect(await continued.next()).to.containSubset({ type: 'ERROR', object: { code: 410 } });
    const after = await api.watch(`${widgets}?watch=1`);
    await api.create(widgets, { ...widget('two'), spec: { b: '2' } });
    await after.next();
    expect((await after.next())?.object['spec']).to.deep.equal({ b: '2' });
    await after.stop();
  });

  it('are deleted with their objects although no version is served', async () => {
    const api = new Api();
    await installed(api);
    await api.create(widgets, widget('one'));
    const path = `${crds}/widgets.example.com`;
    const test = [{ op: 'replace', path: '/spec/versions/0/served', value: false }];
    const patched = await api.call('PATCH', path, test, jsonPatch);
    expect(patched.code).to.equal(200);
    expect((await api.get(widgets)).code).to.equal(404);
    await api.call('DELETE', path);
    expect((await api.get(path)).code).to.equal(404);
    await installed(api);
    expect((await api.get(widgets)).body['items']).to.deep.equal([]);
  });

  it('start and stop serving versions when their spec changes, although a finalizer delays their deletion', async () => {
    const api = new Api();
    await installed(api);
    const finalized = { ...widget('one'), metadata: { name: 'one', finalizers: ['a.com/f'] } };
    await api.create(widgets, finalized);
    const path = `${crds}/widgets.example.com`;
    const serve = (value: boolean) =>
      api.call(
        'PATCH',
        path,
        [{ op: 'replace', path: '/spec/versions/0/served', value }],
        jsonPatch,
      );
    await serve(false);
    await api.call('DELETE', path);
    expect((await api.get(`${widgets}/one`)).code).to.equal(404);
    expect((await serve(true)).code).to.equal(200);
    await api.call('PATCH', `${widgets}/one`, { metadata: { finalizers: null } }, merge);
    expect((await api.get(path)).code).to.equal(404);
  });
});
