import { expect } from 'chai';
import { Api, apply } from '../api.js';
import { installed, widget, widgets } from './widgets.js';

const strict = `${widgets}?fieldValidation=Strict`;

function holding(template: unknown): object {
  return widget('a', { size: 1, template });
}

describe('objects inside custom resources', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  const refused: readonly (readonly [string, object, string])[] = [
    [
      'metadata that is not an object',
      { ...pod, metadata: 'A_B' },
      'spec.template.metadata: Invalid value: "A_B": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    ],
    [
      'an apiVersion that is not a string',
      { ...pod, apiVersion: 5 },
      'spec.template.apiVersion: Invalid value: 5: must be a string',
    ],
    [
      'unknown metadata in strict validation',
      { ...pod, metadata: { unknown: 1 } },
      'strict decoding error: unknown field "spec.template.metadata.unknown"',
    ],
  ];
  for (const [title, template, why] of refused) {
    it(`are refused with ${title}`, async () => {
      const api = new Api();
      await installed(api);
      const { code, body } = await api.call('POST', strict, holding(template));
      expect([code, body.message]).to.deep.equal([
        400,
        `Widget in version "v1" cannot be handled as a Widget: ${why}`,
      ]);
    });
  }

  it('are stored with empty metadata if their metadata is null', async () => {
    const api = new Api();
    await installed(api);
    const created = await api.create(widgets, holding({ ...pod, metadata: null }));
    expect(created).to.have.nested.property('spec.template.metadata').that.deep.equals({});
  });

  it('are checked in an apply for the types of apiVersion, kind and metadata', async () => {
    const api = new Api();
    await installed(api);
    const path = `${widgets}/a?fieldManager=m`;
    const { code, body } = await api.call(
      'PATCH',
      path,
      holding({ ...pod, metadata: 'A_B' }),
      apply,
    );
    expect(code).to.equal(500);
    expect(body.message).to.contain('.spec.template.metadata: expected map, got &{A_B}');
    const unknown = holding({ ...pod, metadata: { unknown: 1 } });
    const { body: refusal } = await api.call('PATCH', path, unknown, apply);
    expect(refusal.message).to.contain('.metadata.unknown: field not declared in schema');
  });
});
