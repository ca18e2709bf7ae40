import { expect } from 'chai';
import { Api, apply, merge, strategic } from '../api.js';
import type { Answer } from '../api.js';
import { installed, widget, widgets } from './widgets.js';

function causesOf({ body }: Answer): Record<string, string> {
  const { causes = [] } = (body['details'] ?? {}) as {
    causes?: { field: string; message: string }[];
  };
  return Object.fromEntries(causes.map(({ field, message }) => [field, message]));
}

async function started(): Promise<Api> {
  const api = new Api();
  await installed(api);
  return api;
}

describe('custom resources', () => {
  it('keep fields of their schema, default missing ones and prune others', async () => {
    const api = await started();
    const free = { any: { thing: 1 } };
    const spec = { free, parts: [{ name: 'p', more: 1 }], unknown: 1, hint: null, note: null };
    const { body, headers } = await api.call('POST', widgets, widget('a', spec, { other: 1 }));
    expect(body['spec']).to.deep.equal({
      size: 1,
      color: 'red',
      note: null,
      hint: 'none',
      free,
      parts: [{ name: 'p', count: 1 }],
    });
    expect(body).not.to.have.property('other');
    expect(headers['warning']).to.contain('unknown field \\"spec.unknown\\"');
  });

  it('refuse unknown fields with fieldValidation Strict', async () => {
    const api = await started();
    const path = `${widgets}?fieldValidation=Strict`;
    const answer = await api.call('POST', path, widget('a', { unknown: 1 }));
    expect(answer.code).to.equal(400);
    expect(answer.body.message).to.contain('unknown field "spec.unknown"');
  });

  const refused: [object, string, string][] = [
    [{ size: 'x' }, 'spec.size', 'must be of type integer: "string"'],
    [{ size: 10 }, 'spec.size', 'should be less than or equal to 9'],
    [{ size: undefined }, 'spec.size', 'Required value'],
    [{ color: 'green' }, 'spec.color', 'supported values: "red", "blue"'],
    [{ code: 'A' }, 'spec.code', "should match '^[a-z]+$'"],
    [{ code: 'abcdef' }, 'spec.code', 'Too long: may not be more than 5 bytes'],
    [{ port: true }, 'spec.port', 'must be of type integer,string: "boolean"'],
    [{ since: 'yesterday' }, 'spec.since', 'must be of type date-time'],
    [{ tags: ['a', 'a'] }, 'spec.tags[1]', 'Duplicate value: "a"'],
    [{ parts: [{ name: 'a' }, { name: 'a' }] }, 'spec.parts[1]', 'Duplicate value'],
    [{ parts: [{}] }, 'spec.parts[0].name', 'Required value'],
    [{ template: { kind: 'X' } }, 'spec.template.apiVersion', 'Required value'],
    [{ either: { left: 'a', right: 'b' } }, '<nil>', 'one and only one schema (oneOf)'],
  ];
  for (const [spec, field, message] of refused) {
    it(`are refused with spec ${JSON.stringify(spec)}`, async () => {
      const api = await started();
      const answer = await api.call('POST', widgets, widget('a', spec));
      expect(answer.code).to.equal(422);
      expect(causesOf(answer)[field]).to.contain(message);
    });
  }

  it('may keep an invalid value that an update does not change', async () => {
    const api = await started();
    await api.create(widgets, widget('a', { code: 'abc' }));
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
    const { body: crd } = await api.get(path);
    const text = JSON.stringify(crd).replace('^[a-z]+$', '^[0-9]+$');
    expect((await api.call('PUT', path, text)).code).to.equal(200);
    const label = { metadata: { labels: { a: 'b' } } };
    expect((await api.call('PATCH', `${widgets}/a`, label, merge)).code).to.equal(200);
    const changed = { spec: { code: 'abd' } };
    expect((await api.call('PATCH', `${widgets}/a`, changed, merge)).code).to.equal(422);
  });

  it('accept any new value of a field named securityContext in an embedded object', async () => {
    const api = await started();
    const template = (securityContext: unknown) => ({
      ...{ apiVersion: 'v1', kind: 'Thing', metadata: { name: 't' } },
      spec: { securityContext },
    });
    const policy = { seLinuxChangePolicy: 'Recursive' };
    const created = await api.create(widgets, widget('a', { template: template(policy) }));
    const spec = { size: 1, template: template('none') };
    const updated = await api.call('PUT', `${widgets}/a`, { ...created, spec });
    expect(updated.body['spec']).to.deep.include(spec);
  });

  it('keep status and spec separate, and increment the generation only with the spec', async () => {
    const api = await started();
    const status = { phase: 'Ready', replicas: 1 };
    const created = await api.create(widgets, widget('a', {}, { status }));
    expect(created).not.to.have.property('status');
    const body = { spec: { size: 5 }, status };
    const { body: shown } = await api.call('PATCH', `${widgets}/a/status`, body, merge);
    expect(shown).to.deep.include({ status });
    expect(shown).to.have.nested.property('spec.size', 1);
    expect(shown.metadata.generation).to.equal(1);
    const { body: later } = await api.call('PATCH', `${widgets}/a`, body, merge);
    expect(later.metadata.generation).to.equal(2);
  });

  it('keep their spec and metadata when their status is applied, and record only the status in managedFields', async () => {
    const api = await started();
    await api.create(widgets, widget('a'));
    const metadata = { name: 'a', labels: { l: 'v' } };
    const applied = widget('a', { size: 3 }, { metadata, status: { phase: 'x' } });
    const path = `${widgets}/a/status?fieldManager=m&force=true`;
    const { body } = await api.call('PATCH', path, applied, apply);
    expect(body).to.deep.include({
      spec: { size: 1, color: 'red', hint: 'none', note: 'none' },
      status: { phase: 'x' },
    });
    expect(body.metadata).to.not.have.property('labels');
    const own = body.metadata.managedFields?.find(({ manager }) => manager === 'm');
    expect(own?.fieldsV1).to.deep.equal({ 'f:status': { 'f:phase': {} } });
  });

  it('refuse an invalid status with its field', async () => {
    const api = await started();
    await api.create(widgets, widget('a'));
    const wrong = { status: { phase: 1 } };
    const answer = await api.call('PATCH', `${widgets}/a/status`, wrong, merge);
    expect(Object.keys(causesOf(answer))).to.deep.equal(['status.phase']);
  });

  it('scale by the paths of the scale subresource in their CRD', async () => {
    const api = await started();
    await api.create(widgets, widget('a', { size: 2 }));
    const status = { status: { replicas: 1, selector: 'app=a' } };
    await api.call('PATCH', `${widgets}/a/status`, status, merge);
    const { body: scale } = await api.get(`${widgets}/a/scale`);
    expect(scale).to.deep.include({
      kind: 'Scale',
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'app=a' },
    });
    await api.call(
      'PATCH',
      `${widgets}/a/scale?fieldManager=hpa`,
      { spec: { replicas: 3 } },
      merge,
    );
    const { body } = await api.get(`${widgets}/a`);
    expect(body).to.have.nested.property('spec.size', 3);
    const entry = body.metadata.managedFields?.find(({ manager }) => manager === 'hpa');
    expect(entry).to.deep.include({ subresource: 'scale', operation: 'Update' });
    expect(entry?.fieldsV1).to.deep.equal({ 'f:spec': { 'f:size': {} } });
  });

  it('merge lists by keys on apply, and do not support strategic merge patch', async () => {
    const api = await started();
    const applied = (manager: string, part: string): Promise<Answer> => {
      const body = widget('a', { parts: [{ name: part }] });
      return api.call('PATCH', `${widgets}/a?fieldManager=${manager}`, body, apply);
    };
    expect((await applied('one', 'p')).code).to.equal(201);
    const { body } = await applied('two', 'q');
    expect(body).to.have.nested.property('spec.parts.length', 2);
    const answer = await api.call('PATCH', `${widgets}/a`, { spec: { size: 2 } }, strategic);
    expect(answer.code).to.equal(415);
  });

  it('are printed with the columns of their CRD', async () => {
    const api = await started();
    await api.create(widgets, widget('a', { size: 4 }));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await api.get(`${widgets}?includeObject=None`, { accept });
    const table = body as unknown as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    expect(table.columnDefinitions.map(({ name }) => name)).to.deep.equal([
      'Name',
      'Size',
      'Since',
    ]);
    expect(table.rows[0]?.cells).to.deep.equal(['a', 4, '0s']);
  });

  it('are selected by the selectable fields of their CRD', async () => {
    const api = await started();
    await api.create(widgets, widget('a'));
    await api.create(widgets, widget('b', { color: 'blue' }));
    const { body } = await api.get(`${widgets}?fieldSelector=spec.color%3Dblue`);
    expect(body.items.map(({ metadata }) => metadata.name)).to.deep.equal(['b']);
    const unknown = await api.get(`${widgets}?fieldSelector=spec.size%3D1`);
    expect(unknown.code).to.equal(400);
  });

  it('have descriptions in OpenAPI v3, which kubectl explain shows', async () => {
    const api = await started();
    const { body } = await api.get('/openapi/v3/apis/example.com/v1');
    interface Described {
      readonly description?: string;
      readonly properties?: Record<string, Described>;
    }
    const { components } = body as unknown as {
      components: { schemas: Record<string, Described> };
    };
    const { apiVersion, kind, metadata } =
      components.schemas['com.example.v1.Widget']?.properties ?? {};
    expect(apiVersion?.description).to.match(/^APIVersion defines the versioned schema/);
    expect(kind?.description).to.match(/^Kind is a string value/);
    expect(metadata?.description).to.match(/^Standard object's metadata/);
  });
});
